"""The columns of semantic models that metrics and saved queries are made of: an edit of others does not reach them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lineage_ingest.dbt.artifacts.manifest_nodes import Consumer, ResourceType
from lineage_ingest.dbt.semantic.semantic_layer import inputs_of, with_metric_measures
from lineage_ingest.dbt.semantic.semantic_uses import finds_all_uses, times_of, uses_of

__all__ = ["ConsumerColumns"]

Columns = frozenset[str] | None
"""Names in lower case; None: perhaps all columns."""


class ConsumerColumns:
    """Returns which columns of which semantic models the consumers of one manifest read."""

    def __init__(self, consumers: Mapping[str, Consumer]) -> None:
        self._consumers = with_metric_measures(consumers)
        self._found: dict[str, Mapping[str, Columns]] = {}

    def read_by(self, key: str) -> Mapping[str, Columns]:
        """Return what a consumer reads, itself or by way of others: columns by the semantic model's unique id."""
        if key not in self._found:
            self._found[key] = {}  # while it is open: a cycle adds nothing
            self._found[key] = self._read_by(key)
        return self._found[key]

    def _read_by(self, key: str) -> Mapping[str, Columns]:
        consumer = self._consumers.get(key)
        if consumer is None:
            return {}
        if consumer.resource_type == ResourceType.SEMANTIC_MODEL:
            return {key: None}
        if consumer.resource_type in (ResourceType.METRIC, ResourceType.SAVED_QUERY):
            return self._named_by(consumer) if self._is_known(consumer) else dict.fromkeys(self._models_below(key))
        return _merged(map(self.read_by, consumer.depends_on.nodes))

    def _is_known(self, consumer: Consumer) -> bool:
        """Return whether all is found that a metric or saved query names."""
        if consumer.type == "conversion":  # its properties, which must be constant, are not read
            return False
        is_query = consumer.resource_type == ResourceType.SAVED_QUERY
        named = consumer.query_params.metrics if is_query else (each.name for each in consumer.type_params.inputs())
        wanted, found = set(named), {name for _, name, _ in inputs_of(consumer, self._consumers)}
        return bool(wanted) and wanted == found and finds_all_uses(consumer, self._consumers)

    def _named_by(self, consumer: Consumer) -> Mapping[str, Columns]:
        places = {(key, column) for key, column, _ in inputs_of(consumer, self._consumers)}
        places |= {(use.unique_id, use.column) for use in uses_of(consumer, self._consumers)}
        places |= {*times_of(consumer, self._consumers)}
        return _merged(
            {key: frozenset((column.lower(),))}
            if self._consumers[key].resource_type == ResourceType.SEMANTIC_MODEL
            else self.read_by(key)
            for key, column in sorted(places)
        )

    def _models_below(self, key: str) -> set[str]:
        """Return the semantic models that a consumer needs, itself or by way of others."""
        seen, waiting = set[str](), [key]
        while waiting:
            unique_id = waiting.pop()
            if unique_id not in seen and unique_id in self._consumers:
                seen.add(unique_id)
                waiting += self._consumers[unique_id].depends_on.nodes
        return {one for one in seen if self._consumers[one].resource_type == ResourceType.SEMANTIC_MODEL}


def _merged(parts: Iterable[Mapping[str, Columns]]) -> Mapping[str, Columns]:
    columns_by_key: dict[str, Columns] = {}
    for part in parts:
        for key, columns in part.items():
            known = columns_by_key.get(key, frozenset())
            columns_by_key[key] = None if columns is None or known is None else known | columns
    return columns_by_key
