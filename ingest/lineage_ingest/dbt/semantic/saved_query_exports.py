"""The tables and views into which saved queries are exported (`dbt sl export`, or a job of the platform).

https://docs.getdbt.com/docs/use-dbt-semantic-layer/exports
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lineage.frozen import frozen
from lineage.model.statement import DatasetKind
from lineage_ingest.dbt.artifacts.manifest_nodes import Consumer, QueryExport, ResourceType
from lineage_ingest.dbt.relation_names import ProjectNames

__all__ = ["SavedQueryExport", "exports_of"]


@frozen
class SavedQueryExport:
    """A relation that has the result of a saved query: its key beside the nodes of the project, and its full name."""

    key: str
    query: Consumer
    table: str
    kind: DatasetKind


def exports_of(consumers: Mapping[str, Consumer], names: ProjectNames) -> dict[str, SavedQueryExport]:
    """Return the exports of saved queries, by key."""
    return {
        one.key: one
        for consumer in consumers.values()
        if consumer.resource_type == ResourceType.SAVED_QUERY
        for one in _exports(consumer, names, _is_quoted(consumers))
    }


def _exports(consumer: Consumer, names: ProjectNames, quoted: bool) -> Iterator[SavedQueryExport]:
    for export in consumer.exports:
        config = export.config
        kind = DatasetKind.VIEW if config.export_as == "view" else DatasetKind.TABLE
        if config.export_as in ("table", "view"):
            key = f"export.{consumer.unique_id.partition('.')[2]}.{export.name}"
            yield SavedQueryExport(key, consumer, names.relation_of(_parts(export), quoted=quoted), kind)


def _parts(export: QueryExport) -> list[str]:
    config = export.config
    return [one for one in (config.database, config.schema_name, config.alias or export.name) if one]


def _is_quoted(consumers: Mapping[str, Consumer]) -> bool:
    """Return whether dbt quotes the names of relations, as those of semantic models show."""
    found = (one.node_relation.relation_name for one in consumers.values())
    return all(name[:1] in '"`[' for name in found if name)
