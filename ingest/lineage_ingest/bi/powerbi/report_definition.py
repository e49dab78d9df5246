"""The report of a .pbix file in the enhanced format (PBIR): a file for each page and visual.

https://learn.microsoft.com/en-us/power-bi/developer/projects/projects-report#pbir-format
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from lineage_ingest.bi.json_objects import objects_in
from lineage_ingest.bi.powerbi.report_layout import (
    ReportVisual,
    add_formatting,
    add_slicers,
    field_of,
    fields_in,
    is_filtering,
)

__all__ = ["DEFINITION", "read_definition"]

DEFINITION = "Report/definition/"
_MAX_DEPTH = 10
_NO_FILTER = "NoFilter"
"""The interaction of two visuals that leaves the second one as it is."""


def read_definition(parts: Mapping[str, bytes]) -> tuple[list[ReportVisual], list[str]]:
    """Return the visuals that show fields, and the files that are not valid; `parts` are the files by name."""
    read: dict[str, Mapping[str, Any]] = {}
    unread: list[str] = []
    for name, content in sorted(parts.items()):
        try:
            value = json.loads(content.decode("utf-8-sig"))
        except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
            unread.append(name)
            continue
        if isinstance(value, Mapping):
            read[name] = value
    of_report = list(_filters(read.get(f"{DEFINITION}report.json"), can_be_set=True))
    visuals: dict[str, list[ReportVisual]] = defaultdict(list)
    for name, value in read.items():
        folder, mark, _ = name.partition("/visuals/")
        if not mark or not name.endswith("/visual.json"):
            continue
        page = read.get(f"{folder}/page.json", {})
        visual = _visual(value, str(page.get("displayName") or page.get("name") or "page"), name)
        if visual is not None:
            visual.filters += [*_filters(value), *_filters(page, can_be_set=True), *of_report]
            visuals[folder].append(visual)
    for folder, of_page in visuals.items():
        interactions = objects_in(read.get(f"{folder}/page.json", {}).get("visualInteractions"))
        apart = [one for one in interactions if one.get("type") == _NO_FILTER]
        add_slicers(of_page, {(str(one.get("source")), str(one.get("target"))) for one in apart})
    return [one for of_page in visuals.values() for one in of_page], unread


def _visual(value: Mapping[str, Any], page: str, name: str) -> ReportVisual | None:
    inner = value.get("visual")
    if not isinstance(inner, Mapping):
        return None  # a group
    query = inner.get("query")
    is_query = isinstance(query, Mapping)
    query = query if isinstance(query, Mapping) else {}
    own = str(value.get("name") or name.split("/")[-2])
    visual = ReportVisual(page, own, str(inner.get("visualType") or "visual"))
    for projection in _projections(query.get("queryState")):
        field = projection.get("field")
        read = field_of(field, {}) if isinstance(field, Mapping) else None
        if read is None:
            visual.unread += 1
            continue
        table, column, pattern = read
        select = (str(projection.get("queryRef") or f"{table}.{column}"), table, column, pattern)
        if select not in visual.selects:
            visual.selects.append(select)
    add_formatting(visual, inner.get("objects"), inner.get("visualContainerObjects"))
    if not (is_query or visual.selects):
        return None  # a text, an image
    sorting = query.get("sortDefinition")
    shown = {(table, column) for _, table, column, _ in visual.selects}
    visual.filters += [one for table, column, _ in fields_in(sorting, {}) if (one := (table, column)) not in shown]
    return visual


def _projections(state: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """Yield the projections of all roles (Category, Y, Values, …)."""
    if not isinstance(state, Mapping) or depth > _MAX_DEPTH:
        return
    for key, value in state.items():
        if key == "projections":
            yield from objects_in(value)
        else:
            yield from _projections(value, depth + 1)


def _filters(value: Any, *, can_be_set: bool = False) -> Iterator[tuple[str, str]]:
    """Yield the fields of the filters that are set, or can be, in a visual, a page or the report."""
    config = value.get("filterConfig") if isinstance(value, Mapping) else None
    for one in objects_in(config.get("filters")) if isinstance(config, Mapping) else ():
        if is_filtering(one, can_be_set=can_be_set):
            for part in (one.get("field"), one.get("filter")):
                yield from ((table, name) for table, name, _ in fields_in(part, {}))
