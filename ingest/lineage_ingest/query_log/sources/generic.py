"""Any table of statements: the user maps its columns to the fields of the log schema.

Columns with the name of a field of the log schema are used as that field; the mapping adds to this or overrides it.
Status values of other sources are recognized. A row without a status is a success.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lineage.model.dialects import DIALECTS
from lineage_ingest.query_log.log_schema import Problem, Status
from lineage_ingest.query_log.sources.source import Source, SourceRows, status_of

__all__ = ["GENERIC", "MappingError", "validate_mapping"]

_TEXTS = ("statement_id", "parent_id", "user", "session", "default_database", "default_schema", "destination")
_COUNTS = ("position", "duration_us", "runs", "rows")
FIELDS = ("query_text", "started_at", *_TEXTS, *_COUNTS, "duration_ms", "duration_s", "dialect", "status", "truncated")

_STATUS = {
    **dict.fromkeys(("success", "succeeded", "ok", "finished", "done", "completed", "true", "1"), Status.SUCCESS),
    **dict.fromkeys(("failed", "fail", "failure", "error", "false", "0"), Status.FAILED),
    **dict.fromkeys(("canceled", "cancelled", "aborted", "killed"), Status.CANCELED),
    **dict.fromkeys(("running", "queued", "pending", "started"), Status.RUNNING),
    "unknown": Status.UNKNOWN,
}
_DIALECTS = {
    alias: dialect.name for dialect in DIALECTS.values() for alias in (dialect.name, *dialect.aliases) if alias
}


class MappingError(ValueError):
    """A mapping names a field that the log schema does not have."""


def validate_mapping(mapping: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return a validated mapping of fields to columns.

    >>> validate_mapping({"query_txt": "sql"})
    Traceback (most recent call last):
    ...
    lineage_ingest.query_log.sources.generic.MappingError: no field 'query_txt'; did you mean 'query_text'?

    Raises:
        MappingError: a field is not in the log schema.
    """
    for name in mapping:
        if name not in FIELDS:
            near = difflib.get_close_matches(name, FIELDS, n=1)
            raise MappingError(
                f"no field {name!r}; " + (f"did you mean {near[0]!r}?" if near else f"known are {', '.join(FIELDS)}")
            )
    return tuple(mapping.items())


def _convert(log: SourceRows) -> Any:
    # Fields whose column is missing are treated as not mapped.
    column = {name: given for name, given in log.source.mapping if log.has(given)}
    fields: dict[str, Any] = {name: log.text(column[name]) for name in _TEXTS if name in column}
    fields |= {name: log.count(column[name]) for name in _COUNTS if name in column}
    for name, scale in (("duration_ms", 1_000), ("duration_s", 1_000_000)):
        if name in column:
            fields["duration_us"] = log.count(column[name], scale=scale)
    if "started_at" in column:
        fields["started_at"] = log.time(column["started_at"])
    if "truncated" in column:
        fields["truncated"] = log.flag(column["truncated"])
    if "dialect" in column:
        given = pc.utf8_lower(log.trimmed(column["dialect"]))
        known = pc.take(pa.array(list(_DIALECTS.values())), pc.index_in(given, pa.array(list(_DIALECTS))))
        log.note(Problem.UNKNOWN_DIALECT, pc.and_(pc.is_valid(given), pc.is_null(known)))
        fallback = pa.repeat(pa.scalar(log.source.dialect, pa.string()), log.rows)
        fields["dialect"] = pc.if_else(pc.is_null(given), fallback, known)
    if "status" in column:
        said = log.trimmed(column["status"])
        fields["status"] = pc.if_else(pc.is_null(said), str(Status.SUCCESS), status_of(said, _STATUS))
    else:
        fields["status"] = str(Status.SUCCESS)
    text = column.get("query_text", "query_text")
    return log.batch(query_text=log.statement(text), **fields)


GENERIC = Source(
    name="generic",
    title="Any table of statements",
    dialect="ansi",
    columns=FIELDS,
    needed=("query_text",),
    convert=_convert,
    mapping=tuple((name, name) for name in FIELDS),
)
