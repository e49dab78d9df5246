r"""Redshift's SYS_QUERY_HISTORY, with full texts from SYS_QUERY_TEXT.

https://docs.aws.amazon.com/redshift/latest/dg/SYS_QUERY_HISTORY.html
https://docs.aws.amazon.com/redshift/latest/dg/SYS_QUERY_TEXT.html
https://docs.aws.amazon.com/redshift/latest/dg/r_STL_QUERY.html
https://docs.aws.amazon.com/redshift/latest/dg/r_STL_QUERYTEXT.html
https://docs.aws.amazon.com/redshift/latest/dg/r_UNLOAD.html

The query over JDBC joins the views, one row per text piece; exported files of both can also be read together. The same
applies to STL_QUERY and STL_QUERYTEXT, whose columns have other names. UNLOAD by default writes no header or quotes.

Traps:
- A text is split into pieces of 4,000 bytes (200 in the STL views), numbered by `sequence` from 0, in any order.
- The pieces are fixed-width columns, and most exports drop trailing spaces. All pieces but the last are padded again;
  otherwise words would run together.
- STL_QUERY's `querytxt` is also padded with spaces: trailing spaces are not part of the text.
- In texts, a line break is the two characters `\n`, and a backslash is doubled.
- `query_text` of SYS_QUERY_HISTORY is cut at 4,000 bytes; without its trailing spaces a cut text is slightly shorter. A
  text with a missing piece is also marked as truncated.
- STL_QUERY has no DDL and no failure status; `aborted` is 1 if the query was stopped.
- Redshift logs internal work as statements, `Undoing 1 transactions on table 105 with current xid 9`; they are skipped.
- Users are ids; the query over JDBC adds their names. Text columns are padded with spaces. `elapsed_time` is in
  microseconds, and times are in UTC.
"""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lineage_ingest.query_log.log_schema import Status
from lineage_ingest.query_log.reading import coercion
from lineage_ingest.query_log.sources.first_values import merged
from lineage_ingest.query_log.sources.postgres.postgres_transactions import find_rollbacks, is_row
from lineage_ingest.query_log.sources.runs import starts
from lineage_ingest.query_log.sources.source import Assembly, Layout, Reading, Source, SourceRows, selecting

__all__ = ["REDSHIFT"]

_WIDE, _NARROW = 4_000, 200
_INDENT = 40
"""Maximum number of trailing spaces at the cut of a text; they are stripped with the padding."""
_HISTORY = (
    "user_id", "query_id", "session_id", "database_name", "status", "start_time", "elapsed_time", "returned_rows",
    "query_text",
)  # fmt: skip
_ALIASES = (
    ("query", "query_id"), ("querytxt", "query_text"), ("userid", "user_id"), ("pid", "session_id"),
    ("database", "database_name"), ("starttime", "start_time"), ("endtime", "end_time"), ("usename", "user_name"),
)  # fmt: skip
_NUMBER, _MOMENT, _ANY = r"\d+", r"\d{4}-\d\d-\d\d[ T]\d\d:.*", r"(?s:.*)"
_LAYOUTS = (
    Layout(  # STL_QUERYTEXT
        ("user_id", "", "session_id", "query_id", "sequence", "text"),
        (("user_id", _NUMBER), ("session_id", _NUMBER), ("query_id", _NUMBER), ("sequence", _NUMBER), ("text", _ANY)),
    ),
    Layout(  # SYS_QUERY_TEXT
        ("user_id", "query_id", "", "session_id", "start_time", "sequence", "text"),
        (("user_id", _NUMBER), ("query_id", _NUMBER), ("start_time", _MOMENT), ("sequence", _NUMBER), ("text", _ANY)),
    ),
    Layout(  # STL_QUERY
        (
            *("user_id", "query_id", "", "", "session_id", "database_name", "query_text"),
            *("start_time", "end_time", "aborted"),
        ),
        (
            ("user_id", _NUMBER),
            ("query_id", _NUMBER),
            ("start_time", _MOMENT),
            ("end_time", _MOMENT),
            ("aborted", "[01]"),
        ),
    ),
    Layout(  # SYS_QUERY_HISTORY
        (
            *("user_id", "query_id", "", "", "session_id", "database_name", "", "status", "", "start_time", "end_time"),
            *("elapsed_time", "", "", "", "returned_rows", "", "query_text"),
        ),
        (("user_id", _NUMBER), ("query_id", _NUMBER), ("start_time", _MOMENT), ("elapsed_time", _NUMBER)),
    ),
)
_OF_SESSION = frozenset(("session_id", "query_text", "status", "aborted", "pieces"))
_PIECES = "pieces"
"""Added by `assemble`: the full text; `incomplete` is true if a piece of it is missing."""
_INCOMPLETE = "incomplete"
_STATUS = {
    "success": Status.SUCCESS,
    "failed": Status.FAILED,
    "canceled": Status.CANCELED,
    **dict.fromkeys(("planning", "queued", "running", "returning"), Status.RUNNING),
}
_OWN = r"(?i)^undoing (?:\d+ )?transactions? on table \d+\b"
_ESCAPED = re.compile(r"\\(n|r|t|\\)")
_MEANT = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\"}


def _convert(every: SourceRows) -> Any:
    own = pc.or_kleene(*(pc.match_substring_regex(every.trimmed(name), _OWN) for name in ("query_text", _PIECES)))
    log = every.where(pc.invert(pc.fill_null(own, False)))
    whole, head, piece = log.statement(_PIECES), log.statement("query_text"), log.statement("text")
    raw = pc.utf8_rtrim_whitespace(pc.coalesce(whole, head, piece))
    text = _unescape(raw)
    # Without assembly each row is one piece: the first is a statement that may continue, a later one is no statement.
    cut_head = pc.and_(pc.is_null(whole), pc.greater_equal(pc.binary_length(raw), _WIDE - _INDENT))
    missing = log.flag(_INCOMPLETE)
    started, ended, stopped = log.time("start_time"), log.time("end_time"), log.flag("aborted")
    took = pc.subtract(ended.cast(pa.int64()), started.cast(pa.int64()))
    by_flag = pc.if_else(stopped, str(Status.CANCELED), str(Status.SUCCESS))  # null if the row is not from STL_QUERY
    status = pc.coalesce(log.status("status"), by_flag)
    return log.batch(
        query_text=text,
        statement_id=log.trimmed("query_id"),
        started_at=started,
        duration_us=pc.coalesce(log.count("elapsed_time"), took),
        user=log.trimmed("user_name", "user_id"),
        session=log.trimmed("session_id"),
        position=log.count("query_id"),
        default_database=log.trimmed("database_name"),
        status=pc.fill_null(status, str(Status.UNKNOWN)),
        rows=log.count("returned_rows"),
        truncated=pc.or_(pc.fill_null(cut_head, False), pc.fill_null(missing, False)),
    )


def _unescape(texts: Any) -> Any:
    doubled = pc.fill_null(pc.match_substring(texts, "\\\\"), False)
    plain = texts
    for letter, meant in (("n", "\n"), ("r", "\r"), ("t", "\t")):
        plain = pc.replace_substring(plain, f"\\{letter}", meant)
    if not pc.any(doubled, min_count=0).as_py():
        return plain
    # `\\n` is a backslash and the letter n: texts with doubled backslashes are unescaped from left to right.
    read = [_ESCAPED.sub(lambda m: _MEANT[m[1]], text) for text in texts.filter(doubled).to_pylist()]
    return pc.replace_with_mask(plain, doubled, pa.array(read, pa.string()))


def _assemble(table: Any) -> Any:
    """Return one row per query, with its text pieces joined in order."""
    names = {name.lower(): name for name in table.column_names}
    if not {"query_id", "sequence", "text"} <= names.keys():
        return _with_rollbacks(merged(table, names["query_id"]) if "query_id" in names else table)
    keys = _flat(coercion.trimmed(table.column(names["query_id"]).combine_chunks()))
    numbers = coercion.count_of(table.column(names["sequence"]).combine_chunks())
    texts = coercion.texts(table.column(names["text"]).combine_chunks())
    others = table.drop_columns([names["sequence"], names["text"], names["query_id"]]).append_column("query_id", keys)
    is_piece = pc.and_(pc.and_(pc.is_valid(keys), pc.is_valid(numbers)), pc.is_valid(texts))
    pieces = pa.table({"key": keys, "number": numbers, "text": texts}).filter(is_piece)
    joined = _join_pieces(pieces)
    runs = merged(others, "query_id")
    indexes = pc.index_in(runs.column("query_id").combine_chunks(), joined.column("key").combine_chunks())
    indexes = pc.if_else(pc.is_valid(runs.column("query_id").combine_chunks()), indexes, pa.scalar(None, pa.int32()))
    runs = runs.append_column(_PIECES, joined.column("text").combine_chunks().take(indexes))
    return _with_rollbacks(runs.append_column(_INCOMPLETE, joined.column("incomplete").combine_chunks().take(indexes)))


def _with_rollbacks(runs: Any) -> Any:
    """Return the runs of complete sessions, with each statement that ends a failed transaction replaced by ROLLBACK."""
    names = {name.lower(): name for name in runs.column_names}
    if not {"session_id", "query_id", "query_text"} <= names.keys():
        return runs
    column = {name: coercion.texts(_flat(runs.column(names[name]))) for name in _OF_SESSION if name in names}
    nowhere = pa.nulls(runs.num_rows, pa.string())
    failed = pc.is_in(pc.utf8_lower(column.get("status", nowhere)), pa.array(["failed", "canceled", "aborted"]))
    failed = pc.or_(failed, pc.is_in(column.get("aborted", nowhere), pa.array(["1", "true", "t"])))
    if not pc.any(failed, min_count=0).as_py():
        return runs
    number = coercion.count_of(_flat(runs.column(names["query_id"])))
    placed = pa.table({"session": column["session_id"], "number": number})
    order = pc.sort_indices(placed, [("session", "ascending"), ("number", "ascending")])
    session = column["session_id"].take(order)
    sql = pc.coalesce(column.get(_PIECES, nowhere), column["query_text"])
    sql = pc.if_else(pc.is_valid(session), sql.take(order), pa.scalar(None, pa.string()))
    none = pa.repeat(pa.scalar(False), len(sql))
    undone = order.take(pa.array(find_rollbacks(sql, failed.take(order), none, starts(session)), pa.int64()))
    is_undone = is_row(undone.to_pylist(), runs.num_rows)
    changes = {"query_text": "ROLLBACK", _PIECES: "ROLLBACK", "status": "success", "aborted": "0"}
    for name, value in changes.items():
        if name in names:
            place, own = runs.column_names.index(names[name]), _flat(runs.column(names[name]))
            text = pc.if_else(is_undone, value, coercion.texts(own))
            runs = runs.set_column(place, names[name], text)
    return runs


def _join_pieces(pieces: Any) -> Any:
    """Return the joined text of each key, and whether one of its pieces is missing."""
    pieces = pieces.group_by(["key", "number"], use_threads=False).aggregate(
        [("text", "first")]
    )  # a piece may have been read twice
    pieces = pieces.sort_by([("key", "ascending"), ("number", "ascending")]).combine_chunks()
    keys, numbers, texts = (_flat(pieces.column(name)) for name in ("key", "number", "text_first"))
    if not len(keys):
        return pa.table(
            {
                "key": pa.array([], pa.string()),
                "text": pa.array([], pa.string()),
                "incomplete": pa.array([], pa.bool_()),
            }
        )
    ends = pc.fill_null(pc.not_equal(keys, _shift(keys)), True)
    length = pc.binary_length(texts)
    width = pc.if_else(pc.less_equal(length, _NARROW), _NARROW, _WIDE)
    lost = pc.max_element_wise(pc.subtract(width, length), 0)
    filled = pc.binary_join_element_wise(texts, pc.binary_repeat(" ", pc.if_else(ends, 0, lost)), "")
    last = pc.indices_nonzero(ends).cast(pa.int32())
    offsets = pa.concat_arrays([pa.array([0], pa.int32()), pc.add(last, 1).cast(pa.int32())])
    counts = pc.subtract(offsets.slice(1), offsets.slice(0, len(offsets) - 1)).cast(pa.int64())
    whole = pc.binary_join(pa.ListArray.from_arrays(offsets, filled), "")
    gap = pc.not_equal(pc.add(numbers.take(last), 1), counts)
    return pa.table({"key": keys.take(last), "text": whole, "incomplete": gap})


def _shift(values: Any) -> Any:
    """Return the values shifted by one row; the last is null."""
    return pa.concat_arrays([values.slice(1), pa.nulls(1, values.type)])


def _flat(column: Any) -> Any:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


REDSHIFT = Source(
    name="redshift",
    title="Redshift SYS_QUERY_HISTORY with SYS_QUERY_TEXT",
    dialect="redshift",
    columns=(*_HISTORY, "end_time", "aborted", "user_name", "sequence", "text"),
    needed=("query_text", "text"),
    convert=_convert,
    statuses=tuple(_STATUS.items()),
    known_by=(
        ("query_text", "elapsed_time"),
        ("query_text", "returned_rows"),
        ("query_text", "redshift_version"),
        ("query_id", "sequence", "text"),
        ("querytxt",),
        ("query", "sequence", "text"),
    ),
    reading=Reading(aliases=_ALIASES, layouts=_LAYOUTS),
    assembly=Assembly(by=("session_id",), order=("query_id", "sequence"), rows=_assemble),
    jdbc=selecting(
        (*(f"h.{name}" for name in _HISTORY), "u.usename AS user_name", "t.sequence", "t.text"),
        "FROM sys_query_history AS h LEFT JOIN sys_query_text AS t ON t.query_id = h.query_id "
        "LEFT JOIN pg_user AS u ON u.usesysid = h.user_id WHERE h.start_time >= '{since}'",
    ),
    documentation=(
        "https://docs.aws.amazon.com/redshift/latest/dg/SYS_QUERY_HISTORY.html",
        "https://docs.aws.amazon.com/redshift/latest/dg/SYS_QUERY_TEXT.html",
        "https://docs.aws.amazon.com/redshift/latest/dg/r_STL_QUERY.html",
        "https://docs.aws.amazon.com/redshift/latest/dg/r_STL_QUERYTEXT.html",
        "https://docs.aws.amazon.com/redshift/latest/dg/r_UNLOAD.html",
    ),
)
