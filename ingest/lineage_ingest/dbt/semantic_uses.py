"""What metrics and saved queries use besides the metrics that they are made of: dimensions in filters and groups.

A dimension is named by an entity of the semantic model that has it, `order__status`, after those that lead there:
https://docs.getdbt.com/docs/build/filters
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lineage.frozen import frozen
from lineage.model.transformations import Subtype
from lineage_ingest.dbt.manifest_nodes import Consumer, ResourceType

__all__ = ["SemanticUse", "uses_of"]

_CALL = re.compile(r"\b(Dimension|TimeDimension|Entity|Metric)\(\s*['\"]([^'\"]+)['\"](?:\s*,\s*['\"](\w+)['\"])?")
_TIME = "metric_time"
_UNIQUE = ("primary", "unique", "natural")


@frozen
class SemanticUse:
    """A column of a semantic model or metric that is used: how, and for which own column; empty for the rows."""

    unique_id: str
    column: str
    own: str
    subtype: Subtype


def uses_of(consumer: Consumer, consumers: Mapping[str, Consumer]) -> Iterator[SemanticUse]:
    """Yield the dimensions, entities and metrics in the filters of a metric, and in a saved query."""
    if consumer.resource_type == ResourceType.METRIC:
        inputs = consumer.type_params.inputs()
        found = _named([consumer.filter, *(one.filter for one in inputs)], consumer, consumers)
        yield from dict.fromkeys(SemanticUse(key, column, consumer.name, Subtype.FILTER) for key, column, _ in found)
    elif consumer.resource_type == ResourceType.SAVED_QUERY:
        grouped = tuple(_named(consumer.query_params.group_by, consumer, consumers))
        yield from dict.fromkeys(SemanticUse(key, column, own, Subtype.IDENTITY) for key, column, own in grouped)
        yield from dict.fromkeys(SemanticUse(key, column, "", Subtype.GROUP_BY) for key, column, _ in grouped)
        filters = _named([consumer.query_params.where], consumer, consumers)
        yield from dict.fromkeys(SemanticUse(key, column, "", Subtype.FILTER) for key, column, _ in filters)


def _named(
    values: Sequence[Any], consumer: Consumer, consumers: Mapping[str, Consumer]
) -> Iterator[tuple[str, str, str]]:
    """Yield what texts name: the unique id of the consumer that has it, its column there, and the name in results."""
    for text in _texts(values):
        for kind, name, grain in _CALL.findall(text):
            shown = f"{name}__{grain}" if grain else name
            if kind == "Metric":
                keys = [(key, name) for key, one in consumers.items()
                        if one.resource_type == ResourceType.METRIC and one.name == name]  # fmt: skip
            elif name == _TIME:
                keys = list(_times(consumer, consumers))
            else:
                keys = list(_columns(name.split("__"), consumers))
            yield from ((key, column, shown) for key, column in keys)


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts in a value of a manifest."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, Sequence):
        for one in value:
            yield from _texts(one)


def _columns(path: Sequence[str], consumers: Mapping[str, Consumer]) -> Iterator[tuple[str, str]]:
    """Yield the columns that a name may mean: of the models that its last entity identifies, else of all with it."""
    name, entity = path[-1], path[-2] if len(path) > 1 else path[-1]
    sure, others = [], []
    for key, one in consumers.items():
        if name not in {each.name for each in (*one.dimensions, *one.entities)}:
            continue
        kinds = {each.name: each.type for each in one.entities}
        if one.primary_entity == entity or kinds.get(entity) in _UNIQUE:
            sure.append((key, name))
        elif entity in kinds:
            others.append((key, name))
    yield from sure or others


def _times(consumer: Consumer, consumers: Mapping[str, Consumer]) -> Iterator[tuple[str, str]]:
    """Yield the time dimensions by which the measures behind a consumer are aggregated."""
    waiting, seen = [consumer.unique_id], set[str]()
    while waiting:
        key = waiting.pop()
        if key in seen or key not in consumers:
            continue
        seen.add(key)
        one = consumers[key]
        waiting += one.depends_on.nodes
        times = (each.agg_time_dimension or one.defaults.agg_time_dimension for each in one.measures)
        yield from ((key, time) for time in dict.fromkeys(times) if time)
