"""Masks that views pass on: who reads a view sees what the masks of the columns behind it leave of their values.

A policy decides when a column is read, by who asks. A view stores nothing, so a value comes masked through it, and
through views over it. A table or a materialized view holds what its writer saw, and nothing is known of that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from lineage.governance.exposure import Exposure
from lineage.governance.propagation import Spread, ValueStep
from lineage.governance.warehouse.warehouse_policies import Mask

__all__ = ["masks_through_views"]

_Policy = tuple[str, tuple[str, ...] | None, str | None]


def masks_through_views(
    spread: Spread,
    steps: Mapping[str, Sequence[ValueStep]],
    own_masks: Callable[[str], Collection[Mask]],
    is_live: Callable[[ValueStep], bool],
) -> dict[str, tuple[Mask, ...]]:
    """Return, for each reached column, the masks of other columns that every unmasked way of the value passes.

    `own_masks` are those that the warehouse has on a column, with its name; `is_live` says of a step whether its
    target is a view, which computes it anew for whoever asks.
    """
    holders = (spread.start, *spread.reached)
    own = {key: {_policy(one): one for one in own_masks(key)} for key in holders}
    if not any(own.values()):
        return {}
    into: dict[str, list[ValueStep]] = {key: [] for key in spread.reached}
    for key in holders:
        for step in steps.get(key, ()):
            if step.target in into and step.exposure is not Exposure.MASKED:
                into[step.target].append(step)
    passed: dict[str, dict[_Policy, Mask] | None] = dict.fromkeys(into)  # None: not known yet

    def arriving(step: ValueStep) -> dict[_Policy, Mask] | None:
        if not is_live(step):
            return {}
        behind = {} if step.source == spread.start else passed[step.source]
        return None if behind is None else {**behind, **own[step.source]}

    is_changed = True
    while is_changed:
        is_changed = False
        for key, taken in into.items():
            now = _common(one for one in map(arriving, taken) if one is not None)
            if now != passed[key]:
                passed[key], is_changed = now, True
    return {key: tuple(masks.values()) for key, masks in passed.items() if masks}


def _common(ways: Iterable[dict[_Policy, Mask]]) -> dict[_Policy, Mask] | None:
    """Return the masks that all ways have; None if there is no way."""
    found: dict[_Policy, Mask] | None = None
    for way in ways:
        found = way if found is None else {policy: mask for policy, mask in found.items() if policy in way}
    return found


def _policy(mask: Mask) -> _Policy:
    return mask.policy, mask.roles, mask.by_tag
