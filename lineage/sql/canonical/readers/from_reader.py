"""The FROM clause of a query block: tables, sub-queries, VALUES and joins."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace

from sqlglot import exp

from lineage.model.names import Naming
from lineage.sql.canonical.forms.block_form import BlockForm, FromItem, UnsupportedError
from lineage.sql.canonical.forms.digests import Part, digest, tree_digest
from lineage.sql.canonical.forms.table_form import ClauseForm, TableForm, ValueForm, base_table, worst
from lineage.sql.canonical.readers.function_kinds import FunctionKinds
from lineage.sql.canonical.readers.lookup_joins import finds_one_row
from lineage.sql.canonical.readers.pivot_reader import pivoted
from lineage.sql.canonical.readers.value_forms import Expressions, conditions
from lineage.sql.resolve.identifiers import identifiers_of

__all__ = ["FromReader", "Lookup", "allow_only"]

Lookup = Callable[[str], TableForm | None]
"""Returns the form of the table with a full name; None if nothing is known of it."""

_JOIN = frozenset(("this", "on", "side", "kind", "using"))
_TABLE = frozenset(("this", "db", "catalog", "alias", "joins", "pivots"))
_SIDES = frozenset(("", "LEFT", "RIGHT", "FULL"))
_KINDS = frozenset(("", "INNER", "OUTER", "CROSS"))


def allow_only(node: exp.Expr, known: frozenset[str]) -> None:
    """Do nothing if a node has only arguments that a rule reads.

    Raises:
        UnsupportedError: it has others.
    """
    if any(value and key not in known for key, value in node.args.items()):
        raise UnsupportedError


class FromReader(ABC):
    """Reads the FROM clauses of one statement."""

    def __init__(self, text: str, naming: Naming, lookup: Lookup, declared: frozenset[str]) -> None:
        self._text = text
        self._naming = naming
        self._lookup = lookup
        self._identifiers = identifiers_of(naming.dialect)
        self._functions = FunctionKinds(naming.dialect.name, declared)
        self._expressions = Expressions(text, self._identifiers, self._functions, self.query)

    @abstractmethod
    def query(self, tree: exp.Expr, parent: BlockForm | None, ctes: Mapping[str, TableForm] | None = None) -> TableForm:
        """Return the form of a query; `ctes` are those that it sees, by default those of `parent`."""

    def _aliased(self, relation: TableForm, alias: exp.Expr | None) -> TableForm:
        names = [str(self._identifiers.column(one)) for one in (alias.args.get("columns") or [])] if alias else []
        renamed = relation.renamed(names)
        if renamed is None:
            raise UnsupportedError
        return renamed

    def _from(self, tree: exp.Expr, block: BlockForm) -> None:
        clause = tree.args.get("from_")
        joins = list(tree.args.get("joins") or [])
        if clause is None:
            if joins:
                raise UnsupportedError
            return
        joins = [*self._joins_inside(clause.this), *joins]
        block.items.append(self._item(clause.this, block))
        block.rows = block.items[0].relation.rows
        block.note("FROM", block.rows, self._relation_text(clause.this))
        relations = [self._item(join.this, block) for join in joins]
        first = list(block.items)
        block.items = [*first, *relations]  # conditions name the items by their numbers
        if len({item.alias for item in block.items}) != len(block.items):
            raise UnsupportedError
        # Rows that a later RIGHT or FULL JOIN adds are not looked up.
        last = max((n for n, join in enumerate(joins) if join.args.get("side") not in ("", None, "LEFT")), default=-1)
        for number, join in enumerate(joins, start=len(first)):
            if number > last + len(first) and finds_one_row(join, number, block, self._expressions):
                block.items[number] = block.items[number]._replace(is_lookup=True)
        for number, join in enumerate(joins, start=len(first)):
            self._join(join, block.items[number], number, block)
        if len(block.row_items) == 1:
            block.unique = set(block.row_items[0].relation.keys)

    def _joins_inside(self, item: exp.Expr) -> list[exp.Expr]:
        return list(item.args.get("joins") or [])

    def _join(self, join: exp.Expr, item: FromItem, number: int, block: BlockForm) -> None:
        allow_only(join, _JOIN)
        side = str(join.args.get("side") or "").upper()
        kind = str(join.args.get("kind") or "").upper()
        if side not in _SIDES or kind not in _KINDS or (kind == "OUTER" and not side) or self._joins_inside(join.this):
            raise UnsupportedError
        on, using = join.args.get("on"), join.args.get("using")
        read = ""
        if using:
            read = digest("using", [self._merge(str(self._identifiers.column(one)), side, number, block)
                                    for one in using])  # fmt: skip
        if on is not None:
            values = [self._expressions.value(one, block) for one in conditions(on)]
            block.stability = worst(values, block.stability)
            read = digest("on", sorted({value.digest for value in values}))
        if item.is_lookup:
            block.items[number] = block.items[number]._replace(condition=read)
            return
        block.rows = digest("join", block.rows, item.relation.rows, side, read)
        condition = [] if on is None else sorted({tree_digest(one, self._text) for one in conditions(on)})
        names = [str(self._identifiers.column(one)) for one in using or ()]
        written: list[Part] = [self._relation_text(join.this), side, list(condition), list(names)]
        block.note("JOIN", [item.relation.rows, side, read], written)

    def _relation_text(self, node: exp.Expr) -> str:
        """Return the digest of how a relation is named; a sub-query's own clauses are noted by themselves."""
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            return digest("table", [str(part) for part in self._identifiers.table_parts(node)])
        return "" if isinstance(node, exp.Subquery) else tree_digest(node, self._text)

    def _merge(self, name: str, side: str, number: int, block: BlockForm) -> str:
        """Merge the columns of a USING; return the digest of the condition."""
        right = block.items[number].relation.find(name)
        lefts = [
            (index, item.relation.find(name))
            for index, item in enumerate(block.items[:number])
            if name not in item.hidden and item.relation.may_have(name)
        ]
        left = block.merged.get(name)
        if left is None and len(lefts) == 1 and lefts[0][1] is not None:
            left = block.refer(lefts[0][0], lefts[0][1])
        if left is None or right is None or any(item.relation.is_open for item in block.items):
            raise UnsupportedError
        right = block.refer(number, right)
        pair = digest("merged", left.digest, right.digest)
        block.merged[name] = {"": left, "LEFT": left, "RIGHT": right}.get(side) or ValueForm(digest("either", pair))
        for index in (*(index for index, _ in lefts), number):
            item = block.items[index]
            block.items[index] = item._replace(hidden=item.hidden | {name})
        return pair

    def _item(self, node: exp.Expr, block: BlockForm) -> FromItem:
        alias = node.args.get("alias")
        if isinstance(node, exp.Table):
            relation = self._table(node, block)
            name = alias.this if alias is not None else node.this
        elif isinstance(node, exp.Subquery):
            allow_only(node, frozenset(("this", "alias", "pivots")))
            relation = self._aliased(self.query(node.this, block.parent, block.ctes), alias)
            name = alias.this if alias is not None else None
        elif isinstance(node, exp.Values):
            allow_only(node, frozenset(("expressions", "alias")))
            relation = self._aliased(self._values(node, block), alias)
            name = alias.this if alias is not None else None
        else:
            raise UnsupportedError
        item = self._named(name, relation, block)
        for pivot in node.args.get("pivots") or ():
            alias = pivot.args.get("alias")
            made = self._aliased(pivoted(pivot, item, block, self._expressions, self._text), alias)
            item = self._named(alias.this if alias is not None else name, made, block)
        return item

    def _named(self, name: exp.Expr | None, relation: TableForm, block: BlockForm) -> FromItem:
        if isinstance(name, exp.Identifier):
            return FromItem(str(self._identifiers.alias(name)), relation)
        return FromItem(f"\x00{len(block.items)}{digest(relation.rows)}", relation)

    def _values(self, node: exp.Expr, block: BlockForm) -> TableForm:
        rows = [
            [self._expressions.value(one, BlockForm(block.parent, block.ctes))
             for one in (row.expressions if isinstance(row, exp.Tuple) else [row])]
            for row in node.expressions
        ]  # fmt: skip
        if len({len(row) for row in rows}) != 1 or worst(value for row in rows for value in row):
            raise UnsupportedError
        columns = tuple(
            (f"\x00{number}", ValueForm(digest("values", [row[number].digest for row in rows])))
            for number in range(len(rows[0]))
        )
        count = digest("values", len(rows))
        return TableForm(count, columns, count, clauses=(ClauseForm("VALUES", count, count),))

    def _table(self, node: exp.Table, block: BlockForm) -> TableForm:
        allow_only(node, _TABLE)
        alias = node.args.get("alias")
        if not isinstance(node.this, exp.Identifier):
            raise UnsupportedError
        if node.args.get("db") is None and node.args.get("catalog") is None:
            found = block.ctes.get(str(self._identifiers.alias(node.this)))
            if found is not None:
                return self._aliased(found, alias)
        parts = self._identifiers.table_parts(node)
        if not parts:
            raise UnsupportedError
        name = str(self._naming.qualify(parts))
        relation = self._lookup(name)
        if relation is None:
            relation = base_table(name)
        if not name.endswith(parts[-1]):  # a shard of a date: its own rows
            own = digest("part", str(parts[-1]), relation.rows)
            relation = replace(relation, rows=own, order=own)
        return self._aliased(relation, alias)
