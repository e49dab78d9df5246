"""Procedures and functions in a log: what their creation says, and what their runs do."""
