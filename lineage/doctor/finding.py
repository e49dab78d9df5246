"""What an examination finds."""

from __future__ import annotations

from enum import StrEnum

from lineage.frozen import frozen

__all__ = ["Finding", "Health"]


class Health(StrEnum):
    """How bad it is. Findings are listed in this order."""

    PROBLEM = "problem"
    """Answers are missing or wrong until it is mended."""
    WARNING = "warning"
    """Answers are right, but know less than they could; or it will become a problem."""
    OK = "ok"


@frozen
class Finding:
    """One thing that was looked at: what it is, how it stands, and what to do if it is not well."""

    level: Health
    subject: str
    message: str
    hint: str | None = None
