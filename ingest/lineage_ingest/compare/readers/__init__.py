"""One reader per product: its export as `StatedEdge` values."""
