"""JSON values of files, one after the other, by the reader of OpenLineage events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from lineage_ingest.compare.opinions import UnreadRow
from lineage_ingest.openlineage.event_reader import BadText, ReadEvent, find_event_files, read_events

__all__ = ["read_json_values"]


def read_json_values(paths: Sequence[str | Path]) -> Iterator[ReadEvent | UnreadRow]:
    """Yield the values of files of JSON lines, arrays or documents; what is no JSON is reported and skipped.

    Raises:
        NoEventFilesError: a path has no file.
    """
    for name in find_event_files(map(str, paths)):
        for read in read_events(name):
            yield UnreadRow(read.position, read.reason) if isinstance(read, BadText) else read
