"""Statements that the parser refuses, or keeps as text, said in words that it reads and that mean the same here.

Everything is done on tokens, so that every position stays one in the text. What moves all rows of one table into
another (partitions that are attached, switched or exchanged) is an INSERT of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from sqlglot.dialects.dialect import Dialect as Parser
from sqlglot.tokenizer_core import Token, TokenType

__all__ = ["reworded"]

Tokens: TypeAlias = "list[Token]"
Rule: TypeAlias = "Callable[[_Statement], Iterator[Tokens]]"

_QUERY = frozenset(("SELECT", "WITH", "FROM", "TABLE", "VALUES"))
_RULES: dict[str, list[Rule]] = {}


def reworded(tokens: Tokens, text: str, parser: Parser, dialect: str) -> list[Tokens]:
    """Return the statements, as tokens, that say what this one says; none where no rule knows it."""
    statement = _Statement(tokens, text, parser, dialect)
    for rule in (*_RULES.get(statement.words[0], ()), *_RULES["*"]):
        found = list(rule(statement))
        if found:
            return found
    return []


class _Statement:
    """A statement's tokens and their words in upper case; a literal's word is empty."""

    def __init__(self, tokens: Tokens, text: str, parser: Parser, dialect: str) -> None:
        self.dialect = dialect
        self._parser = parser
        behind = text[tokens[0].end + 1 : tokens[-1].end + 1].strip()
        if len(tokens) == 2 and tokens[1].token_type is TokenType.STRING and tokens[1].text == behind:
            # The tokenizer keeps what follows some keywords as one token, the text as it is.
            tokens = [tokens[0], *self._tokenized(text, tokens[0].end + 1, tokens[-1].end + 1, tokens[0])]
        self.text = text
        self.tokens = tokens
        self.words = ["" if t.token_type is TokenType.STRING else t.text.upper() for t in tokens]

    def _tokenized(self, text: str, start: int, end: int, before: Token) -> Tokens:
        """Return the tokens of a piece of the text, with their positions in the whole."""
        moved = []
        for token in self._parser.tokenize(text[start:end]):
            column = token.col + (before.col if token.line == 1 else 0)
            line = token.line + before.line - 1
            moved.append(Token(token.token_type, token.text, line, column, token.start + start, token.end + start))
        return moved

    def inside(self, literal: Token) -> Tokens:
        """Return the tokens of the SQL that a string literal holds; doubled quotes keep their length."""
        start, end = literal.start + 1, literal.end
        body = self.text[start:end].replace("''", " '")
        return self._tokenized(" " * start + body, start, end, literal)

    def says(self, *words: str, at: int = 0) -> bool:
        """Return whether these words stand at a position."""
        return tuple(self.words[at : at + len(words)]) == words

    def find(self, *words: str, after: int = 0) -> int | None:
        """Return where the words stand outside of all brackets."""
        depth = 0
        for position in range(after, len(self.words)):
            word = self.words[position]
            depth += (word == "(") - (word == ")")
            if depth == 0 and self.says(*words, at=position):
                return position
        return None

    def name(self, at: int) -> int:
        """Return the position after the dotted name that stands at a position; `@v` and `#t` are two tokens."""
        at += 2 if self.words[at] in ("@", "#") else 1
        while at + 1 < len(self.words) and self.words[at] == ".":
            at += 2
        return at

    def closing(self, at: int) -> int:
        """Return the position after the bracket that closes the one at a position."""
        depth = 0
        for position in range(at, len(self.words)):
            depth += (self.words[position] == "(") - (self.words[position] == ")")
            if depth == 0:
                return position + 1
        return len(self.words)

    def said(self, *parts: str | Sequence[Token]) -> Tokens:
        """Return the parts as one statement; words of ours take the place of the token that follows them."""
        total: Tokens = []
        after = self.tokens[-1]
        for part in reversed(parts):
            if isinstance(part, str):
                made = [
                    Token(t.token_type, t.text, after.line, after.col, after.start, after.end)
                    for t in self._parser.tokenize("SELECT " + part)[1:]
                ]
                total[:0] = made
            elif part:
                total[:0] = part
                after = part[0]
        return total


def _rule(*first: str) -> Callable[[Rule], Rule]:
    """Register a rule for statements that begin with one of these words."""

    def register(rule: Rule) -> Rule:
        for word in first:
            _RULES.setdefault(word, []).append(rule)
        return rule

    return register


@_rule("RENAME", "EXCHANGE")
def rename_and_exchange(s: _Statement) -> Iterator[Tokens]:
    """`RENAME TABLE a TO b, c TO d` (MySQL, ClickHouse), `EXCHANGE TABLES a AND b` (ClickHouse)."""
    if s.words[1:2] not in (["TABLE"], ["TABLES"]):
        return
    at = 2
    while at < len(s.words):
        end = s.name(at)
        if s.words[end : end + 1] not in (["TO"], ["AND"]):
            return
        other = s.name(end + 1)
        means = "RENAME TO" if s.words[end] == "TO" else "SWAP WITH"
        yield s.said("ALTER TABLE", s.tokens[at:end], means, s.tokens[end + 1 : other])
        at = other + 1


@_rule("ALTER")
def move_rows(s: _Statement) -> Iterator[Tokens]:
    """ALTER TABLE with which the rows of one table become those of another; ClickHouse's ALTER TABLE … UPDATE."""
    if not s.says("ALTER", "TABLE"):
        return
    start = 4 if s.says("IF", "EXISTS", at=2) else 2
    end = s.name(start)
    table, rest = s.tokens[start:end], s.words[end:]

    def inserted(into: Sequence[Token], source: Sequence[Token]) -> Tokens:
        return s.said("INSERT INTO", into, "SELECT * FROM", source)

    def table_at(position: int) -> Sequence[Token]:
        return s.tokens[position : s.name(position)]

    if rest[:1] == ["UPDATE"]:
        yield s.said("UPDATE", table, "SET", s.tokens[end + 1 :])
    elif rest[:2] == ["RENAME", "AS"]:
        yield s.said("ALTER TABLE", table, "RENAME TO", s.tokens[end + 2 :])
    elif rest[:2] == ["APPEND", "FROM"] or (
        rest[:2] == ["ATTACH", "PARTITION"] and s.find("FROM", after=end) is None
    ):  # Redshift
        yield inserted(table, table_at(end + 2))
    elif rest[:2] in (["ATTACH", "PARTITION"], ["REPLACE", "PARTITION"]):  # ClickHouse
        if (origin := s.find("FROM", after=end)) is not None:
            yield inserted(table, table_at(origin + 1))
    elif rest[:1] == ["MOVE"] and (to := s.find("TO", "TABLE", after=end)) is not None:  # ClickHouse
        yield inserted(table_at(to + 2), table)
    elif rest[:1] == ["SWITCH"] and (to := s.find("TO", after=end)) is not None:  # T-SQL
        yield inserted(table_at(to + 1), table)
    elif rest[:1] == ["EXCHANGE"] and (other := s.find("WITH", "TABLE", after=end)) is not None:
        yield inserted(table, table_at(other + 2))
        if s.dialect != "hive":  # Hive's takes the partition out of the other table and gives none back
            yield inserted(table_at(other + 2), table)
    else:
        yield from _column_changes(s, table, end)


def _column_changes(s: _Statement, table: Sequence[Token], start: int) -> Iterator[Tokens]:
    """Yield an ALTER TABLE for each column that is added, dropped or renamed; other changes say nothing here."""
    for item in _items(s.tokens[start:]):
        words = [token.text.upper() for token in item]
        at = 1
        while words[at : at + 1] in (["COLUMN"], ["COLUMNS"], ["("], ["IF"], ["NOT"], ["EXISTS"]):
            at += 1
        rest = item[at:]
        if not rest or (words[at] in _NO_COLUMN or words[at] in _NO_COLUMN_OF_ALTER):
            continue
        if words[0] == "ADD" and len(rest) > 1:
            yield s.said("ALTER TABLE", table, "ADD COLUMN", _column(rest, with_type=True))
        elif words[0] == "DROP":
            yield s.said("ALTER TABLE", table, "DROP COLUMN", rest[:1])
        elif words[0] == "RENAME" and "COLUMN" in words and words[at + 1 : at + 2] == ["TO"]:
            yield s.said("ALTER TABLE", table, "RENAME COLUMN", rest[:1], "TO", rest[2:3])
        elif words[0] == "CHANGE" and len(rest) > 2 and rest[0].text != rest[1].text:
            yield s.said("ALTER TABLE", table, "RENAME COLUMN", rest[:1], "TO", rest[1:2])


@_rule("UNLOAD")
def unload(s: _Statement) -> Iterator[Tokens]:
    """`UNLOAD ('query') TO 's3://…'` (Redshift), `UNLOAD (query) TO …` (Athena)."""
    to = s.find("TO")
    if to is None or not s.says("(", at=1):
        return
    inner = s.tokens[2 : to - 1]
    query = s.inside(inner[0]) if len(inner) == 1 and inner[0].token_type is TokenType.STRING else inner
    yield s.said("COPY (", query, ") TO", s.tokens[to + 1 : to + 2])


@_rule("LOAD")
def load_with_options(s: _Statement) -> Iterator[Tokens]:
    """BigQuery's `LOAD DATA INTO t … OPTIONS (…) FROM FILES (…)`: what stands between says nothing here."""
    files, into = s.find("FROM", "FILES"), s.find("INTO") or s.find("OVERWRITE")
    if files is not None and into is not None:
        end = s.name(into + 1)
        columns = s.tokens[end : s.closing(end)] if s.says("(", at=end) else []
        yield s.said("LOAD DATA INTO", s.tokens[into + 1 : end], columns, s.tokens[files : s.closing(files + 2)])


@_rule("LOAD", "BULK")
def load(s: _Statement) -> Iterator[Tokens]:
    """`LOAD DATA INFILE 'f' INTO TABLE t (a, @b) SET c = …` (MySQL), `BULK INSERT t FROM 'f'` (T-SQL)."""
    if s.says("BULK", "INSERT"):
        end = s.name(2)
        if s.says("FROM", at=end):
            yield s.said("COPY", s.tokens[2:end], "FROM", s.tokens[end + 1 : end + 2])
        return
    file, into = s.find("INFILE"), s.find("INTO", "TABLE")
    if file is None or into is None:
        return
    end = s.name(into + 2)
    opened = next((at for at in range(end, len(s.words)) if s.words[at] == "("), None)
    columns: Tokens = []
    if opened is not None:
        listed = s.tokens[opened + 1 : s.closing(opened) - 1]
        variables = {at + 1 for at, token in enumerate(listed) if token.text == "@"}
        names = [t for at, t in enumerate(listed) if t.text not in (",", "@") and at not in variables]
        assigned = range(s.find("SET", after=opened) or len(s.words), len(s.words) - 1)
        names += [s.tokens[at - 1] for at in assigned if s.words[at] == "=" and s.words[at - 2] in ("SET", ",")]
        columns = [part for name in names for part in (*s.said(","), name)][1:]
    listing = [*s.said("("), *columns, *s.said(")")] if columns else []
    yield s.said("COPY", s.tokens[into + 2 : end], listing, "FROM", s.tokens[file + 1 : file + 2])


@_rule("SELECT", "WITH")
def into_outfile(s: _Statement) -> Iterator[Tokens]:
    """`SELECT … INTO OUTFILE 'f' … FROM t` (MySQL), `SELECT … INTO OUTFILE 'f'` (ClickHouse)."""
    at = s.find("INTO", "OUTFILE")
    if at is None:
        return
    following = s.find("FROM", after=at)
    rest = s.tokens[following:] if following is not None else []
    yield s.said("COPY (", s.tokens[:at], rest, ") TO", s.tokens[at + 2 : at + 3])


@_rule("INSERT")
def insert_forms(s: _Statement) -> Iterator[Tokens]:
    """`INSERT OVERWRITE DIRECTORY 'p' USING parquet query` (Spark), `INSERT INTO (SELECT a FROM t) …` (Oracle)."""
    if (directory := s.find("DIRECTORY")) is not None and directory < 4:
        begin = next((at for at in range(directory + 1, len(s.words)) if s.words[at] in _QUERY), None)
        path = next((t for t in s.tokens[directory:begin] if t.token_type is TokenType.STRING), None)
        if begin is not None and path is not None:
            yield s.said("INSERT OVERWRITE DIRECTORY", [path], s.tokens[begin:])
    elif s.says("INSERT", "INTO", "(", "SELECT"):
        end = s.closing(2)
        origin = s.words.index("FROM") if "FROM" in s.words[:end] else end
        after = s.name(origin + 1)
        columns = s.tokens[4:origin]
        listing = [] if any(t.text == "*" for t in columns) else [*s.said("("), *columns, *s.said(")")]
        yield s.said("INSERT INTO", s.tokens[origin + 1 : after], listing, s.tokens[end:])


_MODIFIERS = frozenset(("LOW_PRIORITY", "HIGH_PRIORITY", "DELAYED", "QUICK", "IGNORE"))


@_rule("REPLACE", "DELETE", "UPDATE", "INSERT")
def modifiers(s: _Statement) -> Iterator[Tokens]:
    """MySQL's `DELETE QUICK IGNORE FROM`, `REPLACE DELAYED t VALUES …`, which is an INSERT for lineage."""
    end = 1
    while end < len(s.words) and s.words[end] in _MODIFIERS:
        end += 1
    if s.words[0] == "REPLACE" and s.dialect in ("mysql", "sqlite", "doris", "starrocks"):
        yield s.said("INSERT INTO", s.tokens[end + (1 if s.says("INTO", at=end) else 0) :])
    elif end > 1:
        yield [s.tokens[0], *s.tokens[end:]]


@_rule("TRUNCATE")
def truncate(s: _Statement) -> Iterator[Tokens]:
    """ClickHouse's `TRUNCATE [TABLE] [IF EXISTS] t [SYNC]`."""
    start = 1 + s.says("TABLE", at=1)
    start += 2 if s.says("IF", "EXISTS", at=start) else 0
    if start < len(s.words) and s.words[start] not in ("TABLES", "ALL", "DATABASE", "DATABASES", "VIEW"):
        yield s.said("TRUNCATE TABLE", s.tokens[start : s.name(start)])


@_rule("PIVOT", "UNPIVOT")
def ordered_pivot(s: _Statement) -> Iterator[Tokens]:
    """DuckDB's `PIVOT … ORDER BY … LIMIT …`: the parser reads them behind a query only."""
    ends = [at for at in (s.find("ORDER", "BY"), s.find("ORDER BY"), s.find("LIMIT")) if at is not None]
    if ends:
        yield s.said("SELECT * FROM (", s.tokens[: min(ends)], ")", s.tokens[min(ends) :])


@_rule("UPDATE", "DELETE")
def through_a_query(s: _Statement) -> Iterator[Tokens]:
    """`UPDATE (query) SET …`, `DELETE FROM (query)` (Oracle); `UPDATE OR IGNORE t` (SQLite)."""
    if s.says("UPDATE", "OR"):
        yield s.said("UPDATE", s.tokens[3:])
    opened = 1 if s.says("UPDATE", "(") else (2 if s.says("DELETE", "FROM", "(") else None)
    if opened is not None:
        end = s.closing(opened)
        yield s.said("WITH __rows AS", s.tokens[opened:end], s.tokens[:opened], "__rows", s.tokens[end:])


@_rule("INSERT", "UPDATE", "DELETE", "MERGE", "WITH")
def output_into(s: _Statement) -> Iterator[Tokens]:
    """T-SQL's OUTPUT … INTO: the parser reads one part of a name behind INTO, and in a DELETE nothing behind OUTPUT."""
    at = s.find("OUTPUT")
    if s.dialect not in ("tsql", "fabric") or at is None:
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
    if (deletes := s.find("DELETE")) is not None and not s.says("MERGE"):
        head, tail = tokens[:at], tokens[end:]
        if s.says("FROM", at=deletes + 1) and tail and tail[0].text.upper() == "FROM":
            head = [*tokens[: deletes + 1], *tokens[deletes + 2 : at]]  # DELETE FROM alias … FROM table alias
        elif not s.says("FROM", at=deletes + 1) and not (tail and tail[0].text.upper() == "FROM"):
            head = [*tokens[: deletes + 1], *s.said("FROM"), *tokens[deletes + 1 : at]]
        tokens = [*head, *tail, *tokens[at:end]]
    yield tokens


@_rule("INSERT", "UPDATE", "DELETE")
def returning_into(s: _Statement) -> Iterator[Tokens]:
    """Oracle's `RETURNING a, b INTO :x, :y` hands values to the program that runs the statement."""
    at = s.find("RETURNING")
    if at is not None and s.find("INTO", after=at) is not None:
        yield s.tokens[:at]


def _after_output(s: _Statement, at: int) -> int:
    """Return where the OUTPUT clause ends that begins at a position: before the words that may follow it."""
    depth = 0
    for position in range(at, len(s.words)):
        word = s.words[position]
        if depth == 0 and word in ("WHERE", "FROM", "SELECT", "VALUES", "WITH", "EXEC", "EXECUTE", "DEFAULT", "OPTION"):
            return position
        depth += (word == "(") - (word == ")")
    return len(s.words)


@_rule("CREATE")
def create_forms(s: _Statement) -> Iterator[Tokens]:
    """Kinds and clauses of CREATE that the parser does not know, without those that say nothing here."""
    words = s.words
    kind = next((at for at in range(1, min(len(words), 6)) if words[at] in _CREATED), None)
    if kind is None:
        return
    end = s.name(kind + 4 if s.says("IF", "NOT", "EXISTS", at=kind + 1) else kind + 1)
    if words[kind] in ("TASK", "PIPE"):  # Snowflake: what they run
        begin = s.find("AS", after=end)
        if begin is not None:
            yield s.tokens[begin + 1 :]
    elif words[kind] == "STREAM":  # Snowflake: the changes of a table, with its columns
        on = s.find("ON", "TABLE", after=end)
        if on is not None:
            table = s.tokens[on + 2 : s.name(on + 2)]
            yield s.said("CREATE VIEW", s.tokens[kind + 1 : end], "AS SELECT * FROM", table)
    elif words[kind] == "VIEW" and "RECURSIVE" in words[1:kind]:  # SQL:2016 11.32
        listed = s.closing(end) if s.says("(", at=end) else end
        name, columns = s.tokens[kind + 1 : end], s.tokens[end:listed]
        query = s.tokens[listed + 1 :]
        body = [*s.said("AS WITH RECURSIVE"), name[-1], *columns, *s.said("AS ("), *query, *s.said(") SELECT * FROM")]
        yield s.said("CREATE VIEW", name, columns, body, [name[-1]])
    elif words[kind] == "VIEW" and words[-1] == "DATA" and "WITH" in words[-3:]:  # PostgreSQL: WITH [NO] DATA
        yield s.tokens[: -3 if words[-2] == "NO" else -2]
    elif "FOREIGN" in words[1:kind]:
        server = s.find("SERVER", after=end)
        yield s.said("CREATE TABLE", s.tokens[kind + 1 : server])
    elif (clone := s.find("CLONE", after=end)) is not None:
        yield s.said("CREATE TABLE", s.tokens[kind + 1 : end], "CLONE", s.tokens[clone + 1 : s.name(clone + 1)])
    else:
        yield _without_options(s, kind, end)


# What a definition between the brackets of CREATE TABLE begins with that is no column.
_NO_COLUMN = frozenset(
    ("CONSTRAINT", "PRIMARY", "FOREIGN", "UNIQUE", "CHECK", "KEY", "INDEX", "PERIOD", "EXCLUDE", "LIKE", "PROJECTION",
     "FULLTEXT", "SPATIAL", "SUPPLEMENTAL", "PARTITION", "WATERMARK")
)  # fmt: skip


_NO_COLUMN_OF_ALTER = frozenset(
    ("SEARCH", "STORAGE", "ROW", "POLICY", "PARTITIONS", "TAG", "CLUSTERING", "JOIN", "AGGREGATION", "COMMENT", "DATA",
     "STATISTICS", "TTL", "DEFAULT", "TRIGGER", "FIELD", "WITH", "SYSTEM", "PROJECTIONS", "VALUE", "TBLPROPERTIES")
)  # fmt: skip


def _without_options(s: _Statement, kind: int, end: int) -> Tokens:
    """Return a CREATE TABLE or VIEW with the names and types of its columns and its query, and nothing else."""
    words = s.words
    body = next((at for at in _outside(s, end) if words[at] == "AS" and _begins_query(words[at + 1 :])), None)
    columns: Tokens = []
    into: Tokens = []
    if s.says("TO", at=end):  # ClickHouse: what the view fills
        into = s.tokens[end : s.name(end + 1)]
    listed = end + len(into)
    if s.says("(", at=listed):
        for item in _items(s.tokens[listed + 1 : s.closing(listed) - 1]):
            if item[0].text.upper() in _NO_COLUMN and item[0].token_type is not TokenType.IDENTIFIER:
                continue
            columns += [
                *(s.said(",") if columns else []),
                *_column(item, with_type=words[kind] == "TABLE" and not body),
            ]
    listing = [*s.said("("), *columns, *s.said(")")] if columns else []
    query = _without_check(s.tokens[body + 1 :]) if body is not None else []
    materialized = "MATERIALIZED " if words[kind] == "VIEW" and "MATERIALIZED" in words[1:kind] else ""
    temporary = "TEMPORARY " if {"TEMP", "TEMPORARY"} & set(words[1:kind]) else ""
    create = s.said(f"CREATE {temporary}{materialized}{words[kind]}")
    return [*create, *s.tokens[kind + 1 : end], *into, *listing, *(s.said("AS") if query else []), *query]


def _outside(s: _Statement, start: int) -> Iterator[int]:
    """Yield the positions outside of all brackets."""
    depth = 0
    for position in range(start, len(s.words)):
        depth += (s.words[position] == "(") - (s.words[position] == ")")
        if depth == 0:
            yield position


def _begins_query(words: Sequence[str]) -> bool:
    return next((word for word in words if word != "("), "") in _QUERY


def _items(tokens: Tokens) -> Iterator[Tokens]:
    """Yield what stands between the commas."""
    item: Tokens = []
    depth = 0
    for token in tokens:
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0 and token.text == ",":
            if item:
                yield item
            item = []
        else:
            item.append(token)
    if item:
        yield item


def _column(item: Tokens, *, with_type: bool) -> Tokens:
    """Return a column's name, and its type where it is plain; all of a computed column."""
    texts = [token.text.upper() for token in item]
    if any(text == "AS" and texts[at + 1 : at + 2] == ["("] for at, text in enumerate(texts)):
        return item
    if not with_type or len(item) == 1 or not item[1].text.isidentifier():
        return item[:1]
    end = 2
    if texts[2:3] == ["("]:
        end = next((at + 1 for at, text in enumerate(texts) if text == ")"), 2)
    return item[:end]


def _without_check(query: Tokens) -> Tokens:
    """Return a view's query without WITH CHECK OPTION and WITH READ ONLY."""
    texts = [token.text.upper() for token in query[-4:]]
    for tail in (["WITH", "READ", "ONLY"], ["WITH", "CHECK", "OPTION"]):
        if texts[-3:] == tail:
            return query[:-3]
    return query[:-4] if texts[:1] == ["WITH"] and texts[-2:] == ["CHECK", "OPTION"] else query


_CREATED = frozenset(("TABLE", "VIEW", "TASK", "PIPE", "STREAM"))


@_rule("MERGE")
def merge_forms(s: _Statement) -> Iterator[Tokens]:
    """`MERGE WITH SCHEMA EVOLUTION INTO` (Databricks); `UPDATE SET … DELETE WHERE test` (Oracle)."""
    if s.says("MERGE", "WITH", "SCHEMA", "EVOLUTION"):
        yield [s.tokens[0], *s.tokens[4:]]
    elif (at := s.find("DELETE", "WHERE")) is not None:
        end = s.find("WHEN", after=at) or len(s.tokens)
        branch = max(p for p in range(at) if s.words[p] == "WHEN")
        where = s.find("WHERE", after=branch)  # only rows that were updated are deleted
        updated = s.tokens[where + 1 : at] if where is not None and where < at else s.said("TRUE")
        tests = [*updated, *s.said(") AND ("), *s.tokens[at + 2 : end]]
        deletes = [*s.said("WHEN MATCHED AND ("), *tests, *s.said(") THEN DELETE")]
        yield s.said(s.tokens[:at], deletes, s.tokens[end:])


@_rule("*")
def pipe_operators(s: _Statement) -> Iterator[Tokens]:
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
        if operator == "DISTINCT" and depth == 0:  # the parser loses DISTINCT of a SELECT behind a pipe
            total = [*s.said("SELECT DISTINCT * FROM ("), *total, *s.said(")")]
            at, changed = end, True
            continue
        if operator == "DISTINCT":
            made = s.said("SELECT DISTINCT *")
        elif operator == "SET":
            made = [*s.said("SELECT * REPLACE ("), *_turned(s, items), *s.said(")")]
        else:
            made = [*s.said("SELECT * EXCEPT (" if operator == "DROP" else "SELECT * RENAME ("), *items, *s.said(")")]
        total += [s.tokens[at], *made]
        at, changed = end, True
    if changed:
        yield total


def _operator_end(words: Sequence[str], at: int) -> int:
    """Return where the pipe operator ends that begins at a position."""
    depth = 0
    while at < len(words):
        if depth == 0 and (words[at] == "|>" or words[at] == ")"):
            return at
        depth += (words[at] == "(") - (words[at] == ")")
        at += 1
    return at


def _turned(s: _Statement, items: Tokens) -> Tokens:
    """Return `a = x, b = y` as `x AS a, y AS b`."""
    total: Tokens = []
    item: Tokens = []
    depth = 0
    for token in [*items, None]:
        if token is None or (depth == 0 and token.text == ","):
            if len(item) > 2:
                total += [*(s.said(",") if total else []), *item[2:], *s.said("AS"), item[0]]
            item = []
            continue
        depth += (token.text == "(") - (token.text == ")")
        item.append(token)
    return total
