"""RENAME, EXCHANGE and ALTER TABLE: renamed tables, moved rows, changed columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sqlglot.tokenizer_core import Token

from lineage.sql.parse.alterations import COMPUTED, MOVED
from lineage.sql.parse.rewrites.statement import NO_COLUMN, QUERY, Statement, Tokens, items, plain_column, rewrite
from lineage.sql.procedural.text.tokens import STRINGS

_NO_COLUMN_OF_ALTER = frozenset(
    ("SEARCH", "STORAGE", "ROW", "POLICY", "PARTITIONS", "TAG", "CLUSTERING", "JOIN", "AGGREGATION", "COMMENT", "DATA",
     "STATISTICS", "TTL", "DEFAULT", "TRIGGER", "FIELD", "WITH", "SYSTEM", "PROJECTIONS", "VALUE", "TBLPROPERTIES")
)  # fmt: skip

_KINDS = frozenset(
    ("DYNAMIC", "EXTERNAL", "FOREIGN", "ICEBERG", "TRANSIENT", "HYBRID", "SNAPSHOT", "STREAMING", "LIVE", "EVENT")
)
_VERBS = frozenset(("ADD", "DROP", "RENAME", "CHANGE", "MODIFY", "ALTER", "SET", "COMMENT"))
_BY_NAME = "BY NAME SELECT * FROM"


@rewrite("RENAME", "EXCHANGE")
def rename_and_exchange(s: Statement) -> Iterator[Tokens]:
    """`RENAME TABLE a TO b, c TO d` (MySQL, ClickHouse), `RENAME VIEW a AS b` (Teradata), `RENAME a TO b` (Oracle).

    `EXCHANGE TABLES a AND b` of ClickHouse swaps two.
    """
    if s.words[1:2] in (["TABLE"], ["TABLES"], ["VIEW"]):
        at = 2
    elif s.words[0] == "RENAME" and s.name(1) == len(s.words) - 2 and s.words[-2] == "TO":
        at = 1
    else:
        return
    while at < len(s.words):
        end = s.name(at)
        if s.words[end : end + 1] not in (["TO"], ["AND"], ["AS"]):
            return
        other = s.name(end + 1)
        means = "SWAP WITH" if s.words[end] == "AND" else "RENAME TO"
        yield s.build("ALTER TABLE", s.tokens[at:end], means, s.tokens[end + 1 : other])
        at = other + 1


@rewrite("DROP")
def drop_of_a_kind(s: Statement) -> Iterator[Tokens]:
    """`DROP EXTERNAL TABLE t`, `DROP FOREIGN TABLE t`, `DROP DYNAMIC TABLE t`: once gone, a table like others."""
    if s.words[1:2] and s.words[1] in _KINDS and s.words[2:3] == ["TABLE"]:
        yield s.build("DROP TABLE", s.tokens[3:])


@rewrite("ALTER")
def transfer(s: Statement) -> Iterator[Tokens]:
    """`ALTER SCHEMA s TRANSFER OBJECT::a.t` moves a table to another schema (T-SQL)."""
    to = s.name(2)
    if s.matches("ALTER", "SCHEMA") and s.matches("TRANSFER", at=to):
        table = to + 3 if s.matches("OBJECT", at=to + 1) else to + 1
        name = s.tokens[table : s.name(table)]
        yield s.build("ALTER TABLE", name, "RENAME TO", s.tokens[2:to], ".", name[-1:])


@rewrite("ALTER")
def define_anew(s: Statement) -> Iterator[Tokens]:
    """`ALTER VIEW v (a) WITH SCHEMABINDING AS query` redefines a view, as CREATE OR REPLACE VIEW does.

    https://clickhouse.com/docs/sql-reference/statements/alter/view
    """
    kind = 1 + s.matches("MATERIALIZED", at=1)
    if s.matches("VIEW", at=kind):
        name = kind + 3 if s.matches("IF", "EXISTS", at=kind + 1) else kind + 1
        query = s.find("AS", after=name)
        if query is not None and s.words[query + 1 : query + 2] and s.words[query + 1] in (*QUERY, "("):
            yield s.build("CREATE OR REPLACE", s.tokens[1 : kind + 1], s.tokens[name:])
    elif s.matches("TABLE", at=1) and (at := s.find("MODIFY", "QUERY")) is not None:  # ClickHouse's materialized view
        name = 4 if s.matches("IF", "EXISTS", at=2) else 2
        yield s.build("CREATE OR REPLACE MATERIALIZED VIEW", s.tokens[name : s.name(name)], "AS", s.tokens[at + 2 :])


@rewrite("ALTER")
def move_rows(s: Statement) -> Iterator[Tokens]:
    """ALTER TABLE that moves rows from one table to another or renames; ClickHouse's ALTER TABLE … UPDATE.

    One case for each verb, a list as the grammars have it.
    """
    if s.matches("ALTER", "MATERIALIZED", "VIEW") or (
        s.words[1:2] and s.words[1] in _KINDS and s.words[2:3] == ["TABLE"]
    ):
        start = 3
    elif s.matches("ALTER", "TABLE") or s.matches("ALTER", "VIEW"):
        start = 2
    else:
        return
    start += 2 if s.matches("IF", "EXISTS", at=start) else 0
    start += s.matches("ONLY", at=start)  # as pg_dump writes it
    end = s.name(start)
    table = s.tokens[start:end]
    end += 3 if s.matches("ON", "CLUSTER", at=end) else 0
    rest = s.words[end:]

    def inserted(into: Sequence[Token], source: Sequence[Token], query: str = "SELECT * FROM") -> Tokens:
        return s.build("INSERT INTO", into, query, source)

    def table_at(position: int) -> Sequence[Token]:
        return s.tokens[position : s.name(position)]

    if rest[:1] == ["UPDATE"]:
        yield s.build("UPDATE", table, "SET", s.tokens[end + 1 :])
    elif rest[:2] in (["RENAME", "TO"], ["RENAME", "AS"]):
        yield s.build("ALTER TABLE", table, "RENAME TO", s.tokens[end + 2 :])
    elif rest[:2] == ["SWAP", "WITH"]:
        yield s.build("ALTER TABLE", table, "SWAP WITH", s.tokens[end + 2 :])
    elif rest[:2] == ["SET", "SCHEMA"] and len(rest) > 2:  # PostgreSQL
        yield s.build("ALTER TABLE", table, "RENAME TO", s.tokens[end + 2 : end + 3], ".", table[-1:])
    elif rest[:2] == ["APPEND", "FROM"]:  # Redshift
        yield inserted(table, table_at(end + 2))
    elif rest[:2] == ["ATTACH", "PARTITION"] and (
        s.find("FROM", after=end) is None or s.find("FOR", "VALUES", after=end) is not None
    ):  # PostgreSQL: a query over the table reads the partition, and rows that are written to the table are in it
        yield inserted(table, table_at(end + 2), _BY_NAME)
        yield inserted(table_at(end + 2), table, _BY_NAME)
    elif rest[:2] in (["ATTACH", "PARTITION"], ["REPLACE", "PARTITION"]):  # ClickHouse
        if (origin := s.find("FROM", after=end)) is not None:
            yield inserted(table, table_at(origin + 1))
    elif rest[:1] == ["INHERIT"]:  # PostgreSQL: a query over the other table reads the rows of this one, too
        yield inserted(table_at(end + 1), table, _BY_NAME)
    elif rest[:1] == ["MOVE"] and (to := s.find("TO", "TABLE", after=end)) is not None:  # ClickHouse
        yield inserted(table_at(to + 2), table)
    elif rest[:1] == ["SWITCH"] and (to := s.find("TO", after=end)) is not None:  # T-SQL
        yield inserted(table_at(to + 1), table)
    elif rest[:1] == ["EXCHANGE"] and (other := s.find("WITH", "TABLE", after=end)) is not None:
        yield inserted(table, table_at(other + 2))
        if not s.dialect.exchange_moves_partition:
            yield inserted(table_at(other + 2), table)
    else:
        yield from _column_changes(s, table, end)


def _column_changes(s: Statement, table: Sequence[Token], start: int) -> Iterator[Tokens]:
    """Yield an ALTER TABLE for each column that is added, dropped or renamed; other changes have no lineage."""
    verb: Tokens = []
    for change in _single(items(s.tokens[start:])):
        if change[0].text.upper() in _VERBS:
            verb, item = change[:1], change
        else:  # `ADD a INT, b INT`, `DROP COLUMN a, b`
            item = [*verb, *change]
        words = [token.text.upper() for token in item]
        at = 1
        while words[at : at + 1] in (["COLUMN"], ["COLUMNS"], ["IF"], ["NOT"], ["EXISTS"]):
            at += 1
        rest = item[at:]
        if not rest or (words[at] in NO_COLUMN or words[at] in _NO_COLUMN_OF_ALTER):
            continue
        if words[0] == "ADD" and len(rest) > 1:
            place = next((i for i, word in enumerate(words) if word in ("FIRST", "AFTER") and i > len(words) - 3), None)
            behind = [] if place is None else item[place:]
            yield s.build("ALTER TABLE", table, "ADD COLUMN", plain_column(rest, with_type=True), behind)
        elif words[0] == "DROP":
            yield s.build("ALTER TABLE", table, "DROP COLUMN", rest[:1])
        elif words[0] == "RENAME" and "COLUMN" in words and words[at + 1 : at + 2] == ["TO"]:
            yield s.build("ALTER TABLE", table, "RENAME COLUMN", rest[:1], "TO", rest[2:3])
        elif words[0] in ("CHANGE", "MODIFY", "ALTER"):
            yield from _redefined(s, table, item, at)


def _redefined(s: Statement, table: Sequence[Token], item: Tokens, at: int) -> Iterator[Tokens]:
    """Yield what CHANGE, MODIFY or ALTER does to the column at a position: a new name, default or place."""
    name, rest = item[at : at + 1], item[at:]
    if item[0].text.upper() == "CHANGE" and len(rest) > 2:
        name = rest[1:2]
        if rest[0].text != rest[1].text:
            yield s.build("ALTER TABLE", table, "RENAME COLUMN", rest[:1], "TO", name)
    default = next((i for i, token in enumerate(item) if token.text.upper() in _DEFAULTS and i > at), None)
    if default is not None and s.dialect.defaults_read_columns and item[default + 1 :]:
        value = [*_until_option(item[default + 1 :])]
        yield s.build("ALTER TABLE", table, "ALTER COLUMN", name, f"TYPE INT USING {COMPUTED}(", value, ")")
    elif len(rest) > 1 and (moved := _place(rest)):
        yield s.build("ALTER TABLE", table, "ALTER COLUMN", name, "TYPE INT USING", *moved)


_DEFAULTS = frozenset(("DEFAULT", "MATERIALIZED", "ALIAS"))


def _until_option(value: Tokens) -> Tokens:
    """Return the tokens of ClickHouse's `DEFAULT value` without the options behind it."""
    ends = ("CODEC", "TTL", "COMMENT", "STATISTICS", "SETTINGS", "PRIMARY", "FIRST", "AFTER")
    end = next((i for i, token in enumerate(value) if i and token.text.upper() in ends), len(value))
    return value[:end]


def _place(change: Tokens) -> list[str | Tokens]:
    """Return the marker of the new position in `… FIRST`, `… AFTER b`; empty if the column is not moved."""
    while len(change) > 2 and change[-1].text.upper() in ("CASCADE", "RESTRICT"):
        change = change[:-1]
    first, after = MOVED
    if change[-1].text.upper() == "FIRST" and change[-1].token_type not in STRINGS:
        return [f"{first}()"]
    is_after = change[-2].text.upper() == "AFTER" and change[-2].token_type not in STRINGS
    return [after, "(", change[-1:], ")"] if is_after else []


def _single(changes: Iterable[Tokens]) -> Iterator[Tokens]:
    """Yield the changes, with `ADD (a INT, b INT)` split into one a column."""
    for item in changes:
        opens = next((i for i, token in enumerate(item[:3]) if token.text == "("), 0)
        if not opens or item[-1].text != ")" or item[0].text.upper() not in ("ADD", "DROP"):
            yield item
            continue
        for column in items(item[opens + 1 : -1]):
            yield [*item[:opens], *column]
