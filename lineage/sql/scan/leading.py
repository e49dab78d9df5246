"""Blanks and comments before a statement, as a part of a regular expression."""

from __future__ import annotations

__all__ = ["LEADING"]

LEADING = r"(?:\s++|--[^\n]*+|#[^\n]*+|/\*(?s:.*?)\*/)*+"
"""Possessive, so it never backtracks: matching takes linear time, however many comments a text has."""
