"""Paths between columns."""
