"""What is printed beside an answer: what it may lack, what is gone, and which names are not what they seem."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime

from lineage.model.batch import JobKind
from lineage.model.names import dataset_of
from lineage.model.statement import Completeness
from lineage.screen.evidence import unique_sources
from lineage.screen.listing import counted, note
from lineage.store.protocol import GraphStore
from lineage.traversal import Answer, Target
from lineage.traversal.cautions.broken_reads import BrokenRead
from lineage.traversal.cautions.former_holders import former_holders
from lineage.traversal.cautions.gone_sources import GoneSource
from lineage.traversal.cautions.namesakes import namesakes

__all__ = [
    "note_broken_reads",
    "note_former_holders",
    "note_gone_sources",
    "note_namesakes",
    "note_possibly_affected",
    "note_retired",
    "note_times",
    "note_truncation",
]

_LIMIT = re.compile(r"\b(max_hops|max_references|limit_total|limit_per_hop)=")
_MAX_HOLDERS = 3
_UNDER_FORMER_HOLDER = {"impact": "what read it then", "root-cause": "where it came from then"}
"""By command, what the same command shows of a table that had the name before."""


def note_possibly_affected(store: GraphStore, answer: Answer) -> None:
    """Print which tables may be affected, though no column of theirs is known to be."""
    possibly = {affected.table: affected.job for affected in answer.possibly_affected}
    jobs = {job.key: job for job in store.jobs(set(possibly.values()))} if possibly else {}
    partial = [
        table for table, job in possibly.items() if job in jobs and jobs[job].completeness is Completeness.PARTIAL
    ]
    if tables := ", ".join(table for table in possibly if table not in partial):
        note(f"possibly affected, by table-level lineage only: {tables}", "yellow")
    if partial:
        note(
            f"possibly affected, as some columns are not resolved (lineage diagnostics): {', '.join(partial)}", "yellow"
        )


def note_truncation(answer: Answer) -> None:
    """Print what the answer was stopped by."""
    if answer.truncated is not None and answer.truncated.startswith("max_references=") and ";" not in answer.truncated:
        note(answer.truncated.replace("max_references=", "--max-references "))  # the user's own wish
    elif answer.truncated:
        by = _LIMIT.sub(lambda limit: f"--{limit[1].removesuffix('_total').replace('_', '-')} ", answer.truncated)
        note(f"incomplete: stopped by {by}", "yellow")


def note_broken_reads(store: GraphStore, reads: Collection[BrokenRead]) -> None:
    """Print what reads columns that are not there, and where."""
    shown = list(reads)[:_MAX_HOLDERS]
    jobs = {job.key: job for job in store.jobs({one.job for one in shown})} if shown else {}
    sources = unique_sources(jobs.values())
    for one in shown:
        job, source = jobs.get(one.job), sources.get(one.job)
        line = f":{job.source_line}" if job is not None and job.source_line else ""
        note(f"{one} ({source}{line})" if source else str(one), "yellow")
    if len(reads) > _MAX_HOLDERS:
        note(f"… and {counted(len(reads) - _MAX_HOLDERS, 'more read')} of a column that is not there", "yellow")


def note_gone_sources(sources: Sequence[GoneSource]) -> None:
    """Print what the answer came from that is gone."""
    for one in sources[:_MAX_HOLDERS]:
        note(f"{one}; --as-of an earlier time shows it", "yellow")
    if len(sources) > _MAX_HOLDERS:
        note(f"… and {counted(len(sources) - _MAX_HOLDERS, 'more source')} that are gone", "yellow")


def note_former_holders(store: GraphStore, as_of: datetime | None, command: str, *asked: Target) -> None:
    """Print which tables had the names that are asked before: what they had to do with others is found under theirs."""
    what = _UNDER_FORMER_HOLDER.get(command)
    then = "" if as_of is None else f" --as-of {as_of.isoformat()}"
    for start in asked:
        name = "this name" if len(asked) == 1 else f"the name of {start.name}"
        holders = former_holders(store, [start], as_of)
        names = store.dataset_names({dataset_of(one.key) for one in holders}) if holders else {}
        for one in reversed(holders[-_MAX_HOLDERS:]):
            note(f"until {one.until_text}, {names[dataset_of(one.key)]} had {name}", "yellow")
            if what is not None:
                note(f"{what}: lineage {command} {shlex.quote(one.name)}{then}", "yellow")
        if len(holders) > _MAX_HOLDERS:
            note(f"… and {counted(len(holders) - _MAX_HOLDERS, 'table')} had it before", "yellow")


def note_namesakes(store: GraphStore, asked: Iterable[Target], reached: Iterable[str] = ()) -> None:
    """Print which tables have names that are the last parts of others: the answer may lack what uses the other name."""
    tables = namesakes(store, {*reached, *(one.dataset for one in asked)})
    for one in tables[:_MAX_HOLDERS]:
        note(
            f"{one.short_name} may be {one.name}, named in short: what uses one is not found under the other", "yellow"
        )
    if len(tables) > _MAX_HOLDERS:
        note(f"… and so may {counted(len(tables) - _MAX_HOLDERS, 'more table')}", "yellow")
    if tables:
        note("ingest what names tables in short again, with --default-database or --default-schema", "yellow")


def note_times(store: GraphStore, as_of: datetime | None, *asked: Target) -> None:
    """Print which of what was asked is dropped, or was not known yet at `as_of`: the answer would be misleading."""
    if as_of is None:
        _note_dropped(store, asked)
        note_retired(store, asked)
        return
    for dataset in store.datasets({target.dataset for target in asked}):
        if as_of < dataset.first_seen:
            since = f"{dataset.first_seen.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
            name = dataset.display_name
            note(f"the graph has nothing about {name} before {since}, when it was first seen", "yellow")


def _note_dropped(store: GraphStore, asked: Iterable[Target]) -> None:
    """Print which tables are dropped, and which columns a newer schema lacks: they have no lineage any more."""
    targets = list(asked)
    keys = sorted({target.key for target in targets if not target.is_table})
    ends = {one.key: one.dropped_at for one in store.columns_by_key(keys)} if keys else {}
    ends |= {one.key: one.dropped_at for one in store.datasets({target.dataset for target in targets})}
    for name, end in dict.fromkeys((one.name, ends.get(one.dataset) or ends.get(one.key)) for one in targets):
        if end is not None:
            at = f"{end.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
            note(f"{name} is gone since {at}; --as-of an earlier time shows its lineage", "yellow")


def note_retired(store: GraphStore, asked: Iterable[Target]) -> None:
    """Print which tables are there, but all that made them is retired: a file that was deleted, a model."""
    asked_keys = sorted({target.dataset for target in asked})
    there = {one.key: one.display_name for one in store.datasets(asked_keys) if one.dropped_at is None}
    writers = store.writers_of(there, tuple(JobKind)) if there else {}
    jobs = {job.key: job for job in store.jobs({one.job for listed in writers.values() for one in listed})}
    for key, listed in writers.items():
        ends = [one.until or jobs[one.job].retired_at for one in listed if one.job in jobs]
        known = [end for end in ends if end is not None]
        if known and len(known) == len(ends):
            at = f"{max(known).astimezone(UTC):%Y-%m-%d %H:%M} UTC"
            note(f"what made {there[key]} is retired since {at}; --as-of an earlier time shows it", "yellow")
