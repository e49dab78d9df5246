"""Databases in a file: DuckDB and SQLite."""
