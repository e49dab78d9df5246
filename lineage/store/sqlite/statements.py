"""The SQL statements: those of the .sql files with their names filled in, and the rows that they return."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any, TypeAlias

from lineage.store.graph.schema import LABELS, RELATIONSHIPS, PropertyType
from lineage.store.graph.statements import NamedStatement
from lineage.store.planning.graph_state import EdgeType
from lineage.store.sqlite.stored_values import DECODERS, Decoder

__all__ = [
    "KINDS",
    "NODES",
    "Make",
    "check_statements",
    "explore_statement",
    "maker",
    "migrations",
    "sql",
    "write_statement",
]

KINDS: Mapping[str, int] = {
    name: number for number, name in enumerate((*map(str, EdgeType), *(of.retired for of in EdgeType)), start=1)
}
"""The numbers of types of lineage in `lineage.kind`: those of retired ones follow."""
NODES = {
    "Table": "a_table",
    "Column": "a_column",
    "Job": "a_job",
    "Run": "run",
    "Change": "change",
    "Diagnostic": "diagnostic",
    "Usage": "usage_day",
    "Prune": "prune",
    "Tag": "tag",
    "BufferedText": "buffered_text",
}
"""What to select nodes of each label from."""

Make: TypeAlias = Callable[[Sequence[Any]], dict[str, Any]]

_TYPE_OF = {number: name for name, number in KINDS.items()}
_LABEL_OF = {name: label for label, name in NODES.items()}
_RELATIONSHIP_OF = {name.lower(): name for name in ("READS", "WRITES", "OBSERVED")}
_LINKS = ("dump_relationships", "relationships_between")
_COLUMN_OF_TIME = {"first_seen": "since", "valid_from": "since", "valid_to": "until"}

_NAME = re.compile(r"^-- name: ([\w ]+)$", re.MULTILINE)
_COMMENT = re.compile(r"^\s*--.*$", re.MULTILINE)
_WORD = re.compile(r"<(\w+)>")
_VALUE = re.compile(r"\{(\w+) (\w)\}")


@cache
def sql(statement: NamedStatement) -> str:
    """Return a statement of `read.sql` in SQL."""
    names = dict(statement.names)
    if statement.name in _LINKS:
        names = _link_names(names)
    if "time" in names:
        names["time"] = _COLUMN_OF_TIME[str(names["time"])]
    filled = NamedStatement(statement.name, tuple(names.items()))
    return _VALUE.sub(_expanded, filled.text(_named_statements("read"), _quoted))


@cache
def explore_statement(name: str, **words: str) -> str:
    """Return a statement of `explore.sql` with each `<word>` replaced."""
    return NamedStatement(name, tuple(words.items())).text(_named_statements("explore"), _quoted)


@cache
def write_statement(name: str, **words: str) -> str:
    """Return a statement of `write.sql` with each `<word>` replaced."""
    return NamedStatement(name, tuple(words.items())).text(_named_statements("write"), _quoted)


@cache
def check_statements() -> dict[str, str]:
    """Return the statements of `check.sql`, by what each counts."""
    return _named_statements("check")


@cache
def migrations() -> dict[int, str]:
    """Return the migrations by the schema version that they lead to."""
    folder = resources.files("lineage.store.sqlite").joinpath("migrations")
    files = sorted((one for one in folder.iterdir() if one.name.endswith(".sql")), key=lambda one: one.name)
    return {int(one.name.partition("_")[0]): one.read_text(encoding="utf-8") for one in files}


@cache
def maker(columns: tuple[str, ...]) -> Make:
    """Return the function that makes a dictionary from a row, by the names of its columns.

    `last_seen time` is a time; `n.key` is a property of the value `n`.
    """
    plain: list[tuple[int, str, Decoder | None]] = []
    values: dict[str, list[tuple[int, str, Decoder | None]]] = {}
    for place, column in enumerate(columns):
        name, _, kind = column.partition(" ")
        value, dot, part = name.partition(".")
        (values.setdefault(value, []) if dot else plain).append((place, part if dot else name, DECODERS.get(kind)))
    edges = {name for name, parts in values.items() if any(part == "since" for _, part, _ in parts)}

    def make(row: Sequence[Any]) -> dict[str, Any]:
        answer = _decoded(plain, row)
        for name, parts in values.items():
            value = answer[name] = _decoded(parts, row)
            if name in edges:
                _name_period(value)
        return answer

    return make


def _decoded(parts: Sequence[tuple[int, str, Decoder | None]], row: Sequence[Any]) -> dict[str, Any]:
    found = {}
    for place, name, decode in parts:
        value = row[place]
        found[name] = value if decode is None or value is None else decode(value)
    return found


def _name_period(edge: dict[str, Any]) -> None:
    """Give an edge its type, and its times the names that they have in that type."""
    number, since, until = edge.pop("kind"), edge.pop("since"), edge.pop("until")
    edge["type"] = _TYPE_OF[number]
    if number <= len(EdgeType):
        edge["first_seen"] = since
    else:
        edge["valid_from"], edge["valid_to"] = since, until


def _link_names(names: dict[str, Any]) -> dict[str, Any]:
    """Return the names of a statement that reads relationships of one type between two labels."""
    [name] = names["type"]
    link = f"link_{'lineage' if name in KINDS else name}"
    words = {f"{end}_is": "=" if names[end] == ("Table",) else "<>" for end in ("from", "to")}
    kinds: dict[str, Any] = {"type": (name,)} if name in KINDS else {}
    within = NamedStatement(link, tuple({**words, **kinds}.items()))
    return {"link": within, "type": "link_of_lineage" if name in KINDS else name}


def _expanded(found: re.Match[str]) -> str:
    name, alias = found.groups()
    return ", ".join(
        f'{source} AS "{alias}.{shown}{" " + of.value if of is not None else ""}"'
        for source, shown, of in _parts(name, alias)
    )


def _parts(name: str, alias: str) -> list[tuple[str, str, PropertyType | None]]:
    """Return what a value consists of: where each property comes from, its name, and its type."""
    if name in ("lineage", "link_of_lineage"):
        types = {
            **RELATIONSHIPS[EdgeType.CONTRIBUTES].properties,
            "since": PropertyType.TIME,
            "until": PropertyType.TIME,
        }
        del types["first_seen"]
        parts = [(f"{alias}.{one}", one, of) for one, of in types.items() if one != "job"]
        job = "j.key" if name == "lineage" else f"{alias}.job"
        return [(job, "job", None), (f"{alias}.kind", "kind", None), *parts]
    if name in _LABEL_OF:
        return [(f"{alias}.{one}", one, of) for one, of in {"key": None, **LABELS[_LABEL_OF[name]]}.items()]
    name = _RELATIONSHIP_OF.get(name, name)
    parts = [(f"{alias}.{one}", one, of) for one, of in RELATIONSHIPS[name].properties.items()]
    return [(f"'{name}'", "type", None), *parts]


def _quoted(names: tuple[str, ...]) -> str:
    return ", ".join(str(KINDS[one]) if one in KINDS else NODES[one] for one in names)


@cache
def _named_statements(file: str) -> dict[str, str]:
    text = resources.files("lineage.store.sqlite").joinpath(f"{file}.sql").read_text(encoding="utf-8")
    _, *pieces = _NAME.split(text)
    found = {name: _COMMENT.sub("", body).strip() for name, body in zip(pieces[::2], pieces[1::2], strict=True)}
    found |= _any_of_types() if file != "check" else {}
    return {name: _WORD.sub(lambda word: found.get(word[1], word[0]), body) for name, body in found.items()}


def _any_of_types() -> dict[str, str]:
    """Return the replacements of `<word>` in every statement: live and retired types of lineage."""

    def numbers(*types: EdgeType) -> str:
        return _quoted(tuple(name for of in types for name in (str(of), of.retired)))

    return {
        "any_edge": numbers(EdgeType.CONTRIBUTES, EdgeType.REFERENCES),
        "any_contribution": numbers(EdgeType.CONTRIBUTES),
        "any_reference": numbers(EdgeType.REFERENCES),
        "any_feed": numbers(EdgeType.FEEDS),
    }
