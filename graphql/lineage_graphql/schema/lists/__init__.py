"""Lists and look-ups."""
