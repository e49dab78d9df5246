"""`lineage diff --as-of`: compare the graph at two times."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

import typer

from lineage.model.names import is_column_key
from lineage.screen.formats import OutputFormat, print_listing
from lineage.screen.layout import Look
from lineage.screen.listing import note, say
from lineage.store import open_store
from lineage.store.protocol import GraphStore
from lineage.store.values import StoredEdge
from lineage.traversal import Difference, difference, resolve_table
from lineage.traversal.lookup import names_of

__all__ = ["print_graph_diff"]

_ROW = ("change", "what", "name", "from", "how", "when", "job")
_LOOK = Look(
    names=("name", "from"),
    words=("how",),
    cuts=("name",),
    phrases={"from": "← {}", "how": "{}", "when": "at {}", "job": "by {}"},
    styles={"name": "bold"},
)


def print_graph_diff(
    as_of: list[datetime],
    table: str | None,
    store: str | None,
    limit: int,
    rows: int,
    output: OutputFormat,
) -> None:
    """Print what changed in the graph between two times, or between one and now.

    Raises:
        typer.BadParameter: more than two times are given, or in the wrong order.
        StoreError: the store could not be read.
    """
    since, until = _two_times(as_of)
    with open_store(store, read_only=True) as opened:
        target = resolve_table(opened, table) if table else None
        changes = difference(opened, since, until, target, limit=limit)
        listed = _rows(opened, changes)
    if output.is_for_people:
        say(_headline(changes, target.name if target else None))
    shown = listed[: rows or None] if output.is_for_people else listed
    print_listing(_ROW, shown, output, _LOOK, values=changes.to_dict)
    if len(shown) < len(listed):
        note(f"… and {len(listed) - len(shown):,} more; --rows 0 shows all")
    if changes.truncated:
        note(f"incomplete: more than {limit:,} edges differ; compare more with --limit", "yellow")


def _two_times(given: list[datetime]) -> tuple[datetime, datetime]:
    times = [at.replace(tzinfo=UTC) if at.tzinfo is None else at for at in given]
    if len(times) > 2:
        raise typer.BadParameter(f"give one or two times, not {len(times)}", param_hint="--as-of")
    since, until = times if len(times) > 1 else (*times, datetime.now(UTC))
    if since > until:
        raise typer.BadParameter(f"{since} is after {until}: give the earlier time first", param_hint="--as-of")
    return since, until


def _headline(changes: Difference, table: str | None) -> str:
    counts = []
    edges = [one for one in changes.edges if is_column_key(one.edge.source)]  # as an ingest counts them
    rows = [one for one in changes.edges if not is_column_key(one.edge.source)]
    differences = (("table", changes.datasets), ("column", changes.columns), ("edge", edges), ("row edge", rows))
    for what, differing in differences:
        sorts = Counter(str(one.sort) for one in differing)
        if sorts:
            listed = ", ".join(f"{count:,} {sort}" for sort, count in sorts.items())
            counts.append(f"{what}s: {listed}")
    span = f"{changes.since:%Y-%m-%d %H:%M:%S} to {changes.until:%Y-%m-%d %H:%M:%S} UTC"
    of = f" of {table}" if table else ""
    return f"{span}{of}: {'; '.join(counts) or 'nothing differs'}"


def _rows(store: GraphStore, changes: Difference) -> list[tuple[object, ...]]:
    names = names_of(store, {key for one in changes.edges for key in (one.edge.source, one.edge.target)})
    rows: list[tuple[object, ...]] = []
    for what, nodes in (("table", changes.datasets), ("column", changes.columns)):
        for node in nodes:
            at = f"{node.at.astimezone(UTC):%Y-%m-%d %H:%M:%S}" if node.at else None
            kind = node.kind if what == "table" else "column"
            rows.append((node.sort, kind, node.name, node.earlier, None, at, None))
    for change in changes.edges:
        how = _how(change.after or change.before)
        before = f" (was {_how(change.before)})" if change.before is not None and change.after is not None else ""
        ends = (names[change.edge.target], names[change.edge.source])
        rows.append((change.sort, "edge", *ends, f"{change.edge.kind} {how}{before}", None, change.edge.job))
    return rows


def _how(edge: StoredEdge | None) -> str:
    if edge is None:
        return ""
    flags = [name for name in ("masking", "limited", "ambiguous") if getattr(edge, name)]
    subtypes = (f"{one} masking" if one in edge.partly_masking else str(one) for one in edge.subtypes)
    return ", ".join([*subtypes, *flags])
