"""CREATE with object kinds and clauses that sqlglot does not support."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot.tokenizer_core import TokenType

from lineage.sql.parse.object_types import attributes_of, type_named_by
from lineage.sql.parse.rewrites.statement import (
    NO_COLUMN,
    QUERY,
    Statement,
    Tokens,
    items,
    outside,
    plain_column,
    rewrite,
)

_TEMPORARY = frozenset(("TEMP", "TEMPORARY", "VOLATILE"))
_CREATED = frozenset(("TABLE", "VIEW", "TASK", "PIPE", "STREAM"))


@rewrite("CREATE")
def create_forms(s: Statement) -> Iterator[Tokens]:
    """CREATE of unsupported kinds, and without unsupported clauses that have no lineage."""
    words = s.words
    kind = next((at for at in range(1, min(len(words), 6)) if words[at] in _CREATED), None)
    if kind is None or "TYPE" in words[1:kind]:  # Oracle: CREATE TYPE list AS TABLE OF NUMBER
        return
    temporary = "TEMPORARY " if _TEMPORARY.intersection(words[1:kind]) else ""
    end = s.name(kind + 4 if s.matches("IF", "NOT", "EXISTS", at=kind + 1) else kind + 1)
    if words[kind] in ("TASK", "PIPE"):  # Snowflake: the statement that they run
        begin = s.find("AS", after=end)
        if begin is not None:
            yield s.tokens[begin + 1 :]
    elif words[kind] == "STREAM":  # Snowflake: the changes of a table, with its columns
        on = s.find("ON", "TABLE", after=end)
        if on is not None:
            table = s.tokens[on + 2 : s.name(on + 2)]
            yield s.build("CREATE VIEW", s.tokens[kind + 1 : end], "AS SELECT * FROM", table)
    elif words[kind] == "VIEW" and "RECURSIVE" in words[1:kind]:  # SQL:2016 11.32
        listed = s.closing(end) if s.matches("(", at=end) else end
        name, columns = s.tokens[kind + 1 : end], s.tokens[end:listed]
        query = s.tokens[listed + 1 :]
        body = [
            *s.build("AS WITH RECURSIVE"),
            name[-1],
            *columns,
            *s.build("AS ("),
            *query,
            *s.build(") SELECT * FROM"),
        ]
        yield s.build(f"CREATE {temporary}VIEW", name, columns, body, [name[-1]])
    elif words[kind] == "VIEW" and words[-1] == "DATA" and "WITH" in words[-3:]:  # PostgreSQL: WITH [NO] DATA
        yield s.tokens[: -3 if words[-2] == "NO" else -2]
    elif s.matches("PARTITION", "OF", at=end):  # PostgreSQL: without the columns' options, and the bounds
        yield s.build(f"CREATE {temporary}TABLE", s.tokens[kind + 1 : s.name(end + 2)], "DEFAULT")
    elif "FOREIGN" in words[1:kind]:
        server = s.find("SERVER", after=end)
        yield s.build("CREATE TABLE", s.tokens[kind + 1 : server])
    elif (pivot := _pivot_at(s, end)) is not None:  # DuckDB: AS PIVOT t ON … ORDER BY …
        ends = [s.find(*those, after=pivot) for those in (("ORDER", "BY"), ("ORDER BY",), ("LIMIT",))]
        behind = min((at for at in ends if at is not None), default=len(words))
        yield s.build(s.tokens[:pivot], "SELECT * FROM (", s.tokens[pivot:behind], ")", s.tokens[behind:])
    elif (clone := s.find("CLONE", after=end)) is not None:
        yield s.build(
            f"CREATE {temporary}TABLE", s.tokens[kind + 1 : end], "CLONE", s.tokens[clone + 1 : s.name(clone + 1)]
        )
    elif not _is_called(s, end):
        yield _without_options(s, kind, end, temporary)


@rewrite("CREATE")
def enum_of_rows(s: Statement) -> Iterator[Tokens]:
    """DuckDB's `CREATE TYPE e AS ENUM (SELECT …)`: the query is run, and writes no table."""
    opens = s.find("AS", "ENUM", "(")
    if "TYPE" in s.words[:5] and opens is not None and s.words[opens + 3 : opens + 4] in ([word] for word in QUERY):
        yield s.tokens[opens + 3 : s.closing(opens + 2) - 1]


@rewrite("DECLARE")
def declared_table(s: Statement) -> Iterator[Tokens]:
    """`DECLARE GLOBAL TEMPORARY TABLE t …` (SQL:2016 14.16): Db2 and Derby have it in the schema SESSION."""
    kind = s.words.index("TABLE") if "TABLE" in s.words[:4] else 0
    if kind and _TEMPORARY.intersection(s.words[1:kind]):
        end = s.name(kind + 1)
        made = _without_options(s, kind, end, "TEMPORARY ")
        at = len(s.build("CREATE TEMPORARY TABLE"))
        in_session = "GLOBAL" in s.words[:kind] and end == kind + 2
        yield [*made[:at], *(s.build("session.") if in_session else []), *made[at:]]


@rewrite("CREATE", "DROP")
def synonym(s: Statement) -> Iterator[Tokens]:
    """`CREATE [OR REPLACE] [PUBLIC] SYNONYM s FOR t` (Oracle, T-SQL): a view of all columns of t."""
    kind = next((at for at in range(1, min(len(s.words), 6)) if s.words[at] == "SYNONYM"), None)
    if kind is None:
        return
    start = (
        kind
        + 1
        + sum(s.matches(*words, at=kind + 1) * len(words) for words in (("IF", "NOT", "EXISTS"), ("IF", "EXISTS")))
    )
    end = s.name(start)
    if s.words[0] == "DROP":
        yield s.build("DROP VIEW", s.tokens[start:end])
    elif s.matches("FOR", at=end) and (last := s.name(end + 1)) == len(s.words):
        replaces = "CREATE OR REPLACE VIEW" if "REPLACE" in s.words[:kind] else "CREATE VIEW"
        yield s.build(replaces, s.tokens[start:end], "AS SELECT * FROM", s.tokens[end + 1 : last])


def _is_called(s: Statement, end: int) -> bool:
    """Return whether a CREATE stores the result of a call, as DuckDB's `AS CALL f()`, which cannot be rewritten."""
    begin = s.find("AS", after=end)
    return begin is not None and s.words[begin + 1 : begin + 2] in (["CALL"], ["SHOW"], ["EXECUTE"])


def _pivot_at(s: Statement, end: int) -> int | None:
    """Return the index of the PIVOT or UNPIVOT that is the query of a CREATE."""
    begin = s.find("AS", after=end)
    is_pivot = begin is not None and s.words[begin + 1 : begin + 2] in (["PIVOT"], ["UNPIVOT"])
    return begin + 1 if begin is not None and is_pivot else None


def _without_options(s: Statement, kind: int, end: int, temporary: str) -> Tokens:
    """Return a CREATE TABLE or VIEW with only its column names, column types and query."""
    words = s.words
    body = next((at for at in outside(s, end) if _query_follows(words, at)), None)
    columns: Tokens = []
    into: Tokens = []
    if s.matches("TO", at=end):  # ClickHouse: the table that the view fills
        into = s.tokens[end : s.name(end + 1)]
    for item in _listed_columns(s, end + len(into)):
        columns += [
            *(s.build(",") if columns else []),
            *plain_column(item, with_type=words[kind] == "TABLE" and not body),
        ]
    listing = [*s.build("("), *columns, *s.build(")")] if columns else []
    query = _without_check(s.tokens[body + 1 :]) if body is not None else []
    materialized = "MATERIALIZED " if words[kind] == "VIEW" and "MATERIALIZED" in words[1:kind] else ""
    create = s.build(f"CREATE {temporary}{materialized}{words[kind]}")
    return [*create, *s.tokens[kind + 1 : end], *into, *listing, *(s.build("AS") if query else []), *query]


def _listed_columns(s: Statement, at: int) -> list[Tokens]:
    """Return the columns in the list that is at a position, or those of the type that is named there (OF)."""
    if s.matches("OF", at=at):
        typed = type_named_by(s.tokens)
        return attributes_of(typed, s.text, s.dialect) if typed is not None else []
    listed = items(s.tokens[at + 1 : s.closing(at) - 1]) if s.matches("(", at=at) else ()
    return [i for i in listed if i[0].token_type is TokenType.IDENTIFIER or i[0].text.upper() not in NO_COLUMN]


def _query_follows(words: Sequence[str], at: int) -> bool:
    """Return whether a query begins after a position: after AS, or (MySQL) a SELECT without AS."""
    if words[at] == "AS":
        return next((word for word in words[at + 1 :] if word != "("), "") in QUERY
    return list(words[at + 1 : at + 2]) == ["SELECT"]


def _without_check(query: Tokens) -> Tokens:
    """Return a view's query without WITH CHECK OPTION and WITH READ ONLY."""
    texts = [token.text.upper() for token in query[-4:]]
    for tail in (["WITH", "READ", "ONLY"], ["WITH", "CHECK", "OPTION"]):
        if texts[-3:] == tail:
            return query[:-3]
    return query[:-4] if texts[:1] == ["WITH"] and texts[-2:] == ["CHECK", "OPTION"] else query
