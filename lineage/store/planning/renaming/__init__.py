"""Renames of tables and columns."""
