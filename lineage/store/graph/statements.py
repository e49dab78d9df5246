"""The statements of the stores: named ones in .cypher and .sql files, read once and filled with names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib import resources
from typing import TypeAlias

from lineage.frozen import frozen
from lineage.store.graph.schema import LABELS, RELATIONSHIPS
from lineage.store.planning.graph_state import EdgeType
from lineage.store.planning.observations import KEPT, TIME_SIZE

__all__ = [
    "Filling",
    "NamedStatement",
    "cypher",
    "own_query",
    "query",
    "refresh_statement",
    "script",
    "scripts",
    "seen_again_statements",
    "write_statement",
]


def _live_or_retired(*types: EdgeType) -> str:
    return "|".join(f"`{name}`" for of in types for name in (str(of), of.retired))


_EDGE_TYPES = {
    "any_edge": _live_or_retired(EdgeType.CONTRIBUTES, EdgeType.REFERENCES),
    "any_contribution": _live_or_retired(EdgeType.CONTRIBUTES),
    "any_reference": _live_or_retired(EdgeType.REFERENCES),
    "any_feed": _live_or_retired(EdgeType.FEEDS),
    "contributed": EdgeType.CONTRIBUTES.retired,
    "lineage": _live_or_retired(*EdgeType),
}
"""Replacements of `<word>` in every statement: live and retired types of lineage."""

_NAME = re.compile(r"^// name: (\w+)$", re.MULTILINE)
_COMMENT = re.compile(r"^\s*//.*$", re.MULTILINE)

Filling: TypeAlias = "str | NamedStatement | tuple[str, ...] | tuple[NamedStatement, ...]"
"""What a `<word>` of a statement stands for: a word, a part, names of labels or types, or conditions that all hold."""


@frozen
class NamedStatement:
    """A named statement, which each database has in its language, with what its `<word>`s stand for."""

    name: str
    names: tuple[tuple[str, Filling], ...] = ()

    def text(self, statements: Mapping[str, str], quoted: Callable[[tuple[str, ...]], str]) -> str:
        """Return the text, from those of a language; `quoted` is how it writes names of labels or types."""
        text = statements[self.name]
        for word, filling in self.names:
            text = text.replace(f"<{word}>", _text_of(filling, statements, quoted))
        return text


def _text_of(filling: Filling, statements: Mapping[str, str], quoted: Callable[[tuple[str, ...]], str]) -> str:
    if isinstance(filling, str):
        return filling
    if isinstance(filling, NamedStatement):
        return filling.text(statements, quoted)
    parts = [one.text(statements, quoted) for one in filling if isinstance(one, NamedStatement)]
    if parts or not filling:
        return " AND ".join(parts) or "true"
    return quoted(tuple(one for one in filling if isinstance(one, str)))


@cache
def query(name: str, **names: Filling) -> NamedStatement:
    """Return a statement that reads, which `neo4j/read.cypher` and `sqlite/read.sql` have.

    >>> cypher(query("feeds_into", types=("FEEDS",))).split("<-")[1].split("-(")[0]
    '[e:`FEEDS`]'
    """
    return NamedStatement(name, tuple(sorted(names.items())))


@cache
def cypher(statement: NamedStatement) -> str:
    """Return a statement in Cypher."""
    return statement.text(_named_statements("neo4j/read.cypher"), lambda names: "|".join(f"`{one}`" for one in names))


@cache
def own_query(store: str, name: str, **names: str) -> str:
    """Return a statement of a store's own `explore.cypher`, or a part of one, with each `<word>` replaced.

    >>> own_query("neo4j", "present_now")
    'c.dropped_at IS NULL'
    """
    return _fill(_named_statements(f"{store}/explore.cypher")[name], names)


@cache
def write_statement(
    name: str, label: str, ends: tuple[str, str] | None = None, only: tuple[str, ...] | None = None
) -> str:
    """Return a statement of `neo4j/write.cypher` for nodes of a label, or relationships of a type between labels.

    `only` are the properties to set; default: all.

    >>> write_statement("delete_relationship", "FEEDS", ("Table", "Table")).split("WHERE ")[1]
    'e.`job` = $job DELETE e'
    """
    statement = _named_statements("neo4j/write.cypher")[name]
    properties: tuple[str, ...] = ("key", *LABELS[label]) if ends is None else tuple(RELATIONSHIPS[label].properties)
    identity: tuple[str, ...] = () if ends is None else RELATIONSHIPS[label].identity
    variable = "n" if ends is None else "e"
    kept = ("key", *identity)
    names = {
        "label": f"`{label}`",
        "type": f"`{label}`",
        "from": f"`{ends[0]}`" if ends else "",
        "to": f"`{ends[1]}`" if ends else "",
        "properties": ", ".join(f"`{one}`: ${one}" for one in properties),
        "assignments": ", ".join(f"{variable}.`{one}` = ${one}" for one in only or properties if one not in kept),
        "identity": " AND ".join(f"e.`{one}` = ${one}" for one in identity) or "true",
    }
    return _fill(statement, names).replace(" {}", "")


@cache
def refresh_statement(target_label: str, *types: str) -> str:
    """Return the statement of `neo4j/write.cypher` that moves `last_seen` of a unit's relationships of these types.

    >>> refresh_statement("Table", "FEEDS").split("-()")[0]
    'MATCH (:`Table` {key: $output})<-[e:`FEEDS`]'
    """
    name = "refresh_edges_to_dataset" if target_label == "Table" else "refresh_edges_to_columns"
    return _fill(_named_statements("neo4j/write.cypher")[name], {"types": "|".join(f"`{one}`" for one in types)})


@cache
def seen_again_statements() -> tuple[str, ...]:
    """Return the statements of `neo4j/write.cypher` for jobs that were observed again unchanged, in order."""
    named = _named_statements("neo4j/write.cypher")
    names = ("see_jobs_again", "see_read_datasets_again", "see_datasets_again")
    return tuple(_fill(named[one], {"size": str(TIME_SIZE * (KEPT - 1))}) for one in names)


@cache
def script(store: str, path: str) -> tuple[str, ...]:
    """Return the statements of a file of a store, in order; semicolons separate them."""
    text = resources.files("lineage.store").joinpath(store, path).read_text(encoding="utf-8")
    return tuple(part for piece in _COMMENT.sub("", text).split(";") if (part := piece.strip()))


@cache
def scripts(store: str) -> dict[int, tuple[str, ...]]:
    """Return the migrations of a store: the statements by schema version."""
    folder = resources.files("lineage.store").joinpath(store, "migrations")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".cypher"))
    return {int(name.partition("_")[0]): script(store, f"migrations/{name}") for name in names}


@cache
def _named_statements(file: str) -> dict[str, str]:
    text = resources.files("lineage.store").joinpath(file).read_text(encoding="utf-8")
    _, *pieces = _NAME.split(text)
    return {
        name: _fill(_COMMENT.sub("", body).strip(), _EDGE_TYPES)
        for name, body in zip(pieces[::2], pieces[1::2], strict=True)
    }


def _fill(statement: str, names: Mapping[str, str]) -> str:
    for name, value in names.items():
        statement = statement.replace(f"<{name}>", value)
    return statement
