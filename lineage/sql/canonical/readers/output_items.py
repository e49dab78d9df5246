"""The select list of a query block: its columns in order, with stars expanded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sqlglot import exp

from lineage.sql.canonical.forms.block_form import BlockForm, UnsupportedError
from lineage.sql.canonical.forms.digests import digest, tree_digest
from lineage.sql.canonical.forms.table_form import ValueForm
from lineage.sql.canonical.readers.value_forms import Expressions
from lineage.sql.resolve.identifiers import Identifiers

__all__ = ["Item", "read_items"]


class Item(NamedTuple):
    """An output column. `rest` stands for unknown columns of a star; without `is_certain`, its position is a guess."""

    name: str
    value: ValueForm
    rest: str = ""
    is_certain: bool = True


def read_items(tree: exp.Expr, block: BlockForm, expressions: Expressions, identifiers: Identifiers) -> list[Item]:
    """Return the output columns of a SELECT.

    Raises:
        UnsupportedError: the columns cannot be known.
    """
    items: list[Item] = []
    for node in tree.expressions:
        star = node if isinstance(node, exp.Star) else node.this if isinstance(node, exp.Column) else None
        if isinstance(star, exp.Star):
            table = node.args.get("table") if isinstance(node, exp.Column) else None
            if isinstance(node, exp.Column) and node.args.get("db") is not None:
                raise UnsupportedError
            alias = str(identifiers.column(table)) if table is not None else None
            items += _star(star, alias, block, expressions, identifiers)
            continue
        if isinstance(node, exp.Literal) and node.meta.get("is_call"):
            rest = expressions.value(node, block).digest
            items.append(Item("*", ValueForm(rest), rest, False))
            continue
        if isinstance(node, exp.Alias):
            name, written = str(identifiers.column(node.args["alias"])), node.this
        elif isinstance(node, exp.Column) and isinstance(node.this, exp.Identifier):
            name, written = str(identifiers.column(node.this)), node
        elif isinstance(node, exp.Aliases):
            raise UnsupportedError
        else:
            name, written = f"\x00{len(items)}:{tree_digest(node, expressions.text)}", node
        value = expressions.value(written, block)
        if "{{" in name:  # a template names it: how many columns it makes, and which, is not known
            rest = digest("named by a template", name, value.digest)
            items.append(Item("*", ValueForm(rest), rest, False))
            continue
        items.append(Item(name, value if isinstance(written, exp.Column) else block.computed(value)))
    return items


def _star(
    star: exp.Expr, alias: str | None, block: BlockForm, expressions: Expressions, identifiers: Identifiers
) -> Iterator[Item]:
    if any(value for key, value in star.args.items() if key not in ("except_", "replace", "rename")):
        raise UnsupportedError
    left_out = {str(identifiers.target_column(one)) for one in star.args.get("except_") or []}
    replaced = {
        str(identifiers.column(one.args["alias"])): expressions.value(one.this, block)
        for one in star.args.get("replace") or []
        if isinstance(one, exp.Alias)
    }
    renamed = {
        str(identifiers.target_column(one.this)): str(identifiers.column(one.args["alias"]))
        for one in star.args.get("rename") or []
        if isinstance(one, exp.Alias)
    }
    given = [(key, len(star.args.get(key) or [])) for key in ("replace", "rename")]
    numbers = [n for n, item in enumerate(block.items) if alias in (None, item.alias)]
    if given != [("replace", len(replaced)), ("rename", len(renamed))] or not numbers:
        raise UnsupportedError
    merged_seen: set[str] = set()
    for number in numbers:
        item = block.items[number]
        certain = item.relation.is_ordered and not block.merged
        for name, seen in _columns(block, number, alias, merged_seen):
            if name not in left_out:
                yield Item(renamed.get(name, name), replaced.get(name, seen), is_certain=certain)
        if item.relation.is_open:
            if left_out or replaced or renamed or item.hidden:
                raise UnsupportedError
            rest = item.relation.rest
            yield Item("*", ValueForm(rest), rest if len(block.row_items) == 1 else digest("star", number, rest), False)


def _columns(
    block: BlockForm, number: int, alias: str | None, merged_seen: set[str]
) -> Iterator[tuple[str, ValueForm]]:
    """Yield the columns of an item of FROM that a star shows; one that USING merges only at its first item."""
    item = block.items[number]
    for name, value in item.relation.columns:
        if alias is not None or name not in item.hidden:
            yield name, block.refer(number, value)
        elif name not in merged_seen:
            merged_seen.add(name)
            yield name, block.merged[name]
