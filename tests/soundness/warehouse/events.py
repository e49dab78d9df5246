"""OpenLineage events, as an agent would send them of the statements of a log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from tests.soundness.warehouse.render import SQL_TYPES, sql_of
from tests.soundness.warehouse.tree import CreateAs, CreateTable, Run
from tests.soundness.warehouse.world import Stored, World

__all__ = ["NAMESPACE", "SILENT", "events_of"]

NAMESPACE = "duckdb://warehouse"
_TEMPORARY = (
    "temp",
    "temp_replace",
    "temp_hides",
    "temp_change",
    "temp_commit",
    "temp_column",
    "temp_rename",
    "temp_drop",
    "temp_used",
)
_OF_NAMES = ("rebuild", "swap", "rename_table", "drop", "rename_column", "add_column", "drop_column")
SILENT = frozenset((*_TEMPORARY, *_OF_NAMES, "replace", "replace_self", "recreate", "set_path", "use_name", "ordinal"))
"""What events do not tell: sessions, changes of what is called how; ordinals are masked with all other constants."""
_PRODUCER = "https://example.org/agent"

Json = dict[str, Any]


def events_of(world: World, runs: Sequence[Run], begin: datetime, *, facets_too: bool) -> Iterator[Json]:
    """Yield an event for each statement, whose tables are named with their schema; the world goes on with them.

    With `facets_too`, every other event says the columns' lineage in a facet, too.
    """
    for minute, run in enumerate(runs):
        step = run.step
        read = [world.find(run.session, each.name) for each in getattr(step, "reads", ())]
        world.apply(run.session, step)
        written = world.find(run.session, step.name)  # type: ignore[union-attr]
        event: Json = {
            "eventTime": (begin + timedelta(minutes=minute)).isoformat(),
            "producer": _PRODUCER,
            "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json",
        }
        if isinstance(step, CreateTable):
            event["schemaURL"] += "#/$defs/DatasetEvent"
            yield {**event, "dataset": _dataset(written)}
            continue
        output = _dataset(written)
        facets = {"sql": _facet("SQLJobFacet", query=sql_of(step))}
        if (
            isinstance(step, CreateAs)
            and facets_too
            and minute % 2
            and (stated := _column_lineage(world, written, read))
        ):
            output["facets"]["columnLineage"] = stated
        yield {
            **event,
            "eventType": "COMPLETE",
            "run": {"runId": str(UUID(int=(minute + 1) * 2**64 + int(begin.timestamp()), version=4))},
            "job": {"namespace": "scheduler", "name": f"task {begin:%d} {minute}", "facets": facets},
            "inputs": [_dataset(stored) for stored in {s.number: s for s in read}.values()],
            "outputs": [output],
        }


def _facet(name: str, **values: Any) -> Json:
    return {"_producer": _PRODUCER, "_schemaURL": f"https://openlineage.io/spec/facets/1-0-0/{name}.json", **values}


def _dataset(stored: Stored) -> Json:
    fields = [{"name": column.name, "type": SQL_TYPES[column.type]} for column in stored.columns]
    return {
        "namespace": NAMESPACE,
        "name": stored.full_name,
        "facets": {"schema": _facet("SchemaDatasetFacet", fields=fields)},
    }


def _column_lineage(world: World, written: Stored, read: Sequence[Stored]) -> Json | None:
    """Return what a table is made of, if a facet can say it: not what decides the rows of what is read.

    What comes later may decide them: so the SQL is always told, too.
    """
    names = {node: (stored.full_name, name) for stored in read for name, node in stored.nodes()}
    if any(world.decided(stored.rows) for stored in read):
        return None

    def inputs(node: str, kind: str, subtype: str) -> list[Json]:
        sources = sorted(names[source] for source in world.edges.get(node, ()) if source in names)
        how = {"type": kind, "subtype": subtype}
        return [{"namespace": NAMESPACE, "name": t, "field": c, "transformations": [how]} for t, c in sources]

    fields = {name: {"inputFields": inputs(node, "DIRECT", "TRANSFORMATION")} for name, node in written.nodes()}
    dataset = inputs(written.rows, "INDIRECT", "FILTER")
    return _facet("ColumnLineageDatasetFacet", fields=fields, dataset=dataset)
