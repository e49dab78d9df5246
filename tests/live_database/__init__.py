"""Lineage of live databases: real servers and files."""
