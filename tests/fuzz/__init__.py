"""Mutated input of every kind, against the product's own readers: `make fuzz`."""
