"""What metrics and saved queries use besides the metrics that they are made of: dimensions in filters and groups.

A dimension is named by an entity of the semantic model that has it, `order__status`, after those that lead there:
https://docs.getdbt.com/docs/build/filters. That model is joined by the entity, if it is not the one with the measures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lineage.frozen import frozen
from lineage.model.influence.transformations import Subtype
from lineage_ingest.dbt.artifacts.manifest_nodes import Consumer, ResourceType, SemanticElement

__all__ = ["SemanticUse", "finds_all_uses", "groups_of", "has_all_groups", "times_of", "uses_of"]

_CALL = re.compile(
    r"\b(?P<kind>Dimension|TimeDimension|Entity|Metric)\(\s*['\"](?P<name>[^'\"]+)['\"](?P<arguments>[^)]*)\)"
    r"(?P<more>(?:\s*\.\s*\w+\([^)]*\))*)"
)
_EXPRESSION = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_GRAIN = re.compile(
    r"(?:\A\s*,\s*|time_granularity_name\s*=\s*|\bgrain\(\s*)['\"](\w+)['\"]",
)
_DATE_PART = re.compile(r"(?:date_part_name\s*=\s*|\bdate_part\(\s*)['\"](\w+)['\"]")
_TIME = "metric_time"
_TIMES = ("Dimension", "TimeDimension")
_UNIQUE = ("primary", "unique", "natural")
_GRAINS = ("nanosecond", "microsecond", "millisecond", "second", "minute", "hour", "day", "week", "month", "quarter",
           "year")  # fmt: skip
"""Granularities from fine to coarse."""


@frozen
class SemanticUse:
    """A column of a semantic model or metric that is used: how, and for which own column; empty for the rows."""

    unique_id: str
    column: str
    own: str
    subtype: Subtype

    @property
    def is_value(self) -> bool:
        """Whether its values flow; else it only influences."""
        return self.subtype in (Subtype.IDENTITY, Subtype.TRANSFORMATION)


@frozen
class _Named:
    """A column that a text names: where it is, the name that it has in results, and the entity that leads there."""

    unique_id: str
    column: str
    shown: str
    kind: str
    is_time: bool = False
    entity: str | None = None


def uses_of(consumer: Consumer, consumers: Mapping[str, Consumer]) -> Iterator[SemanticUse]:
    """Yield the dimensions, entities and metrics in the filters of a metric, and in a saved query."""
    yield from dict.fromkeys(_uses_of(consumer, consumers))


def _uses_of(consumer: Consumer, consumers: Mapping[str, Consumer]) -> Iterator[SemanticUse]:
    if consumer.resource_type == ResourceType.METRIC:
        inputs = consumer.type_params.inputs()
        found = list(_named([consumer.filter, *(one.filter for one in inputs)], consumer, consumers))
        yield from (SemanticUse(one.unique_id, one.column, consumer.name, Subtype.FILTER) for one in found)
        yield from _joins(found, consumer, consumers)
        yield from _conversion_joins(consumer, consumers)
    elif consumer.resource_type == ResourceType.SAVED_QUERY:
        query = consumer.query_params
        grouped = _grouped(consumer, consumers)
        for one in grouped:
            subtype = Subtype.TRANSFORMATION if one.is_time else Subtype.IDENTITY  # a time is truncated, always
            yield SemanticUse(one.unique_id, one.column, one.shown, subtype)
        yield from (SemanticUse(one.unique_id, one.column, "", Subtype.GROUP_BY) for one in grouped)
        filters = list(_named([query.where], consumer, consumers))
        yield from (SemanticUse(one.unique_id, one.column, "", Subtype.FILTER) for one in filters)
        if query.limit is not None:
            ordered = _named(query.order_by, consumer, consumers)
            yield from (SemanticUse(one.unique_id, one.column, "", Subtype.SORT) for one in ordered)
        yield from _joins([*grouped, *filters], consumer, consumers)


def groups_of(consumer: Consumer, consumers: Mapping[str, Consumer]) -> tuple[str, ...]:
    """Return the columns by which a saved query groups, in the order of its result: times, entities, dimensions."""
    return tuple(dict.fromkeys(one.shown for one in _grouped(consumer, consumers)))


def has_all_groups(consumer: Consumer, consumers: Mapping[str, Consumer]) -> bool:
    """Return whether all is found by which a saved query groups: then its columns are known."""
    return len(groups_of(consumer, consumers)) == len(set(consumer.query_params.group_by))


def finds_all_uses(consumer: Consumer, consumers: Mapping[str, Consumer]) -> bool:
    """Return whether all is found that filters and groups name: then no other column decides the result."""
    query = consumer.query_params
    filters = [consumer.filter, query.where, *(one.filter for one in consumer.type_params.inputs())]
    named = [found for text in _texts(filters) for found in _EXPRESSION.findall(text)]
    named += [*query.group_by, *(query.order_by if query.limit is not None else ())]
    return all(_is_found(one, consumer, consumers) for one in named)


def _is_found(text: str, consumer: Consumer, consumers: Mapping[str, Consumer]) -> bool:
    """Return whether a text names columns that are found, each by one entity at most: others lead there by more."""
    calls = list(_CALL.finditer(text))
    return bool(calls) and all(
        call["name"].count("__") <= 1 and any(_named([call[0]], consumer, consumers)) for call in calls
    )


def times_of(consumer: Consumer, consumers: Mapping[str, Consumer]) -> Iterator[tuple[str, str]]:
    """Yield the time dimensions by which the measures of a metric are aggregated, each after its semantic model."""
    names = {one.name for one in consumer.type_params.inputs()}
    for key in consumer.depends_on.nodes:
        model = consumers.get(key)
        for measure in model.measures if model is not None else ():
            time = measure.agg_time_dimension or (model.defaults.agg_time_dimension if model is not None else None)
            if measure.name in names and time:
                yield key, time


def _grouped(consumer: Consumer, consumers: Mapping[str, Consumer]) -> list[_Named]:
    found = _named(consumer.query_params.group_by, consumer, consumers)
    return sorted(found, key=lambda one: (not one.is_time, one.kind != "Entity"))


def _named(values: Sequence[Any], consumer: Consumer, consumers: Mapping[str, Consumer]) -> Iterator[_Named]:
    """Yield the columns that texts name."""
    for text in _texts(values):
        for call in _CALL.finditer(text):
            kind, name = call["kind"], call["name"]
            if kind == "Metric":
                metrics = (key for key, one in consumers.items()
                           if one.resource_type == ResourceType.METRIC and one.name == name)  # fmt: skip
                yield from (_Named(key, name, name, kind) for key in metrics)
                continue
            path = name.split("__")
            keys = list(_times(consumer, consumers) if name == _TIME else _columns(path, consumers))
            grain = _grain_of(kind, call, name, keys, consumer, consumers)
            shown = f"{name}__{grain}" if grain else name
            entity = path[-2] if len(path) > 1 else None
            yield from (_Named(key, column, shown, kind, grain is not None, entity) for key, column in keys)


def _grain_of(
    kind: str,
    call: re.Match[str],
    name: str,
    keys: Sequence[tuple[str, str]],
    consumer: Consumer,
    consumers: Mapping[str, Consumer],
) -> str | None:
    """Return what a time is truncated to, as names of results have it; None of what is no time."""
    times = [time for key, column in keys if (time := _time(consumers[key], column)) is not None]
    if kind not in _TIMES or not (times or kind == "TimeDimension"):
        return None
    if (part := _DATE_PART.search(call["arguments"] + call["more"])) is not None:
        return f"extract_{part[1].lower()}"
    if (grain := _GRAIN.search(call["arguments"] + call["more"])) is not None:
        return grain[1].lower()
    own = [one.time_granularity for one in _behind(consumer, consumers) if name == _TIME and one.time_granularity]
    listed = [*own, *(one.type_params.time_granularity or "day" for one in times)]
    return max(listed, key=lambda one: _GRAINS.index(one) if one in _GRAINS else -1, default=None)


def _time(consumer: Consumer, name: str) -> SemanticElement | None:
    return next((one for one in consumer.dimensions if one.name == name and one.type == "time"), None)


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts in a value of a manifest."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, Sequence):
        for part in value:
            yield from _texts(part)


def _columns(path: Sequence[str], consumers: Mapping[str, Consumer]) -> Iterator[tuple[str, str]]:
    """Yield the columns that a name may mean: of the models that its last entity identifies, else of all with it."""
    name, entity = path[-1], path[-2] if len(path) > 1 else path[-1]
    sure, others = [], []
    for key, consumer in consumers.items():
        if name not in {each.name for each in (*consumer.dimensions, *consumer.entities)}:
            continue
        kinds = {each.name: each.type for each in consumer.entities}
        if consumer.primary_entity == entity or kinds.get(entity) in _UNIQUE:
            sure.append((key, name))
        elif entity in kinds:
            others.append((key, name))
    yield from sure or others


def _joins(found: Sequence[_Named], consumer: Consumer, consumers: Mapping[str, Consumer]) -> Iterator[SemanticUse]:
    """Yield the entities by which the models of dimensions are joined to those of the measures."""
    measured = [one for one in _behind(consumer, consumers) if one.measures]
    for dimension in found:
        if dimension.entity is None or not measured or dimension.unique_id in {each.unique_id for each in measured}:
            continue
        for side in (consumers[dimension.unique_id], *measured):
            if dimension.entity in {each.name for each in side.entities}:
                yield SemanticUse(side.unique_id, dimension.entity, "", Subtype.JOIN)


def _conversion_joins(consumer: Consumer, consumers: Mapping[str, Consumer]) -> Iterator[SemanticUse]:
    """Yield the entity by which the two events of a conversion are joined."""
    entity = consumer.type_params.conversion_type_params.entity
    for one in _behind(consumer, consumers) if entity else ():
        if entity in {each.name for each in one.entities}:
            yield SemanticUse(one.unique_id, str(entity), "", Subtype.JOIN)


def _times(consumer: Consumer, consumers: Mapping[str, Consumer]) -> Iterator[tuple[str, str]]:
    """Yield the time dimensions by which the measures behind a consumer are aggregated."""
    for one in _behind(consumer, consumers):
        times = (each.agg_time_dimension or one.defaults.agg_time_dimension for each in one.measures)
        yield from ((one.unique_id, time) for time in dict.fromkeys(times) if time)


def _behind(consumer: Consumer, consumers: Mapping[str, Consumer]) -> Iterator[Consumer]:
    """Yield a consumer and all that it is made of."""
    waiting, seen = [consumer.unique_id], set[str]()
    while waiting:
        key = waiting.pop()
        if key not in seen and key in consumers:
            seen.add(key)
            yield consumers[key]
            waiting += consumers[key].depends_on.nodes
