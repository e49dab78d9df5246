"""OpenLineage's facet columnLineage in events of any producer, as a second opinion.

https://openlineage.io/docs/spec/facets/dataset-facets/column_lineage_facet/

INDIRECT transformations are influence; those of the whole dataset (`dataset`) decide its rows. Only events that
complete a run are read. Datasets are named as in an ingest of events, symlinks included.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from lineage.model.influence.transformations import EdgeKind
from lineage_ingest.compare.opinions import OpinionEdge, ReadRow, UnreadRow
from lineage_ingest.compare.readers.json_events import read_json_values
from lineage_ingest.openlineage.dataset_ids import dataset_id_with_symlinks
from lineage_ingest.openlineage.facets.column_edges import OutputLineage, column_lineage

__all__ = ["read_openlineage_facets"]

_UNFINISHED = frozenset(("START", "RUNNING", "ABORT", "FAIL"))


def read_openlineage_facets(paths: Sequence[str | Path]) -> Iterator[ReadRow]:
    """Yield the edges in the columnLineage facets of the outputs of events.

    Raises:
        NoEventFilesError: a path has no file.
    """
    for read in read_json_values(paths):
        if isinstance(read, UnreadRow):
            yield read
            continue
        try:
            yield from _edges(read.value, read.position)
        except (KeyError, TypeError, AttributeError, ValueError):
            yield UnreadRow(read.position, "not an OpenLineage event with a valid columnLineage facet")


def _edges(event: Mapping[str, Any], place: str) -> list[ReadRow]:
    if not ("job" in event or "dataset" in event):  # run, job and dataset events
        raise KeyError("job")
    if str(event.get("eventType") or "").upper() in _UNFINISHED:
        return []
    named = {
        (one["namespace"], one["name"]): _identifiers(one)
        for one in (*(event.get("inputs") or ()), *(event.get("outputs") or ()))
    }

    def locate(namespace: str, name: str) -> Any:
        return dataset_id_with_symlinks(namespace, name, named.get((namespace, name)) or ())[0]

    job, run = event.get("job") or {}, (event.get("run") or {}).get("runId")
    at = _time(event.get("eventTime"))
    found: list[ReadRow] = []
    for output in event.get("outputs") or filter(None, [event.get("dataset")]):  # a dataset event has one, and no run
        facet = (output.get("facets") or {}).get("columnLineage")
        if not facet:
            continue
        into = OutputLineage(locate(output["namespace"], output["name"]))
        column_lineage(facet, into, locate)
        entity = f"{job.get('namespace')}/{job.get('name')}" if job else None
        found += (
            OpinionEdge(
                edge.source,
                edge.target,
                place,
                edge.kind is EdgeKind.REFERENCES,
                " + ".join(map(str, edge.subtypes)) or None,
                at,
                run,
                entity,
            )
            for edge in into.edges("")
        )
    return found


def _identifiers(dataset: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(((dataset.get("facets") or {}).get("symlinks") or {}).get("identifiers") or ())


def _time(value: Any) -> datetime | None:
    if not isinstance(value, str):
        return None
    at = datetime.fromisoformat(value.replace("Z", "+00:00"))
    return at if at.tzinfo is not None else None
