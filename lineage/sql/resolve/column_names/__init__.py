"""The names that engines give to columns without an alias, where these are the text of their expressions."""
