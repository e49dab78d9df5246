"""Templates: queries with their tables renamed, as reads and as writes, with places for literals that may change."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from lineage.sql.scan import fingerprint
from tests.query_logs.statements import Query

__all__ = ["Template", "templates"]

_LITERAL = re.compile(
    r"(?<=[=<>(,] )(\d{2,6})\b(?![.\d-])|(?<=[=(,] )'([A-Za-z ]{2,30})'|(?<=[=(,])'([A-Za-z ]{2,30})'"
)
_NAMED = re.compile(r"(\(\s*\w+\s+)?\b(?:FROM|JOIN)\s+([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\b(?!\s*[(.])", re.I)
_WORDS = frozenset(("select", "lateral", "unnest", "values", "table", "only", "generate_series"))
# Of twenty templates six write: two tables, two inserts, a view, and one by way of a temporary table.
_KINDS = (
    "read", "table", "read", "read", "insert", "read", "read", "temporary", "read", "read",
    "read", "insert", "read", "read", "table", "read", "view", "read", "read", "read",
)  # fmt: skip
POOL = 4_096


@dataclass(frozen=True)
class Template:
    """Statements of one session, each as pieces of text with a literal between any two."""

    statements: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    """(pieces, what the literals are like)"""
    dialect: str
    writes: bool

    def texts(self, at: int) -> Iterator[str]:
        """Yield the statements with literals drawn by a number below POOL."""
        for pieces, kinds in self.statements:
            if not kinds:
                yield pieces[0]
                continue
            parts = [pieces[0]]
            for place, (kind, piece) in enumerate(zip(kinds, pieces[1:], strict=True)):
                parts.append(_pool(kind)[(at + 37 * place) % POOL])
                parts.append(piece)
            yield "".join(parts)


def templates(groups: list[list[Query]], count: int, seed: int) -> list[Template]:
    """Return so many templates with different fingerprints, drawn from the groups in equal parts."""
    pick = random.Random(f"templates/{seed}")
    groups = [[query for query in group if _tables(query.sql)] for group in groups]
    made: dict[tuple[str, str], Template] = {}
    for number in range(2 * count):  # some queries are there twice
        group = groups[number % len(groups)]
        turn = number // len(groups)  # so that every group has every kind, and every query most of them
        variant, place = divmod(turn, len(group))
        template = _template(group[place], number, variant, _KINDS[(turn + variant) % len(_KINDS)])
        made.setdefault((template.dialect, fingerprint(next(template.texts(0)), template.dialect)), template)
        if len(made) == count:
            break
    chosen = list(made.values())
    pick.shuffle(chosen)
    return chosen


def _template(query: Query, number: int, variant: int, kind: str) -> Template:
    sql = _renamed(query.sql, f"_{variant}") if variant else query.sql
    if query.dialect == "tsql" and kind != "read":  # no CREATE TABLE AS, and no WITH behind INSERT INTO
        kind = "insert" if query.sql[:6].upper() == "SELECT" else "read"
    target = f"mart.made_{number}"
    temporary = "TEMP VIEW" if query.dialect in ("spark", "databricks") else "TEMPORARY TABLE"
    heads = {
        "read": [""],
        "table": [f"CREATE TABLE {target} AS\n"],
        "view": [f"CREATE VIEW {target} AS\n"],
        "insert": [f"INSERT INTO {target}\n"],
        "temporary": [f"CREATE {temporary} made_{number}_tmp AS\n"],
    }
    statements = [(head, sql) for head in heads[kind]]
    if kind == "temporary":
        statements.append(("", f"INSERT INTO {target} SELECT * FROM made_{number}_tmp"))
        if temporary != "TEMP VIEW":
            statements.append(("", f"DROP TABLE made_{number}_tmp"))
    parts = tuple(_parts(head, body, query) for head, body in statements)
    return Template(parts, query.dialect, kind != "read")


@cache
def _tables(sql: str) -> frozenset[str]:
    """Return the words of a query that name tables."""
    # With a single word before it (EXTRACT(year FROM …)) it is no table.
    tables = (found[2] for found in _NAMED.finditer(sql) if not found[1] or found[1].strip("( \n").upper() == "SELECT")
    return frozenset(name for name in (table.rpartition(".")[2] for table in tables) if name.lower() not in _WORDS)


def _renamed(sql: str, suffix: str) -> str:
    """Return a query over other tables: every word that names one has a suffix."""
    names = sorted(map(re.escape, _tables(sql)), key=len, reverse=True)
    return re.sub(rf"\b({'|'.join(names)})\b", rf"\1{suffix}", sql)


def _parts(head: str, sql: str, query: Query) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a statement's pieces around the literals that a template's runs may differ in."""
    pieces, kinds, behind = [head], [], 0
    free = _free_literals(query.sql, query.dialect)
    for place, found in enumerate(_LITERAL.finditer(sql)):
        if place >= len(free) or not free[place]:
            continue
        pieces[-1] += sql[behind : found.start()]
        kinds.append(f"n{len(found[1])}" if found[1] else f"s{len(found[0]) - 2}")
        pieces.append("")
        behind = found.end()
    pieces[-1] += sql[behind:]
    return tuple(pieces), tuple(kinds)


@cache
def _free_literals(sql: str, dialect: str) -> tuple[bool, ...]:
    """Return for each literal of a query whether its value leaves the query's fingerprint as it is."""
    whole = fingerprint(sql, dialect)
    free = []
    for found in _LITERAL.finditer(sql):
        other = "9" * len(found[1]) if found[1] else "'" + "q" * (len(found[0]) - 2) + "'"
        free.append(fingerprint(f"{sql[: found.start()]}{other}{sql[found.end() :]}", dialect) == whole)
    return tuple(free)


@cache
def _pool(kind: str) -> list[str]:
    pick = random.Random(f"literals/{kind}")
    length = int(kind[1:])
    if kind[0] == "n":
        return [str(pick.randrange(10 ** (length - 1), 10**length)) for _ in range(POOL)]
    letters = "abcdefghijklmnopqrstuvwxyz"
    return ["'" + "".join(pick.choices(letters, k=length)) + "'" for _ in range(POOL)]
