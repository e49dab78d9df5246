"""MERGE, UPDATE and DELETE in plans."""
