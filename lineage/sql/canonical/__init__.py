"""Canonical forms of queries: two queries with equal forms return the same rows, whatever their text looks like."""
