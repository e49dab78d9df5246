"""Versions of the tables of a log: created, renamed, replaced, dropped."""
