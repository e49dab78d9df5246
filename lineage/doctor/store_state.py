"""Whether a store is whole, and whether it knows what its answers need."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

from lineage.doctor.finding import Finding, Health
from lineage.doctor.shared_names import examine_names
from lineage.model.batch import UNFINISHED
from lineage.model.diagnostics import Severity
from lineage.store import open_store
from lineage.store.errors import StoreError
from lineage.store.moving import miscounted
from lineage.store.page_requests import DiagnosticFilter, PageRequest
from lineage.store.protocol import GraphStore
from lineage.store.sqlite import maintenance
from lineage.store.values import StoredRun

__all__ = ["VERIFIED_AT_ONCE", "examine_store"]

VERIFIED_AT_ONCE = 500_000_000
"""Bytes of a file of which every page is read here: a few seconds. Larger ones wait for `lineage store verify`."""

_LARGE_LOG = 256_000_000
_RESOLVED = 0.9
"""Share of statements below which a source is worth a look."""

_RUNS = 10_000

Progress = Callable[[str, int, int | None], None]


def examine_store(address: str, now: datetime, stale: timedelta, progress: Progress) -> Iterator[Finding]:
    """Yield what there is to say of a store; if it cannot be opened, that alone.

    Args:
        address: a path, or the address of a server.
        now: the time of the examination (UTC).
        stale: how old the latest ingest of a source may be.
        progress: called while pages are read.
    """
    is_file = "://" not in address
    path = Path(address).expanduser()
    if is_file and not path.exists():
        hint = "ingest something (`lineage demo` shows how), or name it: --store"
        yield Finding(Health.PROBLEM, "store", f"there is no {address}", hint)
        return
    if is_file:
        yield from _file(path)
    try:
        with open_store(address, read_only=True) as store:
            yield from _ingests(store, now, stale)
            yield from examine_names(store)
            yield from _errors(store)
    except StoreError as error:
        yield Finding(Health.PROBLEM, "store", f"{address}: {error}", error.hint)
        return
    yield from _contents(address, path if is_file else None, progress)


def _file(path: Path) -> Iterator[Finding]:
    size, free = path.stat().st_size, shutil.disk_usage(path.resolve().parent).free
    if free < max(2 * size, 500_000_000):
        message = f"{free / 1e6:,.0f} MB are free beside a store of {size / 1e6:,.0f} MB"
        yield Finding(Health.WARNING, "disk", message, "an ingest, a backup and `store compact` need as much again")
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and (length := log.stat().st_size) > _LARGE_LOG:
        message = f"the log beside the store has {length / 1e6:,.0f} MB"
        yield Finding(
            Health.WARNING, "disk", message, "a process reads the store without end; it shrinks once that ends"
        )


def _ingests(store: GraphStore, now: datetime, stale: timedelta) -> Iterator[Finding]:
    """What was interrupted, what has not come for long, what was hardly resolved, and whether a log is among it."""
    latest = _latest_of_sources(store)
    if not latest:
        yield Finding(Health.PROBLEM, "ingests", "nothing has been ingested", "see `lineage ingest --help`")
        return
    for run in latest:
        name = f"{run.kind} {run.source}".strip()
        if UNFINISHED in run.counts:
            message = f"the ingest of {name} at {run.last_seen:%Y-%m-%d %H:%M} is in progress, or was interrupted"
            yield Finding(Health.PROBLEM, "ingests", message, "ingest the same input again: that completes it")
        elif now - run.last_seen > stale:
            days = (now - run.last_seen).days
            message = f"{name}: the latest ingest is {days} days old"
            yield Finding(Health.WARNING, "ingests", message, "ingest it again, or `lineage forget` what is gone")
        read, resolved = run.counts.get("statements", 0), run.counts.get("resolved", 0)
        if read and resolved < read * _RESOLVED:
            message = f"{name}: {resolved:,} of {read:,} statements are fully resolved"
            yield Finding(Health.WARNING, "ingests", message, "`lineage diagnostics` says why the others are not")
    if not any(run.kind == "log" for run in latest):
        message = "no query log was ingested: who reads what, and what is unused, is not known"
        yield Finding(Health.WARNING, "ingests", message, "see `lineage ingest log --help`")
    newest = max(run.last_seen for run in latest)
    sources = "1 source" if len(latest) == 1 else f"{len(latest):,} sources"
    among = f" among the latest {_RUNS:,} ingests" if store.count_runs() > _RUNS else ""
    yield Finding(Health.OK, "ingests", f"{sources}{among}, the latest at {newest:%Y-%m-%d %H:%M}")


def _latest_of_sources(store: GraphStore) -> list[StoredRun]:
    """Return the latest ingest of each source, the one that is oldest first."""
    latest: dict[tuple[str, str], StoredRun] = {}
    for run in store.runs(_RUNS):
        if run.counts:
            latest.setdefault((run.kind, run.source), run)
    return sorted(latest.values(), key=lambda run: run.last_seen)


def _errors(store: GraphStore) -> Iterator[Finding]:
    wanted = DiagnosticFilter(severities=(Severity.ERROR,))
    if not (number := store.count_diagnostics(wanted)):
        yield Finding(Health.OK, "diagnostics", "no errors")
        return
    codes = Counter(str(one.diagnostic.code) for one in store.page_of_diagnostics(PageRequest(1_000), wanted))
    most = ", ".join(f"{code} {count:,}" for code, count in codes.most_common(3))
    of = "" if number <= 1_000 else "of the first 1,000 "
    message = f"{number:,} errors: what these statements do is not known ({of}{most})"
    yield Finding(Health.WARNING, "diagnostics", message, "`lineage diagnostics --severity error` lists them")


def _contents(address: str, path: Path | None, progress: Progress) -> Iterator[Finding]:
    if path is not None and path.stat().st_size > VERIFIED_AT_ONCE:
        message = f"{address} has {path.stat().st_size / 1e6:,.0f} MB: its pages were not read"
        yield Finding(Health.WARNING, "store", message, "`lineage store verify` reads all of them")
        return
    if path is None and address.startswith("http"):
        yield Finding(Health.OK, "store", f"{address} answers")
        return
    try:
        damage = maintenance.find_damage(path) if path is not None else []
        held, wrong = miscounted(address, progress)
    except StoreError as error:
        yield Finding(Health.PROBLEM, "store", f"{address}: {error}", error.hint)
        return
    hint = "restore a backup (`lineage store restore`), or ingest again into a new store"
    yield from (Finding(Health.PROBLEM, "store", one, hint) for one in damage + wrong)
    if not damage and not wrong:
        yield Finding(
            Health.OK,
            "store",
            f"{address}: whole; {held.tables:,} tables, {held.columns:,} columns, {held.edges:,} edges",
        )
