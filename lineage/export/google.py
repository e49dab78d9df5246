"""The graph as run events for Google's Data Lineage API (`processOpenLineageRunEvent`), split to fit its limits."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import NAMESPACE_URL, uuid5

from lineage.export.catalogue_tables import Losses, Tags
from lineage.export.dataset_chunks import chunks
from lineage.export.openlineage import openlineage_events
from lineage.store.protocol import GraphStore

__all__ = ["LINKS_PER_EVENT", "LINKS_PER_RUN", "MOST_BYTES", "NAME_LENGTH", "google_events"]

LINKS_PER_EVENT = 100
LINKS_PER_RUN = 1_000
MOST_BYTES = 5_000_000
NAME_LENGTH = 4_000
"""The API's limits."""
_KEPT = ("namespace", "name", "field", "transformations")
Json = dict[str, Any]


class _Link(NamedTuple):
    """A link from a table or column to another one; the fields are empty for tables. `how` lists transformations."""

    source: tuple[str, str, str]
    target: tuple[str, str, str]
    how: tuple[tuple[str, str, bool], ...]


def google_events(store: GraphStore, tags: Tags, lost: Losses, *, namespace: str | None = None) -> Iterator[Json]:
    """Yield the events of jobs that write; what does not fit is counted in `lost`.

    An event has at most 100 links (a pair of tables, or of columns). After ten events a job continues as another run,
    since a run has at most 1,000 links.

    Raises:
        StoreError: the store could not be read.
    """
    if tags:
        lost["tags: the API has no place for them"] += sum(map(len, tags.values()))
    for event in openlineage_events(store, namespace=namespace):
        if "job" not in event:
            lost["tables without a job: the API takes links only"] += 1
        elif not event["outputs"]:
            lost["jobs that write nothing"] += 1
        else:
            yield from _split(event, lost)


def _split(event: Json, lost: Losses) -> Iterator[Json]:
    fitting = []
    for link in _links(event, lost):
        if any(len(namespace) + len(name) + len(field) + 2 > NAME_LENGTH for namespace, name, field in link[:2]):
            lost[f"links with a name of more than {NAME_LENGTH:,} characters"] += 1
        else:
            fitting.append(link)
    sent = 0
    for group in chunks(fitting, LINKS_PER_EVENT):
        for links, message in _small(event, group, lost):
            number = sent // (LINKS_PER_RUN // LINKS_PER_EVENT)
            sent += 1
            message["run"] = {"runId": str(uuid5(NAMESPACE_URL, f"{event['job']['name']}#{number}"))}
            assert len(links) <= LINKS_PER_EVENT
            yield message


def _small(event: Json, links: Sequence[_Link], lost: Losses) -> Iterator[tuple[Sequence[_Link], Json]]:
    """Yield the links as messages that are small enough: without the SQL if need be, then in halves."""
    choices: tuple[Json, ...] = (event["job"]["facets"], {})
    for facets in choices:
        message = _message(event, links, facets)
        if len(json.dumps(message, ensure_ascii=False).encode()) <= MOST_BYTES - 100:
            if facets != event["job"]["facets"]:
                lost["SQL of more than 5 MB"] += 1
            yield links, message
            return
    middle = len(links) // 2
    if not middle:
        lost["links of more than 5 MB"] += 1
        return
    yield from _small(event, links[:middle], lost)
    yield from _small(event, links[middle:], lost)


def _links(event: Json, lost: Losses) -> Iterator[_Link]:
    """Yield the links of a job: between columns, and between those tables that no two columns link."""
    for output in event["outputs"]:
        target = (output["namespace"], output["name"])
        lineage = output["facets"]["columnLineage"]
        linked = set()
        for field, value in lineage["fields"].items():
            for source in value["inputFields"]:
                linked.add((source["namespace"], source["name"]))
                yield _Link(_column(source), (*target, field), _transformations(source))
        if rows := lineage.get("dataset"):
            lost["columns that decide about rows: their tables are linked"] += len(rows)
        for source in event["inputs"]:
            place = (source["namespace"], source["name"])
            if place not in linked and place != target:
                yield _Link((*place, ""), (*target, ""), ())


def _column(source: Json) -> tuple[str, str, str]:
    return source["namespace"], source["name"], source["field"]


def _transformations(source: Json) -> tuple[tuple[str, str, bool], ...]:
    return tuple((one["type"], one["subtype"], one["masking"]) for one in source["transformations"])


def _message(event: Json, links: Iterable[_Link], facets: Mapping[str, Json]) -> Json:
    inputs: dict[tuple[str, str], Json] = {}
    outputs: dict[tuple[str, str], dict[str, list[Json]]] = {}
    for source, target, how in links:
        inputs[source[:2]] = {"namespace": source[0], "name": source[1]}
        fields = outputs.setdefault(target[:2], {})
        if target[2]:
            ways = [{"type": kind, "subtype": subtype, "masking": masking} for kind, subtype, masking in how]
            fields.setdefault(target[2], []).append(dict(zip(_KEPT, (*source, ways), strict=True)))
    return {
        "eventType": "COMPLETE",
        "eventTime": event["eventTime"],
        "producer": event["producer"],
        "schemaURL": event["schemaURL"].replace("JobEvent", "RunEvent"),
        "run": {},
        "job": {**event["job"], "facets": dict(facets)},
        "inputs": list(inputs.values()),
        "outputs": [_output(event, place, fields) for place, fields in outputs.items()],
    }


def _output(event: Json, place: tuple[str, str], fields: dict[str, list[Json]]) -> Json:
    made: Json = {"namespace": place[0], "name": place[1]}
    if fields:
        [facet] = [
            one["facets"]["columnLineage"] for one in event["outputs"] if (one["namespace"], one["name"]) == place
        ]
        named = {name: {"inputFields": sources} for name, sources in fields.items()}
        made["facets"] = {
            "columnLineage": {"_producer": facet["_producer"], "_schemaURL": facet["_schemaURL"], "fields": named}
        }
    return made
