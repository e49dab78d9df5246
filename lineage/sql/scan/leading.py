"""Blanks and comments before a statement, as a part of a regular expression."""

from __future__ import annotations

__all__ = ["LEADING"]

LEADING = r"(?:\s|--[^\n]*(?:\n|\Z)|#[^\n]*(?:\n|\Z)|/\*(?:[^*]|\*(?!/))*\*/)*"
"""Each text is matched in one way only, so that matching takes linear time, however many comments there are.

Nothing in it is possessive: in Python before 3.11.5, `re` goes wrong where an alternative in such a group fails.
"""
