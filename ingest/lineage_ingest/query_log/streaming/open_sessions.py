"""The session state that a stream keeps between micro-batches: temporary tables, and defaults set by USE and SET.

The statements that created this state are kept, masked, as log rows with zero runs. When a session continues, they are
read before its new rows: they resolve names, but produce no lineage and are not counted.

Two cases are not tracked across micro-batches, because their writes are already stored: a transaction that is rolled
back in a later micro-batch, and a permanent table that is dropped in a later micro-batch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from lineage.model.names import split_name
from lineage_ingest.query_log.log_schema import LOG_SCHEMA
from lineage_ingest.query_log.pipeline.fingerprinting import fingerprint_rows
from lineage_ingest.query_log.pipeline.sessions.runs_in_order import in_order
from lineage_ingest.query_log.pipeline.sessions.session_effects import SessionEffects
from lineage_ingest.query_log.pipeline.unit_summaries import UnitSummary
from lineage_ingest.query_log.streaming.session_masking import mask_session_statement

__all__ = ["EMPTY", "continued", "names", "open_after", "opening", "statements"]

_MAX_SESSIONS = 10_000
_MAX_STATEMENTS = 100
_IDLE = timedelta(hours=24)
_FIRST = -1_000_000
"""First position of kept statements: they precede all others if the log has no times."""

EMPTY = LOG_SCHEMA.append(pa.field("seen", pa.timestamp("us", "UTC"))).empty_table()
"""No open sessions. Such a table has the log schema and `seen`, the time at which the session last occurred."""
_NUMBERED = LOG_SCHEMA.append(pa.field("template", pa.int64()))


class Opening(NamedTuple):
    """The session effects of a template, and the unqualified names of the tables that it adds rows to."""

    effects: SessionEffects
    fills: frozenset[str]


def names(table: Any) -> frozenset[str]:
    """Return the ids of the open sessions."""
    return frozenset(table["session"].unique().to_pylist())


def continued(table: Any, sessions: Iterable[str]) -> list[Any]:
    """Return the kept statements of these sessions, as batches of the log schema."""
    own = table.filter(pc.is_in(table["session"], value_set=pa.array(sorted(sessions), pa.string())))
    return list(own.select(LOG_SCHEMA.names).combine_chunks().to_batches())


def opening(templates: Iterable[UnitSummary]) -> dict[int, Opening]:
    """Return the templates that affect later statements: they create, fill or drop temporary tables, or set defaults.

    `templates` are all templates that ran.
    """
    listed = list(templates)
    temporary = {name for summary in listed for name in summary.session.temporary}
    found: dict[int, Opening] = {}
    for summary in listed:
        own = summary.session
        fills = frozenset(split_name(name)[-1][0] for name in summary.fills) & temporary if own.writes else frozenset()
        drops = temporary.intersection(own.drops)
        sets = own.database or own.schema or own.search_path or own.resets
        if own.temporary or sets or drops or fills:
            found[summary.key] = Opening(own, fills)
    return found


def statements(batches: Iterable[Any], keys: Iterable[int]) -> Iterator[Any]:
    """Yield the rows of these templates from batches of the log schema, each with its template's key."""
    wanted = pa.array(sorted(keys), pa.int64())
    held: deque[Any] = deque()

    def remember() -> Iterator[Any]:
        for batch in batches:
            if batch.num_rows:
                held.append(batch)
                yield batch

    for runs in fingerprint_rows(remember()):
        batch, template = held.popleft(), runs.column("template")
        numbered = pa.RecordBatch.from_arrays([*batch.columns, template], schema=_NUMBERED)
        inside = pc.and_(pc.is_in(template, value_set=wanted), pc.is_valid(batch.column("session")))
        own = numbered.filter(inside)
        if own.num_rows:
            yield own


def open_after(
    before: Any, there: Iterable[str], found: Iterable[Any], templates: Mapping[int, Opening], at: datetime
) -> Any:
    """Return the open sessions after a micro-batch.

    Args:
        before: open sessions before the micro-batch.
        there: those that occur in the micro-batch.
        found: batches from `statements` for the micro-batch, including the kept statements of continued sessions.
        templates: result of `opening`.
        at: time at which the micro-batch was read.
    """
    gone = pc.is_in(before["session"], value_set=pa.array(sorted(there), pa.string()))
    rested = pc.less(before["seen"], pa.scalar(at - _IDLE, pa.timestamp("us", "UTC")))
    left = before.filter(pc.invert(pc.or_(gone, rested)))
    together = in_order(pa.Table.from_batches(list(found), schema=_NUMBERED))
    ran: dict[str, list[int]] = {}
    for index, session in enumerate(together["session"].to_pylist()):
        ran.setdefault(session, []).append(index)
    numbers = together["template"].to_pylist()
    kept: list[int] = []
    positions: list[int] = []
    for indexes in ran.values():
        own = _kept_indexes([numbers[index] for index in indexes], templates)
        kept.extend(indexes[one] for one in own)
        positions.extend(range(_FIRST, _FIRST + len(own)))
    rows = together.take(pa.array(kept, pa.int64())).drop_columns(["template"])
    texts = zip(rows["query_text"].to_pylist(), rows["dialect"].to_pylist(), strict=True)
    nothing = {
        # A checkpoint outlives the session: it must not contain literals.
        "query_text": pa.array([_mask(text, dialect) for text, dialect in texts], pa.string()),
        "position": pa.array(positions, pa.int64()),
        "runs": pa.array([0] * len(kept), pa.int64()),
        "duration_us": pa.nulls(len(kept), pa.int64()),
        "user": pa.nulls(len(kept), pa.string()),
        "seen": pa.array([at] * len(kept), pa.timestamp("us", "UTC")),
    }
    for name, values in nothing.items():
        index = rows.schema.get_field_index(name)
        rows = rows.append_column(name, values) if index < 0 else rows.set_column(index, name, values)
    return _latest(pa.concat_tables([rows.cast(EMPTY.schema), left]))


def _mask(text: str | None, dialect: str | None) -> str | None:
    return text and mask_session_statement(text, dialect or "ansi")


def _kept_indexes(ran: list[int], templates: Mapping[int, Opening]) -> list[int]:
    """Return the indexes of the session's statements that created its final state, in order."""
    tables: dict[str, dict[int, None]] = {}
    filled: dict[str, set[int]] = {}
    defaults: dict[str, int] = {}
    for index, number in enumerate(ran):
        effects, fills = templates[number]
        fresh = set(effects.temporary)
        needed = {index: None}
        for name in effects.tables:
            if name not in fresh:
                needed.update(tables.get(name, {}))
        for name in effects.drops:
            tables.pop(name, None)
        for name in fresh:
            tables[name] = dict(needed)
            filled[name] = set()
        for name in fills - fresh:
            if name in tables and number not in filled[name]:  # repeating a statement adds no lineage
                filled[name].add(number)
                tables[name].update(needed)
        if effects.database:
            defaults["database"] = index
        if effects.resets:
            defaults.pop("schema", None)
        elif (effects.schema or effects.search_path) and not effects.is_local:
            defaults["schema"] = index
    kept = {*defaults.values(), *(index for indexes in tables.values() for index in indexes)}
    return sorted(kept) if len(kept) <= _MAX_STATEMENTS else []


def _latest(table: Any) -> Any:
    """Return the most recently seen sessions, at most `_MAX_SESSIONS`."""
    sessions = table.group_by("session").aggregate([("seen", "max")])
    if sessions.num_rows <= _MAX_SESSIONS:
        return table
    order = sessions.sort_by([("seen_max", "descending"), ("session", "ascending")]).slice(0, _MAX_SESSIONS)
    return table.filter(pc.is_in(table["session"], value_set=order["session"].combine_chunks()))
