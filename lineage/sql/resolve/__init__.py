"""Resolve syntax trees into column lineage: names to columns, expressions to sources, statements to edges."""
