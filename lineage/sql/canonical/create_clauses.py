"""What a CREATE states besides name, columns and query: how a table is stored, where rows come from, who sees them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sqlglot import exp

from lineage.model.dialect import Dialect
from lineage.sql.canonical.forms.digests import digest, tree_digest
from lineage.sql.parse.parsed import ParsedStatement

__all__ = ["FILLING", "constraints", "how_it_is_stored", "what_decides_rows"]

FILLING = (
    exp.ComputedColumnConstraint, exp.GeneratedAsIdentityColumnConstraint, exp.GeneratedAsRowColumnConstraint,
    exp.DefaultColumnConstraint, exp.AutoIncrementColumnConstraint, exp.OnUpdateColumnConstraint,
    exp.CollateColumnConstraint, exp.CharacterSetColumnConstraint,
)  # fmt: skip
"""Constraints that make or alter a column's values."""

_KINDS = frozenset(("TABLE", "VIEW", "STREAM"))
_PLAIN = frozenset(("CREATE", "OR", "REPLACE", "IF", "NOT", "EXISTS"))
_ELSEWHERE = frozenset(("EXTERNAL", "FOREIGN", "LOCATION", "EXTERNAL_LOCATION", "SERVER", "STREAM"))
_IN_TREE = frozenset(("this", "expression", "with_", "exists", "replace"))
"""Arguments of CREATE that say which table is made of which query, not how it is stored."""


class _Head(NamedTuple):
    """The words of a CREATE up to the query: those before and behind the name, without the columns; the columns."""

    clauses: list[str]
    columns: list[str]


def how_it_is_stored(tree: exp.Create, parsed: ParsedStatement) -> str:
    """Return a digest of what a CREATE states besides name, columns and query: TABLE or VIEW, properties, options.

    The parser leaves out some of it, which is why the words count too.
    """
    stated = [
        (key, tree_digest(value, parsed.text) if isinstance(value, exp.Expr) else str(value).upper())
        for key, value in sorted(tree.args.items())
        if value and key not in _IN_TREE
    ]
    words = [word for word in _words(parsed) if word != ";"]
    checked = words[words.index("WITH", -4) :] if words[-2:] == ["CHECK", "OPTION"] and "WITH" in words[-4:] else []
    return digest("stored", stated, _head(parsed).clauses, checked)


def what_decides_rows(parsed: ParsedStatement, dialect: Dialect) -> Iterator[tuple[str, str]]:
    """Yield what a CREATE states that decides which rows and values a query sees, each with a digest of it.

    That are files, servers and streams from which rows come, the engine of ClickHouse's tables, of which some merge
    rows, and policies and masks.
    """
    head = _head(parsed)
    named = set(head.clauses)
    elsewhere = not named.isdisjoint(_ELSEWHERE) or named >= {"USING", "OPTIONS"}
    if elsewhere or (dialect.name == "clickhouse" and "ENGINE" in named):
        yield "where its rows come from", digest("origin", head.clauses)
    if any(_is_policy(words, at) for words in head for at in range(1, len(words))):
        yield "policies and masks", digest("policies", *head)


def constraints(schema: exp.Schema, dialect: Dialect, text: str) -> Iterator[tuple[str, str]]:
    """Yield digests of the constraints that fill no column: keys, NOT NULL, CHECK. An empty name: of the table."""
    for item in schema.expressions:
        if not isinstance(item, exp.ColumnDef):
            if not isinstance(item, exp.Identifier):
                yield "", tree_digest(item, text)
            continue
        name = dialect.fold_column(item.this.this, quoted=bool(item.this.args.get("quoted")))
        for constraint in item.args.get("constraints") or ():
            if not isinstance(constraint.args.get("kind"), (*FILLING, exp.CommentColumnConstraint)):
                yield str(name), tree_digest(constraint, text)


def _is_policy(words: list[str], at: int) -> bool:
    """Return whether a word is the clause of a policy, a mask or a row filter, and not a column of that name."""
    return (
        (words[at] in ("POLICY", "MASK", "MASKED") and words[at - 1] not in ("(", ","))
        or words[at - 1 : at + 1] == ["ROW", "FILTER"]
    )  # fmt: skip


def _words(parsed: ParsedStatement) -> list[str]:
    return [token.text.upper() for token in parsed.tokens]


def _head(parsed: ParsedStatement) -> _Head:
    words = _words(parsed)
    kind = next((at for at, word in enumerate(words[:6]) if word in _KINDS), None)
    if kind is None:
        return _Head([], [])
    at = kind + 1
    if words[at : at + 3] == ["IF", "NOT", "EXISTS"]:
        at += 3
    at += 1
    while words[at : at + 1] == ["."]:
        at += 2
    clauses = [word for word in words[: kind + 1] if word not in _PLAIN]
    columns: list[str] = []
    depth = 0
    in_columns = words[at : at + 1] == ["("]
    for word in words[at:]:
        depth -= word == ")"
        if depth == 0 and word in ("AS", ";"):
            break
        (columns if in_columns else clauses).append(word)
        in_columns = in_columns and not (depth == 0 and word == ")")
        depth += word == "("
    return _Head(clauses, columns)
