"""Resolve the statements of a script in order: definitions, temporary tables, renames, sessions, transactions."""
