"""The meaning of a column's name in a query block: a column of FROM, one of USING, an alias, or one outside.

Where several readings are possible, the value contains all of them, so that it changes with any.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from lineage.sql.canonical.forms.block_form import BlockForm
from lineage.sql.canonical.forms.digests import digest
from lineage.sql.canonical.forms.table_form import ValueForm, worst

__all__ = ["find_prefixed", "find_unprefixed"]


def find_prefixed(block: BlockForm, alias: str, name: str) -> ValueForm | None:
    """Return the value of `alias.name`; None if its meaning is not certain."""
    for level, scope in enumerate(block.chain()):
        numbers = [number for number, item in enumerate(scope.items) if item.alias == alias]
        if len(numbers) > 1:
            return None
        if numbers:
            value = scope.items[numbers[0]].relation.find(name)
            if value is None:
                return None
            value = scope.refer(numbers[0], value)
            return scope.refer_outer(level, value) if level else value
        if any(item.relation.may_have(alias) for item in scope.items):  # a field of a column
            return None
    return None


def find_unprefixed(
    block: BlockForm, name: str, read_alias: Callable[[BlockForm, exp.Expr], ValueForm]
) -> ValueForm | None:
    """Return the value of a name without a prefix; None if its meaning is not certain."""
    possible: list[ValueForm] = []
    for level, one in enumerate(block.chain()):
        found, certain = _in_block(one, name, read_alias)
        possible += (one.refer_outer(level, value) if level else value for value in found)
        if certain:
            break
    digests = {value.digest for value in possible}
    if len(digests) <= 1:
        return possible[0] if possible else None
    return ValueForm(digest("possibly", sorted(digests)), stability=worst(possible))


def _in_block(
    block: BlockForm, name: str, read_alias: Callable[[BlockForm, exp.Expr], ValueForm]
) -> tuple[list[ValueForm], bool]:
    """Return the possible values of a name in one block, and whether it certainly is one of them."""
    values: list[ValueForm] = []
    certain = False
    if name in block.merged:
        values.append(block.merged[name])
        certain = True
    else:
        for number, item in enumerate(block.items):
            if name in item.hidden or not item.relation.may_have(name):
                continue
            value = item.relation.find(name)
            if value is None:  # several columns of that name
                value = ValueForm(digest("one of", item.relation.content, name))
            values.append(block.refer(number, value))
            certain = certain or not item.relation.is_open or any(name == own for own, _ in item.relation.columns)
    written = block.aliases.get(name)
    if written is None or name in block.open_aliases:
        return values, certain
    if block.columns_first and values:
        return values, True
    if certain and not block.sees_aliases:
        return values, True
    block.open_aliases.add(name)
    try:
        value = read_alias(block, written)
    finally:
        block.open_aliases.discard(name)
    return [*values, value], True
