"""Semantic models, metrics and saved queries."""
