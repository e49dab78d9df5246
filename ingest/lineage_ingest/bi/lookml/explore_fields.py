"""The fields that an explore shows: its parameter `fields`, those of its joins, and sets of fields.

https://cloud.google.com/looker/docs/reference/param-explore-fields
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lineage_ingest.bi.json_objects import objects_in

__all__ = ["ExploreFields"]

_MAX_DEPTH = 20
_ALL = "ALL_FIELDS"


class ExploreFields:
    """Chooses among the fields of an explore. `unknown` has the names in its lists that mean nothing."""

    def __init__(self, fields: Mapping[str, Iterable[str]], views: Mapping[str, Mapping[str, Any]]) -> None:
        """`fields` are the names of fields by view, `views` the definitions of these views, with their sets."""
        self._fields = {view: tuple(names) for view, names in fields.items()}
        self._sets = {
            view: {str(one.get("name")): _names(one.get("fields")) for one in objects_in(definition.get("sets"))}
            for view, definition in views.items()
        }
        self.unknown: list[str] = []

    def shown(self, explore: Mapping[str, Any], base: str, joins: Iterable[Mapping[str, Any]]) -> list[str]:
        """Return the fields that are shown, as `view.field`, in the order of the views."""
        left = [f"{view}.{name}" for view, names in self._fields.items() for name in names]
        for join in joins:
            alias = str(join.get("name"))
            if isinstance(join.get("fields"), list):
                chosen = self._chosen(_names(join["fields"]), alias, [one for one in left if _view(one) == alias])
                left = [one for one in left if _view(one) != alias or one in chosen]
        if isinstance(explore.get("fields"), list):
            chosen = self._chosen(_names(explore["fields"]), base, left)
            left = [one for one in left if one in chosen]
        return left

    def _chosen(self, listed: list[str], view: str, every: list[str], depth: int = 0) -> set[str]:
        """Return the fields that a list means; those behind a minus are left out, in whichever order."""
        fields: set[str] = set()
        without: set[str] = set()
        for item in listed:
            target = without if item.startswith("-") else fields
            target |= self._meant(item.lstrip("-"), view, every, depth)
        if listed and all(item.startswith("-") for item in listed):
            fields = set(every)
        return fields - without

    def _meant(self, name: str, view: str, every: list[str], depth: int) -> set[str]:
        owner, dot, own = name.rpartition(".")
        owner = owner if dot else view
        if not name.endswith("*"):
            if own in self._fields.get(owner, ()):
                return {f"{owner}.{own}"}
        elif own == f"{_ALL}*":
            return {one for one in every if not dot or _view(one) == owner}
        elif own[:-1] in self._sets.get(owner, {}) and depth < _MAX_DEPTH:
            of_view = [f"{owner}.{one}" for one in self._fields.get(owner, ())]
            return self._chosen(self._sets[owner][own[:-1]], owner, of_view, depth + 1)
        self.unknown.append(name)
        return set()


def _names(value: Any) -> list[str]:
    return [str(one).strip() for one in value] if isinstance(value, list) else []


def _view(field: str) -> str:
    return field.partition(".")[0]
