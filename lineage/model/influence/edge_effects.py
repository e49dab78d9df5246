"""The effects of one edge: its subtypes, and which of them mask the value.

An edge states several subtypes of one pair, as `md5(a) || count(a)` or an event's list of transformations does, and
each is masked or not. `masking` says that all are masked; if only some are, `partly_masking` lists these. So most edges
need one flag, and an edge of an older store, which has no list, reads as it was written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

from lineage.model.influence.transformations import StepEffect, Subtype

__all__ = ["EdgeEffects", "HasEffects", "effects_of", "masked_subtypes_of", "merge_effects"]

_ORDER = {subtype: index for index, subtype in enumerate(Subtype)}


class HasEffects(Protocol):
    """An edge of a batch or of a store, or a step of a path."""

    @property
    def subtypes(self) -> tuple[Subtype, ...]:
        """The subtypes that the edge states."""

    @property
    def masking(self) -> bool:
        """Whether all of them are masked."""

    @property
    def partly_masking(self) -> tuple[Subtype, ...]:
        """Those that are masked, if others are not."""


class EdgeEffects(NamedTuple):
    """The effects of an edge, as its fields hold them."""

    subtypes: tuple[Subtype, ...]
    masking: bool
    partly_masking: tuple[Subtype, ...]


def masked_subtypes_of(edge: HasEffects) -> tuple[Subtype, ...]:
    """Return the subtypes of an edge that are masked."""
    return edge.subtypes if edge.masking else edge.partly_masking


def effects_of(edge: HasEffects) -> Iterator[StepEffect]:
    """Yield the effects of an edge, one per subtype."""
    masked = masked_subtypes_of(edge)
    return (StepEffect(subtype, subtype in masked) for subtype in edge.subtypes)


def merge_effects(effects: Iterable[StepEffect]) -> EdgeEffects:
    """Return the effects of one edge for all of these: a subtype is masked only if each effect with it masks.

    >>> merge_effects([StepEffect(Subtype.AGGREGATION, masking=True), StepEffect(Subtype.IDENTITY)]).partly_masking
    (<Subtype.AGGREGATION: 'AGGREGATION'>,)
    >>> merge_effects([StepEffect(Subtype.JOIN, masking=True), StepEffect(Subtype.JOIN)])
    EdgeEffects(subtypes=(<Subtype.JOIN: 'JOIN'>,), masking=False, partly_masking=())
    """
    masked: dict[Subtype, bool] = {}
    for effect in effects:
        masked[effect.subtype] = masked.get(effect.subtype, True) and effect.masking
    subtypes = tuple(masked) if len(masked) == 1 else tuple(sorted(masked, key=_ORDER.__getitem__))
    masking = bool(masked) and all(masked.values())
    partly = () if masking else tuple(subtype for subtype in subtypes if masked[subtype])
    return EdgeEffects(subtypes, masking, partly)
