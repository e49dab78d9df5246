"""Text that the parser does not take as it stands."""
