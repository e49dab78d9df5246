"""BigQuery's lineage from Google's Data Lineage API: links and lineage events, as JSON.

https://docs.cloud.google.com/dataplex/docs/reference/data-lineage/rest/v1/projects.locations/searchLinks
https://docs.cloud.google.com/dataplex/docs/reference/data-lineage/rest/v1/projects.locations.processes.runs.lineageEvents
https://docs.cloud.google.com/data-catalog/docs/fully-qualified-names

Read are the answers of `searchLinks` (`links`), lists of lineage events (`lineageEvents`, whose names contain process
and run), and files with one link or event per line. Traps:
- An entity with `field` (the path of a column, one element per level) is a column, without it a table.
- `EXACT_COPY` is a value. `OTHER` is anything else, "like filtering or grouping", transformed values included: whether
  the value flows is not stated.
- Entities of other systems have other names: `gs://bucket/…` is a file, `pubsub:topic:…` is not compared.
- `bigquery:sharded:project.dataset.prefix` are all date shards with that prefix; `bigquery:routine:…` and
  `bigquery:connection:…` are no tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from lineage.model.names import split_name
from lineage_ingest.compare.opinions import OpinionEdge, ReadRow, UnreadRow
from lineage_ingest.compare.product_names import ProductNames
from lineage_ingest.compare.readers.json_events import read_json_values

__all__ = ["read_bigquery_links"]

_EXACT = "EXACT_COPY"
_RUN = re.compile(r"/processes/(?P<process>[^/]+)(?:/runs/(?P<run>[^/]+))?")
_SHARDED = "sharded:"
_ANY_DAY = "20*"
"""What a wildcard over date shards ends in: names make one table of it and of each shard."""
_NO_TABLES = ("routine:", "connection:")
_FRACTION = re.compile(r"(\.\d{6})\d+")
_HINT = "expected the answer of searchLinks (`links`), `lineageEvents`, or a link or event per line"


def read_bigquery_links(paths: Sequence[str | Path], names: ProductNames) -> Iterator[ReadRow]:
    """Yield the edges of answers of the Data Lineage API.

    Raises:
        NoEventFilesError: a path has no file.
    """
    for read in read_json_values(paths):
        if isinstance(read, UnreadRow):
            yield read
            continue
        for event in _events(read.value):
            links = event.get("links") if isinstance(event.get("links"), list) else [event]
            if not links and event is read.value:
                continue  # an empty page
            for link in links or ():
                yield _edge(link, event, read.position, names)


def _events(value: Any) -> Iterator[Mapping[str, Any]]:
    if not isinstance(value, dict):
        yield {}
    elif isinstance(value.get("lineageEvents"), list):
        yield from (one if isinstance(one, dict) else {} for one in value["lineageEvents"])
    elif value:  # an answer without results is an empty object
        yield value


def _edge(link: Any, event: Mapping[str, Any], place: str, names: ProductNames) -> ReadRow:
    if not isinstance(link, dict) or "source" not in link or "target" not in link:
        return UnreadRow(place, "not a link: it has no source and target", _HINT)
    source = _end(link["source"], "source", place, names)
    if isinstance(source, UnreadRow):
        return source
    target = _end(link["target"], "target", place, names)
    if isinstance(target, UnreadRow):
        return target
    if source.is_column is not target.is_column:
        return UnreadRow(place, "it names a column on one side only")
    kinds = _kinds_in(link.get("dependencyInfo"))
    run = _RUN.search(str(event.get("name") or ""))
    return OpinionEdge(
        source.key,
        target.key,
        place,
        False if _EXACT in kinds or not kinds else None,
        " + ".join(sorted(kinds)) or None,
        _time(link.get("endTime") or event.get("endTime") or link.get("startTime") or event.get("startTime")),
        (run["run"] if run else None) or str(link.get("name") or event.get("name") or "").rpartition("/")[2] or None,
        f"process {run['process']}" if run else None,
    )


class _LinkEnd(NamedTuple):
    """One end of a link: the key of a column or a table."""

    key: str
    is_column: bool


def _end(entity: Any, side: str, place: str, names: ProductNames) -> _LinkEnd | UnreadRow:
    name = entity.get("fullyQualifiedName") if isinstance(entity, dict) else None
    if not isinstance(name, str) or not name:
        return UnreadRow(place, f"its {side} has no fullyQualifiedName", _HINT)
    table = _table(name, names)
    if table is None:
        system, kind, *_ = *name.split(":"), ""
        system = f"{system}:{kind}" if system == "bigquery" else system
        return UnreadRow(place, f"links of the system {system}, which are not compared", is_error=False)
    field = entity.get("field")
    path = field if isinstance(field, list) else [] if field is None or field == "" else [field]
    if not all(isinstance(part, str) and part for part in path):
        return UnreadRow(place, f"the field of its {side} is no list of names")
    return _LinkEnd(names.column_of(table, path) if path else table, bool(path))


def _kinds_in(stated: Any) -> set[str]:
    """Return the types of the dependencies that a link states."""
    listed = stated if isinstance(stated, list) else ()
    return {str(one.get("dependencyType")) for one in listed if isinstance(one, dict)}


def _table(name: str, names: ProductNames) -> str | None:
    """Return the key of a fully qualified name; None for a system whose names we have no keys for."""
    if "://" in name:
        return names.table(name)
    system, _, rest = name.partition(":")
    if system != "bigquery" or not rest or rest.startswith(_NO_TABLES):
        return None
    parts = [part for part, _ in split_name(rest.removeprefix(_SHARDED))]
    if rest.startswith(_SHARDED):
        parts[-1] += _ANY_DAY
    return names.table_of(parts)


def _time(value: Any) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        at = datetime.fromisoformat(_FRACTION.sub(r"\1", value.replace("Z", "+00:00")))
    except ValueError:
        return None
    return at if at.tzinfo is not None else None
