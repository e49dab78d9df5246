"""A table that is renamed to make room for another one, and then dropped, was replaced under its earlier name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeVar

__all__ = ["replaced_names"]

T = TypeVar("T")


def replaced_names(
    last: Mapping[tuple[str, str], str],
    places: Mapping[tuple[str, str], Collection[str]],
    left: Mapping[tuple[str, str], Mapping[str, T]],
) -> dict[tuple[str, str], tuple[str, T]]:
    """Return the dropped tables that once had the name of an existing one, with that name, and when they lost it.

    All are given by namespace and table: `last` has their last names, `places` those that they have in the end, and
    `left` those that they have lost, in order of time. `RENAME t TO t_old; RENAME t_new TO t; DROP t_old` replaces
    `t`, as a DROP before the RENAMEs does.

    >>> replaced_names({("", "1"): "t_old", ("", "2"): "t"}, {("", "2"): ["t"]}, {("", "1"): {"t": 2, "t_old": 4}})
    {('', '1'): ('t', 2)}
    """
    held = {(namespace, name) for (namespace, _), names in places.items() for name in names}
    found: dict[tuple[str, str], tuple[str, T]] = {}
    for table, name in last.items():
        namespace = table[0]
        if not places.get(table) and (namespace, name) not in held:
            lost = left.get(table, {})
            own = next((one for one in reversed(tuple(lost)) if (namespace, one) in held), None)
            if own is not None:
                found[table] = own, lost[own]
    return found
