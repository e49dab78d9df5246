"""One reader per product: its export as `OpinionEdge` values."""
