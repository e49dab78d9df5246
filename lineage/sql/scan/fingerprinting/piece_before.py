"""What the computation of a fingerprint knows of the piece before the current one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from lineage.sql.scan.fingerprinting.contexts import Behind

__all__ = ["ExactPath", "PieceBefore"]


class ExactPath(IntEnum):
    """Whether the next word belongs to a case-sensitive path (`v:key.Key`), or the piece before ended one."""

    NONE = 0
    GOES_ON = 1
    BEFORE = 2


@dataclass(slots=True)
class PieceBefore:
    """The piece before: its kind and role, and what of it is left out if a literal follows that is dropped."""

    kind: int = Behind.NOTHING
    role: str = ""
    is_pure: bool = False
    """It is the name of a pure function."""
    kind_before_type: int = Behind.NOTHING
    """It is the type of a literal (`DATE '…'`): the kind of the piece before the type."""
    lead: int = -1
    """The place in the output of a sign or type that leads a literal and is dropped with it; -1 without one."""
    lead_wordy: bool = False
    """Whether the output before the lead ended with a word."""
    limited: bool = False
    """It is a literal after LIMIT: after a comma, another one follows."""
    dotted: bool = False
    starred: bool = False
    path: ExactPath = ExactPath.NONE
