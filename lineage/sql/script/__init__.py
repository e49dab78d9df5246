"""Several statements as one: definitions, temporary tables, renames, sessions and transactions in their order."""
