"""What may stand before a statement: blanks and comments, as a part of a regular expression."""

from __future__ import annotations

__all__ = ["LEADING"]

LEADING = r"(?:\s++|--[^\n]*+|#[^\n]*+|/\*(?s:.*?)\*/)*+"
"""Possessive: a match never goes back into it, so a text takes time by its length, however many comments it has."""
