"""Facets of datasets and jobs."""
