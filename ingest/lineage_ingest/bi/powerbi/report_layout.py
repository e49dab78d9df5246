"""The report of a .pbix file: its pages and visuals, with the fields that each visual shows and filters by."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from lineage_ingest.bi.files import UnreadableExportError
from lineage_ingest.bi.json_objects import objects_in

__all__ = ["ReportVisual", "add_formatting", "add_slicers", "field_of", "fields_in", "is_filtering", "level_name",
           "read_layout"]  # fmt: skip

_FUNCTIONS = {0: "SUM({})", 1: "AVG({})", 2: "COUNT(DISTINCT {})", 3: "MIN({})", 4: "MAX({})", 5: "COUNT({})",
              6: "MEDIAN({})", 7: "STDDEV({})", 8: "VARIANCE({})"}  # fmt: skip
"""Codes of QueryAggregateFunction."""
_FORMAT = "format_of({})"
"""The pattern of a field that a visual shows by its format only."""
_DRILLTHROUGH = (5, "Drillthrough")
_NO_FILTER = 3
"""Code of the interaction of two visuals that leaves the second one as it is."""


@dataclass(slots=True)
class ReportVisual:
    """A visual: its page, name and type; what it selects (label, table, field, pattern of SQL), what it filters by."""

    page: str
    name: str
    kind: str
    selects: list[tuple[str, str, str, str]] = field(default_factory=list)
    filters: list[tuple[str, str]] = field(default_factory=list)
    sliced: list[tuple[str, str]] = field(default_factory=list)
    """Fields of the slicers on its page: they filter it if the model relates their tables to its own."""
    unread: int = 0
    """Number of parts of an unknown form."""


def read_layout(content: bytes) -> list[ReportVisual]:
    """Return the visuals that show fields.

    Raises:
        UnreadableExportError: the layout is not of the known form.
    """
    try:
        layout = json.loads(content.decode("utf-16-le").lstrip("\ufeff"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise UnreadableExportError(f"the report's layout is not valid ({type(error).__name__})") from None
    visuals: list[ReportVisual] = []
    layout = layout if isinstance(layout, Mapping) else {}
    for section in objects_in(layout.get("sections")):
        of_page: list[ReportVisual] = []
        page = str(section.get("displayName") or section.get("name") or "page")
        shared = [one for level in (section, layout) for one in _filters(level.get("filters"), can_be_set=True)]
        for container in objects_in(section.get("visualContainers")):
            config = _parsed(container.get("config"))
            if config is None:
                of_page.append(ReportVisual(page, str(len(visuals) + len(of_page)), "visual", unread=1))
                continue
            single = config.get("singleVisual") if isinstance(config, Mapping) else None
            if not isinstance(single, Mapping):
                continue  # a group
            name = str(config.get("name") or len(visuals) + len(of_page))
            visual = ReportVisual(page, name, str(single.get("visualType") or "visual"))
            query = single.get("prototypeQuery")
            if isinstance(query, Mapping):
                _read_query(query, visual)
            add_formatting(visual, single.get("objects"), single.get("vcObjects"))
            if not (isinstance(query, Mapping) or visual.selects):
                continue  # a text, an image
            visual.filters += [*_filters(container.get("filters")), *shared]
            visual.unread += sum(_parsed(one.get("filters")) is None for one in (container, section, layout))
            of_page.append(visual)
        settings = _parsed(section.get("config"))
        interactions = settings.get("relationships") if isinstance(settings, Mapping) else None
        add_slicers(of_page, {pair for pair, kind in _interactions(interactions) if kind == _NO_FILTER})
        visuals += of_page
    return visuals


def add_slicers(visuals: Iterable[ReportVisual], apart: Collection[tuple[str, str]]) -> None:
    """Add the fields of a page's slicers to what its other visuals filter by, apart from pairs of their names."""
    listed = list(visuals)
    slicers = [one for one in listed if "slicer" in one.kind.lower()]
    for slicer in slicers:
        chosen = dict.fromkeys((table, name) for _, table, name, pattern in slicer.selects if pattern != _FORMAT)
        for one in listed:
            if one is not slicer and (slicer.name, one.name) not in apart:
                one.sliced += [field for field in chosen if field not in one.sliced]


def is_filtering(one: Mapping[str, Any], *, can_be_set: bool) -> bool:
    """Return whether a filter has a value, or readers of the report give it one: where they drill through, or any.

    `can_be_set` says that it is one of a page or of the report, which nobody but its author puts there.
    """
    if one.get("filter") is not None or one.get("howCreated") in _DRILLTHROUGH:
        return True
    return can_be_set and not (one.get("isHiddenInViewMode") or one.get("isLockedInViewMode"))


def _interactions(value: Any) -> Iterator[tuple[tuple[str, str], Any]]:
    for one in objects_in(value):
        yield (str(one.get("source")), str(one.get("target"))), one.get("type")


def add_formatting(visual: ReportVisual, *groups: Any) -> None:
    """Add the fields that a visual shows by its format: colours by a rule, a title, a text of a measure's value."""
    shown = {(table, name) for _, table, name, _ in visual.selects}
    for group in groups:
        for items in group.values() if isinstance(group, Mapping) else ():
            for one in objects_in(items):
                properties = one.get("properties")
                for key, value in properties.items() if isinstance(properties, Mapping) else ():
                    for table, name, _ in fields_in(value, {}):
                        if key == "filter":  # what a slicer has chosen
                            visual.filters.append((table, name))
                        elif (table, name) not in shown:
                            shown.add((table, name))
                            visual.selects.append((f"{table}.{name} (format)", table, name, _FORMAT))


def _read_query(query: Mapping[str, Any], visual: ReportVisual) -> None:
    aliases = {str(one.get("Name")): str(one.get("Entity")) for one in objects_in(query.get("From"))}
    for one in objects_in(query.get("Select")):
        read = field_of(one, aliases)
        if read is None:
            visual.unread += 1
            continue
        table, name, pattern = read
        visual.selects.append((str(one.get("Name") or f"{table}.{name}"), table, name, pattern))
    shown = {(table, name) for _, table, name, _ in visual.selects}
    visual.filters += [(table, name) for table, name, _ in fields_in(query.get("Where"), aliases)]
    ordered = ((table, name) for table, name, _ in fields_in(query.get("OrderBy"), aliases))
    visual.filters += [field for field in ordered if field not in shown]


def field_of(part: Mapping[str, Any], aliases: Mapping[str, str]) -> tuple[str, str, str] | None:
    """Return the table and name of an expression's field, and the pattern of SQL around it."""
    for key in ("Column", "Measure"):
        inner = part.get(key)
        if isinstance(inner, Mapping):
            expression = inner.get("Expression")
            source = expression.get("SourceRef") if isinstance(expression, Mapping) else None
            if isinstance(source, Mapping):
                table = source.get("Entity") or aliases.get(str(source.get("Source")))
                return (str(table), str(inner.get("Property")), "{}") if table else None
            return None
    aggregation = part.get("Aggregation")
    if isinstance(aggregation, Mapping) and isinstance(aggregation.get("Expression"), Mapping):
        read = field_of(aggregation["Expression"], aliases)
        function = aggregation.get("Function")
        pattern = _FUNCTIONS.get(function) if isinstance(function, int) else None
        return (read[0], read[1], pattern) if read is not None and pattern is not None else None
    level = part.get("HierarchyLevel")
    return _level_of(level, aliases) if isinstance(level, Mapping) else None


def level_name(hierarchy: str, level: str) -> str:
    """Return the name by which a level of a hierarchy is known, in place of a column's."""
    return f"{hierarchy}[{level}]"


def _level_of(level: Mapping[str, Any], aliases: Mapping[str, str]) -> tuple[str, str, str] | None:
    """Return the field of a level: the date that a hierarchy of dates varies, or the level of the model's hierarchy."""
    expression = level.get("Expression")
    hierarchy = expression.get("Hierarchy") if isinstance(expression, Mapping) else None
    inner = hierarchy.get("Expression") if isinstance(hierarchy, Mapping) else None
    if not isinstance(hierarchy, Mapping) or not isinstance(inner, Mapping):
        return None
    varied = inner.get("PropertyVariationSource")
    if isinstance(varied, Mapping):
        read = field_of({"Column": varied}, aliases)
        return (read[0], read[1], "level({})") if read is not None else None
    name = level_name(str(hierarchy.get("Hierarchy")), str(level.get("Level")))
    return field_of({"Column": {"Expression": inner, "Property": name}}, aliases)


def fields_in(value: Any, aliases: Mapping[str, str], depth: int = 0) -> Iterator[tuple[str, str, str]]:
    """Yield the fields that are anywhere in an expression, as `field_of` returns them."""
    if depth > 40:
        return
    if isinstance(value, Mapping):
        if isinstance(value.get("From"), list):  # a query of its own: the first five by a measure
            own = {str(one.get("Name")): str(one.get("Entity")) for one in objects_in(value["From"]) if "Entity" in one}
            aliases = {**aliases, **own}
        if {"Column", "Measure", "HierarchyLevel"} & set(value):
            read = field_of(value, aliases)
            if read is not None:
                yield read
                return
        for part in value.values():
            yield from fields_in(part, aliases, depth + 1)
    elif isinstance(value, list):
        for part in value:
            yield from fields_in(part, aliases, depth + 1)


def _filters(value: Any, *, can_be_set: bool = False) -> Iterator[tuple[str, str]]:
    """Yield the fields of the filters that are set, or can be."""
    for one in objects_in(_parsed(value)):
        if is_filtering(one, can_be_set=can_be_set):
            for part in (one.get("expression"), one.get("filter")):
                yield from ((table, name) for table, name, _ in fields_in(part, {}))


def _parsed(value: Any) -> Any:
    """Return a value that is text of JSON in some versions; None for text that is not valid, nothing for no value."""
    if isinstance(value, str):
        try:
            return json.loads(value)
        except (json.JSONDecodeError, RecursionError):
            return None
    return {} if value is None else value
