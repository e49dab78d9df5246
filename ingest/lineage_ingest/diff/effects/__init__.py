"""Whom a change reaches."""
