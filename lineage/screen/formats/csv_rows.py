"""CSV: a header, and a line for each row.

CSV is data for programs: only control characters are escaped, not even what a spreadsheet would run as a formula.
"""

from __future__ import annotations

import csv
import sys

from lineage.model.text.visible_text import visible
from lineage.screen.formats.answer_listing import Listing
from lineage.screen.layout import cell_text

__all__ = ["write"]


def write(listing: Listing) -> None:
    """Print the rows of an answer as CSV; without rows, the header alone."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(listing.columns)
    writer.writerows([visible(cell_text(value)) for value in row] for row in listing.rows)
