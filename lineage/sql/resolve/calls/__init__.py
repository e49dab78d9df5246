"""Functions and procedures."""
