"""What a name means inside a query."""
