"""What changed in the definition of a table."""
