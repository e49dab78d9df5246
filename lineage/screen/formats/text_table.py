"""A table for people. In a file or pipe it has names in full, so that they can be searched for."""

from __future__ import annotations

from lineage.screen.formats.answer_listing import Listing
from lineage.screen.layout import lay_out
from lineage.screen.listing import console, is_file, note

__all__ = ["write"]


def write(listing: Listing) -> None:
    """Print an answer as people read it: its own words, else its rows as a table; nothing without rows."""
    if listing.people is not None:
        listing.people()
        return
    rows = list(listing.rows)
    if not rows and listing.empty:
        note(listing.empty, "yellow")
    out = console()
    for line in lay_out(listing.columns, rows, listing.look, out.width, full_names=is_file()) if rows else ():
        out.print(line)
