"""The protocol of engines: where the rows are stored, and how work is distributed. The stages are the same for all."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from lineage.store.planning.chunks import BatchPart
from lineage.store.protocol import GraphStore
from lineage.store.values import AppliedChanges
from lineage_ingest.query_log.file_reports import FileReports
from lineage_ingest.query_log.pipeline.extraction import KnownSchemas, LogContext, UnitLineage, UnitSummary
from lineage_ingest.query_log.pipeline.extraction_units import ExtractionUnit, LogStatement
from lineage_ingest.query_log.pipeline.schema_rounds import RunInterval
from lineage_ingest.query_log.pipeline.session_blocks import TemplateInSession
from lineage_ingest.query_log.pipeline.sessions import Member
from lineage_ingest.query_log.pipeline.statistics import JobRuns
from lineage_ingest.query_log.pipeline.versions import Event, Versions

__all__ = ["Engine", "Opener", "LogCounts", "Progress", "SessionBlock", "Template", "Work"]

Progress = Callable[[str, int, int | None], None]
"""Called with a stage's name, how much of it is done, and of how much (None where that is not known)."""


Opener = Callable[[], GraphStore]
"""Opens the store in another process: it is sent there."""


class Template(NamedTuple):
    """A template: its sample, when it ran, how often."""

    key: int
    part: LogStatement
    span: RunInterval
    runs: int


class SessionBlock(NamedTuple):
    """Statements of a session that need each other."""

    key: int
    members: tuple[Member, ...]


class Work(NamedTuple):
    """A unit to extract: a template, or a slice; and what it sees of tables other than is known in general."""

    key: int
    overlay: Mapping[str, tuple[str, ...] | None] | None = None


@dataclass(slots=True)
class LogCounts:
    """What was read: rows, those of them that are no lineage by their reason, one of each; and how files went."""

    rows: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    samples: dict[str, str] = field(default_factory=dict)
    undated: int = 0
    """Runs whose time is missing or unreadable."""
    unread_time: str | None = None
    """The value in place of such a time, masked: the smallest one."""
    files: FileReports = field(default_factory=FileReports)


class Engine(Protocol):
    """The stages over the rows of one log."""

    def read(self, progress: Progress) -> LogCounts:
        """Read, normalise and fingerprint all rows; they are kept for the stages after this."""

    def templates(self) -> Iterator[Template]:
        """Yield the templates, one sample each."""

    def samples(self) -> list[LogStatement]:
        """Return the sample of each template."""

    def sessions(
        self, templates: Mapping[int, TemplateInSession], versions: Versions | None = None
    ) -> list[SessionBlock]:
        """Assign every run to its unit; return the units that are not templates.

        `templates` are those of sessions in which something changes what later statements mean, and no others; the
        runs of all other sessions are their templates'. Asked again with `versions`, what speaks of a name that
        several tables have had is one unit for each of them.
        """

    def events(self, templates: Mapping[int, TemplateInSession], wanted: frozenset[tuple[int, int]]) -> Iterable[Event]:
        """Return when the parts that are wanted ran, by unit and number, in any order; `templates` as above."""

    def extract(
        self, work: Collection[Work] | None, context: LogContext, known_schemas: KnownSchemas, progress: Progress
    ) -> Iterator[UnitSummary]:
        """Extract units (all templates, without `work`); yield what the stages have to know, keep what they state."""

    def runs(self) -> dict[int, dict[int, JobRuns]]:
        """Return how often each part of each unit ran."""

    def days(self) -> Iterator[Any]:
        """Yield the counts of runs (`COUNTED_SCHEMA`), some whole days at a time."""

    def lineage(self, units: Collection[int]) -> Iterator[tuple[int, UnitLineage]]:
        """Yield what these units state."""

    def write(self, parts: Sequence[BatchPart], opener: Opener) -> AppliedChanges:
        """Apply parts of a batch, none of which needs another, in whatever order, each by whoever opens the store.

        Raises:
            StoreError: the store could not be reached or written.
        """

    def close(self) -> None:
        """Let go of what was kept."""


def unit_of(
    template_or_block: Template | SessionBlock,
    parts: Mapping[int, LogStatement],
    runs: Mapping[int, JobRuns],
    span: RunInterval,
    work: Work,
) -> ExtractionUnit:
    """Return the unit that a template or a slice is; `runs` are those of its parts, `span` of all."""
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
