"""Any table of statements: the user maps its columns to the fields of the log schema.

Columns with the name of a field of the log schema are used as that field; the mapping adds to this or overrides it.
Status values of other sources are recognized; so are the codes of a column whose name says that it holds errors
(`RETURN_CODE`, `ErrorCode`) or successes. A row without a status is a success; one of an unknown status is not used.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lineage.model.dialects import DIALECTS
from lineage_ingest.query_log.log_schema import Problem, Status
from lineage_ingest.query_log.sources.source import Source, SourceRows

__all__ = ["GENERIC", "MappingError", "validate_mapping"]

_TEXTS = ("statement_id", "parent_id", "user", "session", "default_database", "default_schema", "destination")
_COUNTS = ("position", "duration_us", "runs", "rows")
FIELDS = ("query_text", "started_at", *_TEXTS, *_COUNTS, "duration_ms", "duration_s", "dialect", "status", "truncated")

_WORDS = {
    Status.SUCCESS: "success successful succeeded succeed ok finished finish done completed complete committed passed "
    "true t yes y",
    Status.FAILED: "failed fail failure error errored exception rejected invalid incident false f no n",
    Status.CANCELED: "canceled cancelled aborted abort killed stopped terminated interrupted rolledback timeout "
    "timedout",
    Status.RUNNING: "running queued pending started executing planning",
    Status.UNKNOWN: "unknown",
}
_STATUSES = {word: status for status, words in _WORDS.items() for word in words.split()}
_OF_ERRORS = r"(?i)err|fail|exception|code|sqlstate|return|exit|fault|(?:^|_)rc(?:_|$)"
"""Matches names of columns that hold an error, a code or a message: without one, the statement succeeded."""
_OF_SUCCESS = r"(?i)succe|(?:^|_)(?:is_)?ok$|passed|completed"
"""Matches names of columns in which 1 is success and 0 is failure; in any other, neither is known to be."""
_NO_ERROR = frozenset(("0", "00000", "ora-0", "ora-00000", "none", "null", "no error"))
_ERROR = r"^(?:ora|sqlcode|sqlstate|sql|pls|tns|error|err)[-: ]*-?[0-9a-z]{1,5}\b"
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
    fields["status"] = _status(log, column["status"]) if "status" in column else str(Status.SUCCESS)
    text = column.get("query_text", "query_text")
    return log.batch(query_text=log.statement(text), **fields)


def _status(log: SourceRows, column: str) -> Any:
    """Return each row's status, by its word, or by what the name of the column says of a code."""
    said = pc.replace_substring_regex(pc.utf8_lower(log.trimmed(column)), r"^(-?[0-9]+)\.0+$", r"\1")
    meanings = dict(_STATUSES)
    otherwise = pa.scalar(None, pa.string())
    if re.search(_OF_ERRORS, column):
        meanings |= dict.fromkeys(("false", "f", "no", "n", *_NO_ERROR), Status.SUCCESS)
        meanings |= dict.fromkeys(("true", "t", "yes", "y"), Status.FAILED)
        otherwise = pa.scalar(str(Status.FAILED))
    elif re.search(_OF_SUCCESS, column):
        meanings |= {"1": Status.SUCCESS, "0": Status.FAILED}
    meanings |= dict(log.source.statuses)
    words = pc.if_else(pc.is_in(said, pa.array(meanings)), said, pc.replace_substring_regex(said, r"[\s_-]+", ""))
    named = pc.take(pa.array(list(map(str, meanings.values()))), pc.index_in(words, pa.array(meanings)))
    failed = pc.if_else(pc.match_substring_regex(said, _ERROR), str(Status.FAILED), otherwise)
    status = pc.coalesce(named, failed, pc.if_else(pc.is_null(said), str(Status.SUCCESS), otherwise))
    log.note_unknown_status(pc.if_else(pc.is_null(status), said, pa.scalar(None, pa.string())))
    return status


GENERIC = Source(
    name="generic",
    title="Any table of statements",
    dialect="ansi",
    columns=FIELDS,
    needed=("query_text",),
    convert=_convert,
    mapping=tuple((name, name) for name in FIELDS),
)
