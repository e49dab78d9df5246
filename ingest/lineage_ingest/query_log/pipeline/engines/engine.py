"""The protocol of engines: where the rows are stored, and how work is distributed. The stages are the same for all."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from lineage.store.planning.chunking.chunks import BatchPart
from lineage.store.protocol import GraphStore
from lineage.store.values import AppliedChanges
from lineage_ingest.query_log.pipeline.extraction import KnownSchemas, LogContext, UnitLineage
from lineage_ingest.query_log.pipeline.extraction_units import ExtractionUnit, LogStatement
from lineage_ingest.query_log.pipeline.members import Member
from lineage_ingest.query_log.pipeline.merging.statistics import JobRuns
from lineage_ingest.query_log.pipeline.schema_rounds import RunInterval
from lineage_ingest.query_log.pipeline.sessions.session_blocks import TemplateInSession
from lineage_ingest.query_log.pipeline.unit_summaries import UnitSummary
from lineage_ingest.query_log.pipeline.versions.column_changes import ColumnChanges
from lineage_ingest.query_log.pipeline.versions.versions import Event, Versions
from lineage_ingest.query_log.reading.file_reports import FileReports

__all__ = ["Engine", "Opener", "LogCounts", "Progress", "SessionBlock", "Template", "Work"]

Progress = Callable[[str, int, int | None], None]
"""Called with a stage's name, the amount done, and the total (None if unknown)."""


Opener = Callable[[], GraphStore]
"""Opens the store; it is pickled and called in another process."""


class Template(NamedTuple):
    """A template: its sample, the interval in which it ran, and the number of runs."""

    key: int
    part: LogStatement
    span: RunInterval
    runs: int


class SessionBlock(NamedTuple):
    """Statements of a session that depend on each other."""

    key: int
    members: tuple[Member, ...]


class Work(NamedTuple):
    """A unit to extract (a template or a session block), and the schemas that differ for it from the known ones."""

    key: int
    overlay: Mapping[str, tuple[str, ...] | None] | None = None


@dataclass(slots=True)
class LogCounts:
    """Counts of a log's rows, of rows without lineage by reason with a sample of each, and the files' reports."""

    rows: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    samples: dict[str, str] = field(default_factory=dict)
    undated: int = 0
    """Runs whose time is missing or unreadable."""
    unread_time: str | None = None
    """An unreadable time, masked: the smallest one."""
    files: FileReports = field(default_factory=FileReports)


class Engine(Protocol):
    """The stages over the rows of one log."""

    def read(self, progress: Progress) -> LogCounts:
        """Read, normalise and fingerprint all rows, keep them for later stages, and return their counts."""

    def templates(self) -> Iterator[Template]:
        """Yield the templates, each with one sample."""

    def samples(self) -> list[LogStatement]:
        """Return the sample of each template."""

    def sessions(
        self,
        templates: Mapping[int, TemplateInSession],
        versions: Versions | None = None,
        changes: ColumnChanges | None = None,
    ) -> list[SessionBlock]:
        """Assign every run to its unit; return the units that are not templates.

        `templates` are exactly those of sessions with a statement that changes what later statements mean. In all
        other sessions, a run's unit is its template. With `versions`, a statement with a name that refers to several
        tables over time is one unit for each of them. `changes` of columns are resolved within the session blocks
        between whose statements they ran.
        """

    def events(self, wanted: frozenset[tuple[int, int]]) -> Iterable[Event]:
        """Return the runs of the `wanted` parts (unit and part number), in any order.

        Units are those of the first call of `sessions`, which has neither versions nor changes.
        """

    def extract(
        self, work: Collection[Work] | None, context: LogContext, known_schemas: KnownSchemas, progress: Progress
    ) -> Iterator[UnitSummary]:
        """Extract units (without `work`, all templates); yield their summaries, and keep their lineage."""

    def runs(self) -> dict[int, dict[int, JobRuns]]:
        """Return how often each part of each unit ran."""

    def days(self) -> Iterator[Any]:
        """Yield the counts of runs (`COUNTED_SCHEMA`), some whole days at a time."""

    def lineage(self, units: Collection[int]) -> Iterator[tuple[int, UnitLineage]]:
        """Yield the lineage of these units."""

    def write(self, parts: Sequence[BatchPart], opener: Opener) -> AppliedChanges:
        """Apply independent parts of a batch, in any order, each in a process that opens the store; return the changes.

        Raises:
            StoreError: the store could not be reached or written.
        """

    def close(self) -> None:
        """Release everything that the engine keeps."""


def unit_of(
    template_or_block: Template | SessionBlock,
    parts: Mapping[int, LogStatement],
    runs: Mapping[int, JobRuns],
    span: RunInterval,
    work: Work,
) -> ExtractionUnit:
    """Return the unit of a template or session block; `runs` are those of its parts, `span` is the whole interval."""
    if isinstance(template_or_block, Template):
        listed: tuple[LogStatement, ...] = (template_or_block.part,)
    else:
        listed = tuple(
            parts[m.template].within(m.database, m.schema, m.search_path, m.bound) for m in template_or_block.members
        )
    spans: tuple[tuple[int | None, int | None], ...] = ()
    if len(listed) > 1 and len(runs) == len(listed):
        spans = tuple((runs[number].first, runs[number].last) for number in range(len(listed)))
    return ExtractionUnit(template_or_block.key, listed, span.first, span.last, spans, work.overlay)
