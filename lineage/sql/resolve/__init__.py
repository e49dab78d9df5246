"""Syntax trees into column lineage: names to columns, expressions to their sources, statements to edges."""
