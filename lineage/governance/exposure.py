"""What is left of a value at the end of an edge: all of it, a part, a summary of many rows, or nothing to read."""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import StrEnum
from typing import Protocol

from lineage.model.influence.evidence import MAX_READS, Chain, spans_of
from lineage.model.influence.transformations import CONTRIBUTION_ORDER, Subtype
from lineage.model.text.expression_text import calls_around

__all__ = ["CONFIDENCE", "EXPOSURES", "Exposure", "ValueEffects", "exposure_of", "reveals"]


class Exposure(StrEnum):
    """How much of a value a column shows, the most first."""

    UNMASKED = "unmasked"
    PARTIAL = "partial"
    AGGREGATED = "aggregated"
    MASKED = "masked"

    @property
    def rank(self) -> int:
        """Its place in the order; a path shows as little as its step of the highest rank."""
        return EXPOSURES.index(self)


EXPOSURES = tuple(Exposure)

CONFIDENCE = {Exposure.UNMASKED: 1.0, Exposure.PARTIAL: 0.7, Exposure.AGGREGATED: 0.4, Exposure.MASKED: 0.0}
"""By what the confidence of a tag is multiplied where the value arrives like this.

A maximum of e-mail addresses is one (unmasked), a sum of salaries is hardly one (aggregated), a count of e-mail
addresses is none (masked).
"""


_DECRYPTS = re.compile("decrypt|detokeni[sz]e|unmask", re.IGNORECASE)


class ValueEffects(Protocol):
    """Functions by what they leave of a value (`lineage.sql.resolve.calls.functions.ValueFunctions`)."""

    @property
    def partial(self) -> Collection[str]:
        """Their result is a part of the value."""

    @property
    def summaries(self) -> Collection[str]:
        """Aggregates that do not return the value of any row."""

    def masks(self, name: str, dialect: str) -> bool:
        """Return whether a function hides its argument in a dialect."""


class ValueEdge(Protocol):
    """An edge along which a value flows."""

    @property
    def subtypes(self) -> tuple[Subtype, ...]:
        """How it flows."""

    @property
    def masking(self) -> bool:
        """Whether all subtypes are masked."""

    @property
    def partly_masking(self) -> tuple[Subtype, ...]:
        """The subtypes that are masked, if others are not."""

    @property
    def spans(self) -> tuple[Chain, ...]:
        """Where it is read in the job's SQL, and where each intermediate result is."""


def exposure_of(edge: ValueEdge, sql: str | None, functions: ValueEffects, dialect: str | None = None) -> Exposure:
    """Return what an edge leaves of a value: by its masking, else by the calls around each place that reads it.

    If it is read in several ways, the one that shows most counts. Without SQL that says otherwise, all of it is left;
    so it is where it is read so often that not all places are known.
    """
    if edge.masking:
        return Exposure.MASKED
    flowing = {one for one in edge.subtypes if one in CONTRIBUTION_ORDER and one not in edge.partly_masking}
    if Subtype.IDENTITY in flowing or not sql or len(edge.spans) >= MAX_READS:
        return Exposure.UNMASKED
    summed = Subtype.AGGREGATION in flowing
    shown = []
    for chain in edge.spans:
        calls = {name for start, _ in spans_of(chain) for name in calls_around(sql, start)}
        if dialect is None or not any(functions.masks(name, dialect) for name in calls):  # another way shows more
            shown.append(_of_calls(calls, functions, summed))
    return min(shown, key=lambda one: one.rank, default=Exposure.UNMASKED)


def reveals(edge: ValueEdge, sql: str | None) -> bool:
    """Return whether a call around a place that reads the value decrypts it: what was masked before is readable."""
    if edge.masking or not sql or set(edge.subtypes) == {Subtype.IDENTITY} or not _DECRYPTS.search(sql):
        return False
    starts = {start for chain in edge.spans for start, _ in spans_of(chain)}
    return any(_DECRYPTS.search(name) for start in starts for name in calls_around(sql, start))


def _of_calls(names: Collection[str], functions: ValueEffects, summed: bool) -> Exposure:
    calls = {*names, *(name.rpartition(".")[2] for name in names)}
    if summed and not calls.isdisjoint(functions.summaries):
        return Exposure.AGGREGATED
    return Exposure.UNMASKED if calls.isdisjoint(functions.partial) else Exposure.PARTIAL
