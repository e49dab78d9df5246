"""INSERT, UPDATE, DELETE, MERGE and TRUNCATE in forms that sqlglot rejects."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot.tokenizer_core import Token, TokenType

from lineage.sql.parse.rewrites.statement import QUERY, Statement, Tokens, rewrite

_COMPOUND = frozenset("+-*/%&|^")
_MODIFIERS = frozenset(("LOW_PRIORITY", "HIGH_PRIORITY", "DELAYED", "QUICK", "IGNORE"))


@rewrite("INSERT")
def insert_forms(s: Statement) -> Iterator[Tokens]:
    """`INSERT OVERWRITE DIRECTORY 'p' USING parquet query` (Spark), `INSERT INTO (SELECT a FROM t) …` (Oracle)."""
    if (directory := s.find("DIRECTORY")) is not None and directory < 4:
        begin = next((at for at in range(directory + 1, len(s.words)) if s.words[at] in QUERY), None)
        path = next((t for t in s.tokens[directory:begin] if t.token_type is TokenType.STRING), None)
        if begin is not None and path is not None:
            yield s.build("INSERT OVERWRITE DIRECTORY", [path], s.tokens[begin:])
    elif s.matches("INSERT", "INTO", "(", "SELECT"):
        end = s.closing(2)
        origin = s.words.index("FROM") if "FROM" in s.words[:end] else end
        after = s.name(origin + 1)
        columns = s.tokens[4:origin]
        listing = [] if any(t.text == "*" for t in columns) else [*s.build("("), *columns, *s.build(")")]
        yield s.build("INSERT INTO", s.tokens[origin + 1 : after], listing, s.tokens[end:])


@rewrite("INSERT", "WITH")
def insert_with_clauses(s: Statement) -> Iterator[Tokens]:
    """T-SQL's `INSERT INTO t WITH (TABLOCK) (a, b) …`; Hive's `INSERT INTO t (a) PARTITION (b) …`."""
    at = s.find("INSERT")
    if at is None:
        return
    name = at + 1 + s.matches("INTO", at=at + 1)
    name += s.matches("TABLE", at=name)
    end = s.name(name)
    if s.matches("WITH", "(", at=end) and s.dialect.has_table_hints:
        yield [*s.tokens[:end], *s.tokens[s.closing(end + 1) :]]
    elif s.matches("(", at=end) and s.matches("PARTITION", "(", at=(listed := s.closing(end))):
        behind = s.closing(listed + 1)
        yield [*s.tokens[:end], *s.tokens[listed:behind], *s.tokens[end:listed], *s.tokens[behind:]]


@rewrite("INSERT")
def insert_from_first(s: Statement) -> Iterator[Tokens]:
    """DuckDB's `INSERT INTO t (FROM v SELECT a) UNION …`: sqlglot takes the bracket for the column list."""
    if s.matches("INSERT", "INTO") and s.matches("(", "FROM", at=(opened := s.name(2))):
        end = s.closing(opened)
        yield s.build(s.tokens[:opened], "(", s.tokens[opened:end], ")", s.tokens[end:])


@rewrite("INSERT")
def insert_of_rows_beside_it(s: Statement) -> Iterator[Tokens]:
    """ClickHouse's `INSERT INTO t (a) VALUES`, `… FORMAT CSV`: the data follows the statement or is sent separately.

    https://clickhouse.com/docs/sql-reference/statements/insert-into
    """
    into = 1 + s.matches("INTO", at=1)
    into += s.matches("TABLE", at=into)
    is_function = s.matches("FUNCTION", at=into)
    if not s.dialect.inserts_into_functions or into + is_function >= len(s.words):
        return
    name = s.name(into + is_function)
    if is_function:
        name = s.closing(name)
    end = s.closing(name) if s.matches("(", at=name) else name
    begin = s.find("FORMAT", after=end) if s.words[-1] != "VALUES" else len(s.words) - 1
    if begin is None or any(word in ("SELECT", "WITH", "FROM") for word in s.words[end:begin]):
        return
    listed = s.tokens[name:end]
    if is_function:
        yield s.build(s.tokens[:name], "VALUES (NULL)")
    elif not listed or any(word in ("*", "EXCEPT") for word in s.words[name:end]):
        yield s.build("INSERT INTO", s.tokens[into:name], "DEFAULT VALUES")
    else:
        nulls = ", ".join("NULL" for word in s.words[name:end] if word in ("(", ","))
        yield s.build("INSERT INTO", s.tokens[into:end], f"VALUES ({nulls})")


@rewrite("REPLACE", "DELETE", "UPDATE", "INSERT")
def modifiers(s: Statement) -> Iterator[Tokens]:
    """MySQL's `DELETE QUICK IGNORE FROM`, `REPLACE DELAYED t VALUES …`, which is an INSERT for lineage."""
    end = 1
    while end < len(s.words) and s.words[end] in _MODIFIERS:
        end += 1
    if s.words[0] == "REPLACE" and s.dialect.replace_is_insert:
        yield s.build("INSERT INTO", s.tokens[end + (1 if s.matches("INTO", at=end) else 0) :])
    elif end > 1:
        yield [s.tokens[0], *s.tokens[end:]]


@rewrite("TRUNCATE")
def truncate(s: Statement) -> Iterator[Tokens]:
    """ClickHouse's `TRUNCATE [TABLE] [IF EXISTS] t [SYNC]`."""
    start = 1 + s.matches("TABLE", at=1)
    start += 2 if s.matches("IF", "EXISTS", at=start) else 0
    if start < len(s.words) and s.words[start] not in ("TABLES", "ALL", "DATABASE", "DATABASES", "VIEW"):
        yield s.build("TRUNCATE TABLE", s.tokens[start : s.name(start)])


@rewrite("UPDATE", "DELETE")
def through_a_query(s: Statement) -> Iterator[Tokens]:
    """`UPDATE (query) SET …`, `DELETE FROM (query)` (Oracle); `UPDATE OR IGNORE t` (SQLite)."""
    if s.matches("UPDATE", "OR"):
        yield s.build("UPDATE", s.tokens[3:])
    opened = 1 if s.matches("UPDATE", "(") else (2 if s.matches("DELETE", "FROM", "(") else None)
    if opened is not None:
        end = s.closing(opened)
        yield s.build("WITH __rows AS", s.tokens[opened:end], s.tokens[:opened], "__rows", s.tokens[end:])


def hints_before_alias(s: Statement) -> Tokens | None:
    """T-SQL's `MERGE t WITH (HOLDLOCK) a USING`: sqlglot wants AS before an alias that follows hints."""
    merges = s.find("MERGE") if "MERGE" in s.words else None
    hints = s.find("WITH", "(", after=merges) if merges is not None else None
    if hints is None or hints > (s.find("USING", after=merges or 0) or 0):
        return None
    after = s.closing(hints + 1)
    is_there = s.words[after] in ("AS", "USING")
    return None if is_there else s.build(s.tokens[:after], "AS", s.tokens[after:])


@rewrite("INSERT", "UPDATE", "DELETE", "MERGE", "WITH")
def output_into(s: Statement) -> Iterator[Tokens]:
    """T-SQL's OUTPUT … INTO: sqlglot accepts only a one-part name after INTO, and in DELETE nothing after OUTPUT."""
    at = s.find("OUTPUT")
    if not s.dialect.has_output_clause or at is None:
        return
    tokens, end = list(s.tokens), _after_output(s, at)
    into = s.find("INTO", after=at)
    if into is not None and into < end:
        after = s.name(into + 1)
        first, last = tokens[into + 1], tokens[after - 1]
        name = s.text[first.start : last.end + 1]
        whole = Token(TokenType.VAR, name, first.line, last.col, first.start, last.end)
        tokens[into + 1 : after] = [whole]
        end -= after - into - 2
    if (deletes := s.find("DELETE")) is not None and not s.matches("MERGE"):
        head, tail = tokens[:at], tokens[end:]
        if s.matches("FROM", at=deletes + 1) and tail and tail[0].text.upper() == "FROM":
            head = [*tokens[: deletes + 1], *tokens[deletes + 2 : at]]  # DELETE FROM alias … FROM table alias
        elif not s.matches("FROM", at=deletes + 1) and not (tail and tail[0].text.upper() == "FROM"):
            head = [*tokens[: deletes + 1], *s.build("FROM"), *tokens[deletes + 1 : at]]
        tokens = [*head, *tail, *tokens[at:end]]
    yield tokens


@rewrite("DELETE", "WITH")
def delete_from_twice(s: Statement) -> Iterator[Tokens]:
    """T-SQL's `DELETE FROM t FROM t AS a JOIN …`: sqlglot reads one FROM."""
    deletes = s.find("DELETE")
    if deletes is None or not s.matches("FROM", at=deletes + 1):
        return
    origin = s.find("FROM", after=deletes + 2)
    if origin is not None and origin < (s.find("WHERE", after=deletes) or len(s.words)):
        yield [*s.tokens[: deletes + 1], *s.tokens[deletes + 2 :]]


def plain_assignments(s: Statement) -> Tokens | None:
    """T-SQL's `SET a += b` as `SET a = a + b`."""
    if not s.dialect.has_compound_assignment or s.words[0] not in ("UPDATE", "MERGE", "WITH"):
        return None
    tokens: Tokens = []
    begin = 0
    for at in range(1, len(s.words) - 1):
        equals = s.words[at + 1] == "=" and s.tokens[at + 1].start == s.tokens[at].end + 1
        if s.words[at] not in _COMPOUND or not equals:
            continue
        left = at - 1
        while left > 1 and s.words[left - 1] == ".":
            left -= 2
        if s.words[left - 1] in ("SET", ","):
            name, operator, equal = s.tokens[left:at], s.tokens[at], s.tokens[at + 1]
            tokens += [*s.tokens[begin:at], equal, *name, operator]
            begin = at + 2
    return [*tokens, *s.tokens[begin:]] if begin else None


@rewrite("INSERT", "UPDATE", "DELETE")
def returning_into(s: Statement) -> Iterator[Tokens]:
    """Oracle's `RETURNING a, b INTO :x, :y`, which returns values to the calling program."""
    at = s.find("RETURNING")
    if at is not None and s.find("INTO", after=at) is not None:
        yield s.tokens[:at]


def _after_output(s: Statement, at: int) -> int:
    """Return the index after the OUTPUT clause that begins at a position: that of the next clause's first word."""
    depth = 0
    for position in range(at, len(s.words)):
        word = s.words[position]
        if depth == 0 and word in ("WHERE", "FROM", "SELECT", "VALUES", "WITH", "EXEC", "EXECUTE", "DEFAULT", "OPTION"):
            return position
        depth += (word == "(") - (word == ")")
    return len(s.words)


@rewrite("MERGE")
def merge_forms(s: Statement) -> Iterator[Tokens]:
    """`MERGE WITH SCHEMA EVOLUTION INTO` (Databricks); `UPDATE SET … DELETE WHERE test` (Oracle)."""
    if s.matches("MERGE", "WITH", "SCHEMA", "EVOLUTION"):
        yield [s.tokens[0], *s.tokens[4:]]
    elif (at := s.find("DELETE", "WHERE")) is not None:
        end = s.find("WHEN", after=at) or len(s.tokens)
        branch = max(p for p in range(at) if s.words[p] == "WHEN")
        where = s.find("WHERE", after=branch)  # only rows that were updated are deleted
        updated = s.tokens[where + 1 : at] if where is not None and where < at else s.build("TRUE")
        tests = [*updated, *s.build(") AND ("), *s.tokens[at + 2 : end]]
        deletes = [*s.build("WHEN MATCHED AND ("), *tests, *s.build(") THEN DELETE")]
        yield s.build(s.tokens[:at], deletes, s.tokens[end:])
