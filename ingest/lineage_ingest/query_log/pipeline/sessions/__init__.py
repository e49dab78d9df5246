"""Sessions: what a statement's meaning takes from those before it."""
