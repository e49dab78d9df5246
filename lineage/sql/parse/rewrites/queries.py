"""Queries: pipe operators, aliases of a join's columns, Teradata's phrases, DuckDB's PIVOT with an ORDER BY."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from sqlglot.tokenizer_core import Token, TokenType

from lineage.sql.parse.rewrites.statement import Statement, Tokens, items, rewrite

__all__ = [
    "has_absolute_operators",
    "has_lambda_lists",
    "has_type_phrases",
    "plain_absolute",
    "plain_lambdas",
    "without_json_format",
    "without_lateral_rows",
    "without_path_names",
    "without_phrases",
]


@rewrite("PIVOT", "UNPIVOT")
def ordered_pivot(s: Statement) -> Iterator[Tokens]:
    """DuckDB's `PIVOT … ORDER BY … LIMIT …`: sqlglot accepts ORDER BY and LIMIT after a query only."""
    ends = [at for at in (s.find("ORDER", "BY"), s.find("ORDER BY"), s.find("LIMIT")) if at is not None]
    if ends:
        yield s.build("SELECT * FROM (", s.tokens[: min(ends)], ")", s.tokens[min(ends) :])


_MODES = frozenset(("ACCESS", "SHARE", "READ", "WRITE", "EXCLUSIVE", "CHECKSUM", "OVERRIDE"))
_RUN = frozenset(("SELECT", "SEL", "WITH", "INSERT", "INS", "UPDATE", "UPD", "DELETE", "DEL", "MERGE", "CREATE"))


@rewrite("LOCKING", "LOCK", "USING")
def statement_behind(s: Statement) -> Iterator[Tokens]:
    """Teradata's `LOCKING … FOR ACCESS` and `USING (…)` before a statement."""
    if s.words[0] == "USING":
        at = s.closing(1)
    else:  # the last of several locks
        modes = [at for at, word in enumerate(s.words) if word in _MODES and s.words[at - 1] in ("FOR", "IN")]
        behind = (at + more for at in modes for more in (1, 2, 3))  # after MODE and NOWAIT
        at = next((at for at in behind if at < len(s.words) and s.words[at] in _RUN), len(s.words))
    if s.words[at : at + 1] and s.words[at] in _RUN:
        yield s.tokens[at:]


@rewrite("SELECT", "WITH")
def into_local_temporary(s: Statement) -> Iterator[Tokens]:
    """PostgreSQL's `SELECT … INTO LOCAL TEMPORARY TABLE t`: LOCAL and GLOBAL say nothing there."""
    at = s.find("INTO")
    if at is not None and s.words[at + 1] in ("LOCAL", "GLOBAL") and s.words[at + 2] in ("TEMP", "TEMPORARY"):
        yield [*s.tokens[: at + 1], *s.tokens[at + 2 :]]


@rewrite("*")
def arrow_arguments(s: Statement) -> Iterator[Tokens]:
    """`jsonb_agg(a -> 'k' ORDER BY b)`: sqlglot takes `a -> 'k'` for a lambda, which ends the argument."""
    if "->" not in s.words or s.dialect.has_lambdas or not s.dialect.arrow_reads_json:
        return
    total: Tokens = []
    changed = False
    for at, token in enumerate(s.tokens):
        is_name = token.text.isidentifier() and s.words[at] and s.words[at + 1 : at + 2] == ["->"]
        if is_name and at and s.words[at - 1] in ("(", ","):
            total += [*s.build("(("), token, *s.build("))")]
            changed = True
        else:
            total.append(token)
    if changed:
        yield total


@rewrite("*")
def pipe_operators(s: Statement) -> Iterator[Tokens]:
    """`|> SET`, `|> DROP`, `|> RENAME`, `|> DISTINCT`: stars with REPLACE, EXCEPT and RENAME, and DISTINCT.

    https://cloud.google.com/bigquery/docs/reference/standard-sql/pipe-syntax
    """
    if "|>" not in s.words:
        return
    total: Tokens = []
    at, changed, depth = 0, False, 0
    while at < len(s.words):
        depth += (s.words[at] == "(") - (s.words[at] == ")")
        operator = s.words[at + 1] if s.words[at] == "|>" and at + 1 < len(s.words) else ""
        if operator not in ("SET", "DROP", "RENAME", "DISTINCT"):
            total.append(s.tokens[at])
            at += 1
            continue
        end = _operator_end(s.words, at + 1)
        items = s.tokens[at + 2 : end]
        if operator == "DISTINCT" and depth == 0:  # sqlglot drops the DISTINCT of a SELECT after a pipe
            total = [*s.build("SELECT DISTINCT * FROM ("), *total, *s.build(")")]
            at, changed = end, True
            continue
        if operator == "DISTINCT":
            made = s.build("SELECT DISTINCT *")
        elif operator == "SET":
            made = [*s.build("SELECT * REPLACE ("), *_as_aliases(s, items), *s.build(")")]
        else:
            made = [*s.build("SELECT * EXCEPT (" if operator == "DROP" else "SELECT * RENAME ("), *items, *s.build(")")]
        total += [s.tokens[at], *made]
        at, changed = end, True
    if changed:
        yield total


def _operator_end(words: Sequence[str], at: int) -> int:
    """Return the index after the pipe operator that begins at a position."""
    depth = 0
    while at < len(words):
        if depth == 0 and (words[at] == "|>" or words[at] == ")"):
            return at
        depth += (words[at] == "(") - (words[at] == ")")
        at += 1
    return at


def _as_aliases(s: Statement, items: Tokens) -> Tokens:
    """Return `a = x, b = y` as `x AS a, y AS b`."""
    total: Tokens = []
    item: Tokens = []
    depth = 0
    for token in [*items, None]:
        if token is None or (depth == 0 and token.text == ","):
            if len(item) > 2:
                total += [*(s.build(",") if total else []), *item[2:], *s.build("AS"), item[0]]
            item = []
            continue
        depth += (token.text == "(") - (token.text == ")")
        item.append(token)
    return total


@rewrite("*")
def map_and_reduce(s: Statement) -> Iterator[Tokens]:
    """Hive's and Spark's `MAP a, b USING 'x' AS k, v` and REDUCE: `SELECT TRANSFORM(a, b) USING 'x' AS (k, v)`.

    https://cwiki.apache.org/confluence/display/Hive/LanguageManual+Transform
    """
    if not s.dialect.has_transform_scripts or "USING" not in s.words:
        return
    total: Tokens = []
    at, changed = 0, False
    while at < len(s.words):
        using = _script_of(s, at) if s.words[at] in ("MAP", "REDUCE", "TRANSFORM") else None
        if using is None:
            total.append(s.tokens[at])
            at += 1
            continue
        if s.words[at] == "TRANSFORM":
            total += s.tokens[at : using + 2]
        else:
            total += s.build("SELECT TRANSFORM(", s.tokens[at + 1 : using], ")", s.tokens[using : using + 2])
        changed = changed or s.words[at] != "TRANSFORM"
        at = using + 2
        if s.matches("AS", at=at) and at + 1 < len(s.words) and s.words[at + 1] != "(":
            end = _script_columns_end(s.words, at + 1)
            total += s.build("AS (", s.tokens[at + 1 : end], ")")
            at, changed = end, True
    if changed:
        yield total


def _script_of(s: Statement, at: int) -> int | None:
    """Return the position of USING and its script behind MAP, REDUCE or TRANSFORM; None if there is none."""
    for position, depth in _depths(s.words, at + 1):
        if depth < 0 or (depth == 0 and s.words[position] in ("FROM", "SELECT", "WHERE", "INSERT", "JOIN")):
            return None
        if depth == 0 and s.words[position] == "USING":
            return position if position + 1 < len(s.words) and s.words[position + 1] == "" else None
    return None


def _script_columns_end(words: Sequence[str], at: int) -> int:
    """Return the position after the script's output columns, `k INT, v`."""
    for position, depth in _depths(words, at):
        if depth < 0 or (depth == 0 and words[position] in _BEHIND_SCRIPT):
            return position
    return len(words)


_BEHIND_SCRIPT = frozenset(
    ("FROM", "WHERE", "GROUP", "GROUP BY", "HAVING", "DISTRIBUTE", "DISTRIBUTE BY", "CLUSTER", "CLUSTER BY", "SORT",
     "SORT BY", "ORDER", "ORDER BY", "LIMIT", "ROW", "RECORDREADER", "INSERT", "UNION", "LATERAL", ";")
)  # fmt: skip


def _depths(words: Sequence[str], at: int) -> Iterator[tuple[int, int]]:
    """Yield positions with the number of brackets that are open there, from 0."""
    depth = 0
    for position in range(at, len(words)):
        depth += (words[position] == "(") - (words[position] == ")")
        yield position, depth


@rewrite("*")
def join_aliases(s: Statement) -> Iterator[Tokens]:
    """`a JOIN b USING (i) AS u`: u.i is the merged column, which has that name without a prefix, too (SQL:2016, F404).

    https://www.postgresql.org/docs/current/queries-table-expressions.html#QUERIES-JOIN
    """
    merged: dict[str, Tokens] = {}
    left_out: set[int] = set()
    for at, word in enumerate(s.words):
        if word == "USING" and s.matches("(", at=at + 1):
            end = s.closing(at + 1)
            if s.matches("AS", at=end) and end + 1 < len(s.words) and s.words[end + 1].isidentifier():
                merged[s.words[end + 1]] = s.tokens[at + 2 : end - 1]
                left_out |= {end, end + 1}
    if not merged:
        return
    total: Tokens = []
    at = 0
    while at < len(s.words):
        is_prefix = s.words[at] in merged and s.matches(".", at=at + 1) and s.words[at - 1 : at] != ["."]
        if at in left_out:
            at += 1
        elif is_prefix and s.matches("*", at=at + 2):
            total += merged[s.words[at]]
            at += 3
        elif is_prefix:
            at += 2
        else:
            total.append(s.tokens[at])
            at += 1
    yield total


_PHRASES = frozenset(("TITLE", "FORMAT", "NAMED"))
_TYPES = frozenset(
    ("BYTEINT", "SMALLINT", "INTEGER", "INT", "BIGINT", "DECIMAL", "DEC", "NUMERIC", "NUMBER", "FLOAT", "REAL", "CHAR",
     "CHARACTER", "VARCHAR", "BYTE", "VARBYTE", "CLOB", "BLOB", "JSON")
)  # fmt: skip
"""Types that are reserved words: `f(DATE)` is a call with the current date."""
_BY_CONTEXT = frozenset(("DATE", "TIME", "TIMESTAMP"))


def without_phrases(s: Statement) -> Tokens | None:
    """Return a statement without Teradata's phrases behind values; None if it has none.

    `a (INTEGER, TITLE 'x', FORMAT 'y', NAMED b)` states a value's type, how it is shown, and its name.

    https://docs.teradata.com/r/Enterprise_IntelliFlex_VMware/SQL-Data-Types-and-Literals/Data-Type-Formats-and-Format-Phrases
    """
    if not s.dialect.has_column_phrases or (s.words[:1] in (["CREATE"], ["REPLACE"]) and "AS" not in s.words):
        return None
    total: Tokens = []
    at, changed = 0, False
    while at < len(s.words):
        if s.words[at] == "(" and 0 < at < len(s.words) - 2 and _is_phrase(s.words, at):
            end = s.closing(at)
            for item in items(s.tokens[at + 1 : end - 1]):
                word = item[0].text.upper()
                if word not in _PHRASES:
                    total += s.build("::", item)
                elif word == "NAMED":
                    total += s.build("AS", item[1:])
            at, changed = end, True
            continue
        total.append(s.tokens[at])
        at += 1
    return total if changed else None


def without_json_format(s: Statement) -> Tokens | None:
    """Return a statement without `FORMAT JSON` behind the document of a JSON function; None if it has none.

    https://trino.io/docs/current/functions/json.html#json-value
    """
    total: Tokens = []
    at = 0
    while at < len(s.words):
        if at and s.matches("FORMAT", "JSON", at=at) and s.words[at - 1] not in ("(", ","):  # EXPLAIN (FORMAT JSON)
            at += 4 if s.matches("ENCODING", at=at + 2) else 2
        else:
            total.append(s.tokens[at])
            at += 1
    return total if len(total) < len(s.tokens) else None


def has_type_phrases(tokens: Sequence[Token]) -> bool:
    """Return whether a statement has phrases with a type: sqlglot reads `a (INTEGER)` as a call of a function `a`."""
    words = [token.text.upper() for token in tokens]
    places = (at for at, word in enumerate(words[1:-2], 1) if word == "(")
    return any(words[at + 1] not in _PHRASES and _is_phrase(words, at) for at in places)


def _is_phrase(words: Sequence[str], at: int) -> bool:
    """Return whether an opening bracket behind a value begins a phrase."""
    first, then = words[at + 1], words[at + 2]
    if first in _PHRASES:
        return True
    return (first in _TYPES and then in ("(", ")", ",")) or (first in _BY_CONTEXT and then == ",")


def has_lambda_lists(tokens: Sequence[Token]) -> bool:
    """Return whether a statement has a lambda of several parameters, which sqlglot reads as several arguments."""
    words = [token.text.upper() for token in tokens]
    return any(word == "LAMBDA" and words[at + 2] == "," for at, word in enumerate(words[:-3]))


def plain_lambdas(s: Statement) -> Tokens | None:
    """Return the statement with lambdas as sqlglot reads them; None if it has none that it does not.

    DuckDB's catalog writes `f(a, (lambda x: x + 1))`: sqlglot reads a lambda only as an argument itself. For it,
    `lambda x, y: z` is `(x, y) -> z`. https://duckdb.org/docs/stable/sql/functions/lambda
    """
    if "LAMBDA" not in s.words or not s.dialect.has_lambda_keyword:
        return None
    dropped: set[int] = set()
    arrows: dict[int, int] = {}
    """The position of the colon of each lambda of several parameters, by that of its keyword."""
    for at, word in enumerate(s.words):
        if word != "LAMBDA" or s.words[at - 1] not in ("(", ","):
            continue
        if s.words[at - 1] == "(" and at > 1 and s.words[at - 2] in ("(", ","):
            dropped |= {at - 1, s.closing(at - 1) - 1}
        if s.words[at + 2 : at + 3] == [","] and ":" in s.words[at:]:
            arrows[at] = s.words.index(":", at)
    if not dropped and not arrows:
        return None
    colons = set(arrows.values())
    parts: list[str | Tokens] = []
    for at, token in enumerate(s.tokens):
        if at not in dropped:
            parts.append("(" if at in arrows else ") ->" if at in colons else [token])
    return s.build(*parts)


def has_absolute_operators(tokens: Sequence[Token]) -> bool:
    """Return whether a statement has PostgreSQL's `@ x`, which sqlglot reads as a parameter of that name."""
    return any(_is_absolute(mark, after) for mark, after in pairwise(tokens))


def plain_absolute(s: Statement) -> Tokens | None:
    """Return the statement with another prefix operator of numbers for each `@ x`; None if it has none.

    A name right behind the sign, `@x`, is a parameter that a client replaces.
    """
    if not s.dialect.has_absolute_operator or not has_absolute_operators(s.tokens):
        return None
    followed = zip(s.tokens, [*s.tokens[1:], s.tokens[-1]], strict=True)
    return s.build(*("|/" if _is_absolute(mark, after) else [mark] for mark, after in followed))


def _is_absolute(mark: Token, after: Token) -> bool:
    if mark.token_type is not TokenType.PARAMETER:
        return False
    return after.start > mark.end + 1 or after.token_type is TokenType.IDENTIFIER or not after.text.isidentifier()


def without_path_names(s: Statement) -> Tokens | None:
    """Return `JSON_TABLE(doc, '$' AS p COLUMNS (…))` without names of paths, which are for PLAN only.

    None if it has none. PostgreSQL shows one for each path:
    https://www.postgresql.org/docs/current/functions-json.html#FUNCTIONS-SQLJSON-TABLE
    """
    if "JSON_TABLE" not in s.words:
        return None
    named = {
        at
        for at, word in enumerate(s.words)
        if word == "AS" and s.words[at + 2 : at + 3] == ["COLUMNS"] and s.tokens[at - 1].token_type is TokenType.STRING
    }
    return [token for at, token in enumerate(s.tokens) if at not in named and at - 1 not in named] if named else None


def without_lateral_rows(s: Statement) -> Tokens | None:
    """Return `LATERAL ROWS FROM (f(a), g(b))` without LATERAL, which functions in FROM are anyway; None if it has none.

    PostgreSQL's catalog writes it. https://www.postgresql.org/docs/current/sql-select.html#SQL-FROM
    """
    words = s.words
    places = {at for at in range(len(words) - 3) if words[at : at + 4] == ["LATERAL", "ROWS", "FROM", "("]}
    return [token for at, token in enumerate(s.tokens) if at not in places] if places else None
