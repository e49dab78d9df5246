"""Tiles of LookML dashboards: a query over an explore each. https://cloud.google.com/looker/docs/reference/param-lookml-dashboard"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from lineage.model.diagnostics import Diagnostic, Severity
from lineage_ingest.bi.connections import BiConnection
from lineage_ingest.bi.exported import Board, QueryAsset, QueryProblems, not_read, slug
from lineage_ingest.bi.lookml.tile_fields import DynamicFields, fields_named
from lineage_ingest.bi.templates.written_sql import LITERAL, asset_reference, quote

__all__ = ["Dashboards", "explore_column"]

_MAX_EXTENSIONS = 30


def explore_column(field: str) -> str:
    """Return the column of an explore for a field `view.field`: without a dot, which BigQuery reads as a path.

    >>> explore_column("orders.count")
    'orders:count'
    """
    return field.replace(".", ":")


_WITHOUT_QUERY = frozenset(("text", "button", "extension"))
"""Types of elements that show no data of an explore."""


class Dashboards:
    """Reads the dashboards of a project. `connection_of` returns an explore's connection, by explore and file."""

    def __init__(
        self,
        dashboards: Iterable[tuple[str, Mapping[str, Any]]],
        connection_of: Callable[[str, str], BiConnection],
        is_value: Callable[[str, str], bool] = lambda _explore, _field: False,
        current_name: Callable[[str, str], str] = lambda _explore, field: field,
    ) -> None:
        """`is_value` returns whether an explore's field is a filter or parameter that only templates read: no column.

        `current_name` returns the name of an explore's field, which a tile may name by a former name.
        """
        self._current_name = current_name
        self._is_value = is_value
        self._dashboards = {str(one["dashboard"]): (at, one) for at, one in dashboards}
        self._connection_of = connection_of

    def read(self) -> Iterator[tuple[list[QueryAsset], Board]]:
        """Yield each dashboard with its tiles; one that is only to be extended is none."""
        for name, (at, one) in self._dashboards.items():
            if one.get("extension") != "required":
                yield self._dashboard(name, at, one)

    def _dashboard(self, name: str, at: str, dashboard: Mapping[str, Any]) -> tuple[list[QueryAsset], Board]:
        problems: list[Diagnostic] = []
        tiles: list[QueryAsset] = []
        for number, element in enumerate(self._elements(dashboard, problems, 0)):
            title = str(element.get("title") or element.get("name") or number)
            merged = element.get("merged_queries")
            if isinstance(merged, list):
                message = (
                    "the tile merges the results of several queries: the fields by which it joins them are not read"
                )
                doubt = [not_read(message, severity=Severity.WARNING)]
                for part, query in enumerate(query for query in merged if isinstance(query, Mapping)):
                    key = f"tile/{slug(name)}/{number + 1}-{slug(title)}-{part + 1}"
                    tiles.append(self._tile(key, f"{title} ({part + 1})", at, query, doubt))
            elif element.get("explore"):
                tiles.append(self._tile(f"tile/{slug(name)}/{number + 1}-{slug(title)}", title, at, element, []))
            elif str(element.get("type") or "text") not in _WITHOUT_QUERY:
                problems.append(not_read(f"the tile {title!r} has no explore: what it shows is not in the project"))
        board = Board(
            f"dashboard/{slug(name)}",
            str(dashboard.get("title") or name),
            at,
            tuple(tile.key for tile in tiles),
            tuple(problems),
            str(dashboard["description"]) if dashboard.get("description") else None,
            operation="LOOKML_DASHBOARD",
        )
        return tiles, board

    def _elements(self, one: Mapping[str, Any], problems: list[Diagnostic], depth: int) -> list[Mapping[str, Any]]:
        """Return the elements of a dashboard, over those of the dashboards that it extends, by name."""
        elements: dict[str, Mapping[str, Any]] = {}
        extended = one.get("extends") or []
        for name in [extended] if isinstance(extended, str) else extended:
            base = self._dashboards.get(str(name))
            if base is None or depth > _MAX_EXTENSIONS:
                problems.append(not_read(f"it extends {name}, which is not in the project"))
                continue
            for number, element in enumerate(self._elements(base[1], problems, depth + 1)):
                elements[str(element.get("name") or f"{name} {number}")] = element
        for number, element in enumerate(one.get("elements") or ()):
            if not isinstance(element, Mapping):
                problems.append(not_read("an element of the dashboard is not of a known form"))
                continue
            own = str(element.get("name") or f" {number}")
            elements[own] = {**elements.get(own, {}), **element}
        return list(elements.values())

    def _tile(self, key: str, title: str, at: str, element: Mapping[str, Any], doubts: list[Diagnostic]) -> QueryAsset:
        explore, fields = str(element.get("explore")), list(_fields(element))
        connection = self._connection_of(explore, at)
        dialect = connection.dialect
        problems = QueryProblems(list(doubts))

        def column(field: str) -> str:
            return f"e.{quote(explore_column(self._current_name(explore, field)), dialect)}"

        made = DynamicFields(element, column, problems)
        listed = [one for one in fields if one not in made.definitions]
        outputs = [f"{column(one)} AS {quote(explore_column(one), dialect)}" for one in listed]
        outputs += [f"{made.sql(one)} AS {quote(one, dialect)}" for one in made.definitions]
        needed = f"explore/{slug(explore)}"
        sql = None
        if outputs:
            sql = "SELECT " + ", ".join(outputs)
            sql += f"\nFROM {asset_reference(needed, dialect)} AS e"
            named = (*_filtered(element.get("filters")), *_listened(element.get("listen")))
            filtered = dict.fromkeys((*named, *fields_named(element.get("filter_expression"))))
            conditions = [
                f"{made.sql(one) if one in made.definitions else column(one)} = {LITERAL}"
                for one in filtered
                if not self._is_value(explore, one)
            ]
            ordered = (made.sql(one) if one in made.definitions else column(one) for one in _decide_by_order(element))
            conditions += [f"order_of({one}) IS NOT NULL" for one in ordered]
            sql += "\nWHERE " + " AND ".join(conditions) if conditions else ""
        else:
            problems.add_not_read("the tile lists no fields")
        return QueryAsset(
            key, title, at, connection, sql, needs=(needed,), problems=tuple(problems.found), operation="LOOKML_TILE"
        )


def _fields(element: Mapping[str, Any]) -> Iterator[str]:
    """Yield the fields of a tile: in one list, or in older dashboards in one of dimensions and one of measures."""
    keys = next(((key,) for key in ("fields", "columns") if element.get(key)), ("dimensions", "measures"))
    listed = [str(one) for key in (*keys, "pivots") for one in element.get(key) or ()]
    yield from dict.fromkeys(listed)


def _decide_by_order(element: Mapping[str, Any]) -> Iterator[str]:
    """Yield the fields by whose order a tile with a limit chooses its rows: `sorts: [orders.total desc]`."""
    sorts = element.get("sorts") if element.get("limit") else None
    for one in sorts if isinstance(sorts, list) else [sorts] if sorts else []:
        yield str(one).split()[0]


def _filtered(filters: Any) -> Iterator[str]:
    """Yield the fields of a tile's filters, in both forms of the parameter."""
    for group in filters if isinstance(filters, list) else [filters]:
        if isinstance(group, Mapping):
            yield from map(str, group)


def _listened(listen: Any) -> Iterator[str]:
    """Yield the fields by which the dashboard's filters filter the tile."""
    for group in listen if isinstance(listen, list) else [listen]:
        if isinstance(group, Mapping):
            for fields in group.values():
                yield from (one.strip() for one in str(fields).split(","))
