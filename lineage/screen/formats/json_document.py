"""JSON: the answer's own values, else a list with an object for each row."""

from __future__ import annotations

from lineage.screen.formats.answer_listing import Listing
from lineage.screen.json_text import json_text

__all__ = ["write"]


def write(listing: Listing) -> None:
    """Print an answer as indented JSON."""
    if listing.values is not None:
        print(json_text(listing.values()))
    else:
        print(json_text([dict(zip(listing.columns, row, strict=True)) for row in listing.rows]))
