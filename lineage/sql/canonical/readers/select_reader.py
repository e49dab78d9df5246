"""One query block, clause by clause, in the order in which SQL evaluates them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from sqlglot import exp

from lineage.sql.canonical.forms.block_form import BlockForm, UnsupportedError
from lineage.sql.canonical.forms.digests import Part, digest, tree_digest
from lineage.sql.canonical.forms.table_form import Stability, TableForm, ValueForm, worst
from lineage.sql.canonical.readers.extreme_rows import follow_extremes
from lineage.sql.canonical.readers.from_reader import FromReader, allow_only
from lineage.sql.canonical.readers.output_items import Item, read_items
from lineage.sql.canonical.readers.template_forms import macro_clause
from lineage.sql.canonical.readers.value_forms import conditions, contains_aggregate
from lineage.sql.resolve.scopes.alias_visibility import alias_visibility

__all__ = ["SelectReader"]

_SELECT = frozenset(
    ("with_", "expressions", "distinct", "from_", "joins", "where", "group", "having", "qualify", "windows", "order",
     "limit", "offset")
)  # fmt: skip


def _fixed(clause: exp.Expr) -> Iterator[exp.Expr]:
    """Yield what a clause requires to be equal to a constant."""
    for one in conditions(clause):
        if isinstance(one, exp.EQ):
            sides = (one.this, one.expression)
            yield from (side for side, other in (sides, sides[::-1]) if isinstance(other, exp.Literal))


def _visible(unique: Collection[frozenset[str]], values: Sequence[ValueForm]) -> frozenset[frozenset[str]]:
    """Return the sets of unique values that are columns, and the same whenever they are computed."""
    stable = {value.digest for value in values if value.stability is not Stability.VOLATILE}
    return frozenset(key for key in unique if key <= stable)


def _note_unknown(block: BlockForm) -> None:
    """Let the rows depend on the functions and macros that nothing is known of."""
    if block.wild:
        wild = sorted(set(block.wild))
        block.rows = digest("with unknown", block.rows, wild)
        for phrase in sorted(block.unknown_functions) or ["unknown syntax"]:
            block.note(phrase, wild, wild)
        if block.is_unread:
            block.stability = Stability.VOLATILE
    for text in sorted(set(block.templates)):  # what they are made of upstream is part of their values
        block.rows = digest("template", block.rows, text)
        block.note(macro_clause(text), text, text)


def _group_as_one(tree: exp.Expr, block: BlockForm) -> None:
    """Let aggregates without GROUP BY make one row of all.

    Raises:
        UnsupportedError: HAVING stands without one.
    """
    read = [*tree.expressions, *(tree.args[key] for key in ("having", "qualify", "order") if tree.args.get(key))]
    if any(contains_aggregate(one) for one in read):
        block.keys = frozenset()
        block.unique = {block.keys}
        block.rows = digest("group", block.rows, [])
        block.note("GROUP BY", [], [])
    elif tree.args.get("having") is not None:
        raise UnsupportedError


class SelectReader(FromReader):
    """Reads the query blocks of one statement."""

    def _select(self, tree: exp.Expr, parent: BlockForm | None, ctes: Mapping[str, TableForm]) -> TableForm:
        allow_only(tree, _SELECT)
        block = BlockForm(parent, ctes)
        self._from(tree, block)
        order = block.order_of_rows
        for item in tree.expressions:
            if isinstance(item, exp.Alias):
                block.aliases.setdefault(str(self._identifiers.column(item.args["alias"])), item.this)
        block.windows = {
            str(self._identifiers.column(window.this)): window for window in tree.args.get("windows") or []
        }
        visible = alias_visibility(self._identifiers.dialect.name)
        hides = visible.before_columns
        block.sees_aliases, block.columns_first = hides, visible.is_known and not visible.where
        self._filter(tree.args.get("where"), block, "WHERE")
        block.sees_aliases, block.columns_first = True, False
        self._group(tree, block)
        self._filter(tree.args.get("having"), block, "HAVING")
        block.sees_aliases, block.columns_first = hides, visible.is_known and not visible.select_list
        if self._identifiers.dialect.bare_columns_follow_extremes and block.keys is not None:
            follow_extremes(tree, block, self._expressions)
        over = block.rows
        items = read_items(tree, block, self._expressions, self._identifiers)
        block.sees_aliases, block.columns_first = True, False
        self._filter(tree.args.get("qualify"), block, "QUALIFY")
        keys = self._order(tree, block, items, over)
        _note_unknown(block)
        values = [item.value for item in items]
        block.stability = max(block.stability, *(item.relation.stability for item in block.row_items), Stability.STABLE)
        self._distinct(tree, block, values, keys, order)
        self._limit(tree, block, keys, order)
        passed = not keys and [block.rows] == [item.relation.rows for item in block.items]
        rests = [item.rest for item in items if item.rest]
        return TableForm(
            block.rows,
            tuple((item.name, item.value) for item in items),
            block.items[0].relation.order if passed else digest("stored", block.rows, keys, order),
            rests[0] if len(rests) == 1 else digest("rests", rests) if rests else "",
            is_ordered=all(item.is_certain for item in items),
            stability=block.stability,
            clauses=block.all_clauses,
            keys=frozenset() if block.wild or block.templates or any(rests) else _visible(block.unique, values),
        )

    def _distinct(
        self, tree: exp.Expr, block: BlockForm, values: Sequence[ValueForm], keys: Sequence[Part], order: str
    ) -> None:
        """Keep one row of each value of these, or of what DISTINCT ON names: the first in the order."""
        distinct = tree.args.get("distinct")
        if distinct is None:
            return
        if distinct.args.get("on") is not None:
            on = [self._expressions.value(one, block).digest for one in distinct.args["on"].expressions]
            block.rows = digest("distinct on", block.rows, on, keys, order)
            block.unique.add(frozenset(on))
            block.note("DISTINCT ON", [on, keys], tree_digest(distinct, self._text))
            block.note("ORDER BY", keys, self._clause_text(tree.args.get("order")))
            block.stability = max(block.stability, Stability.TIES)
            return
        digests = [value.digest for value in values]
        block.rows = digest("distinct", block.rows, sorted(set(digests)))
        block.unique.add(frozenset(digests))
        listed = [tree_digest(one, self._text) for one in tree.expressions]
        block.note("DISTINCT", sorted(set(digests)), listed)
        block.stability = worst(values, block.stability)

    def _clause_text(self, clause: exp.Expr | None) -> str:
        return "" if clause is None else tree_digest(clause, self._text)

    def _filter(self, clause: exp.Expr | None, block: BlockForm, name: str) -> None:
        """Keep the rows that fulfil a clause. The conditions of several clauses are one set."""
        if clause is None:
            return
        values = [self._expressions.value(one, block) for one in conditions(clause.this)]
        constant = [self._expressions.value(one, block) for one in _fixed(clause.this)]
        fixed = {value.digest for value in constant if value.stability is not Stability.VOLATILE}
        block.unique = {key - fixed for key in block.unique}
        block.stability = worst(values, block.stability)
        meaning = sorted({value.digest for value in values})
        block.rows = digest("filter", block.rows, meaning)
        block.note(name, meaning, sorted({tree_digest(one, self._text) for one in conditions(clause.this)}))

    def _group(self, tree: exp.Expr, block: BlockForm) -> None:
        clause = tree.args.get("group")
        if clause is None:
            _group_as_one(tree, block)
            return
        if clause.args.get("all"):
            self._group_by_all(tree, block)
            return
        more = [
            (key, self._expressions.value(one, block).digest)
            for key, listed in sorted(clause.args.items())
            if key != "expressions" and listed
            for one in (listed if isinstance(listed, list) else [listed])
            if isinstance(one, exp.Expr)
        ]
        if any(value is True for value in clause.args.values()):
            raise UnsupportedError
        keys_found = [self._key(one, tree, block) for one in clause.expressions]
        block.stability = worst(keys_found, block.stability)
        block.keys = frozenset(value.digest for value in keys_found)
        block.unique = set() if more else {block.keys}  # ROLLUP and the like make several groups of one key
        block.rows = digest("group", block.rows, sorted(block.keys), *more)
        meaning = [sorted({value.digest for value in keys_found}), *more]
        block.note("GROUP BY", meaning, tree_digest(clause, self._text))

    def _group_by_all(self, tree: exp.Expr, block: BlockForm) -> None:
        keys = [one.this if isinstance(one, exp.Alias) else one for one in tree.expressions]
        if any(one.find(exp.Star) is not None and not one.find(exp.AggFunc) for one in keys):
            raise UnsupportedError
        keys = [one for one in keys if not contains_aggregate(one)]
        values = [self._expressions.value(one, block) for one in keys]
        block.stability = worst(values, block.stability)
        block.keys = frozenset(value.digest for value in values)
        block.unique = {block.keys}
        block.rows = digest("group", block.rows, sorted(block.keys))
        listed = [tree_digest(one, self._text) for one in keys]
        block.note("GROUP BY", sorted({value.digest for value in values}), listed)

    def _key(self, node: exp.Expr, tree: exp.Expr, block: BlockForm) -> ValueForm:
        """Return the value of a key of GROUP BY, which may be the position of an output column."""
        if isinstance(node, exp.Literal) and not node.is_string:
            items = tree.expressions
            number = int(node.name) - 1 if node.name.isdigit() else -1
            if not 0 <= number < len(items) or any(item.is_star for item in items[: number + 1]):
                raise UnsupportedError
            item = items[number]
            node = item.this if isinstance(item, exp.Alias) else item
        return self._expressions.value(node, block)

    def _order(self, tree: exp.Expr, block: BlockForm, items: Sequence[Item], over: str) -> list[Part]:
        """Return the keys of ORDER BY: an output column by name or position, or an expression."""
        clause = tree.args.get("order")
        if clause is None:
            return []
        allow_only(clause, frozenset(("expressions",)))
        rows, block.rows = block.rows, over
        keys: list[Part] = []
        for ordered in clause.expressions:
            if not isinstance(ordered, exp.Ordered):
                raise UnsupportedError
            flags = sorted((key, repr(arg)) for key, arg in ordered.args.items() if key != "this" and arg)
            keys.append((self._order_key(ordered.this, block, items), [list(flag) for flag in flags]))
        block.rows = rows
        return keys

    def _order_key(self, node: exp.Expr, block: BlockForm | None, items: Sequence[Item]) -> str:
        names = {item.name: item.value.digest for item in reversed(items)}
        if isinstance(node, exp.Literal) and not node.is_string:
            if not node.name.isdigit() or not all(item.is_certain and not item.rest for item in items):
                raise UnsupportedError
            number = int(node.name) - 1
            if not 0 <= number < len(items):
                raise UnsupportedError
            return items[number].value.digest
        if isinstance(node, exp.Column) and node.args.get("table") is None and isinstance(node.this, exp.Identifier):
            own = names.get(str(self._identifiers.column(node.this)))
            if own is not None:
                return own
        if isinstance(node, exp.PositionalColumn):
            raise UnsupportedError
        if self._is_all(node):
            return self._order_of_all(node, block, items)
        if block is None:
            raise UnsupportedError
        return self._expressions.value(node, block).digest

    def _is_all(self, node: exp.Expr) -> bool:
        """Return whether a key is written ALL."""
        name = node.this if isinstance(node, exp.Column) and node.args.get("table") is None else node
        bare = isinstance(name, exp.Var) or (isinstance(name, exp.Identifier) and not name.args.get("quoted"))
        return bare and str(name.name).upper() == "ALL"

    def _order_of_all(self, node: exp.Expr, block: BlockForm | None, items: Sequence[Item]) -> str:
        """Return the key of ORDER BY ALL: the output columns from left to right, or a column of that name."""
        if not all(item.is_certain and not item.rest for item in items):
            raise UnsupportedError
        named = self._expressions.value(node, block).digest if isinstance(node, exp.Column) and block else ""
        return digest("all", [item.value.digest for item in items], named)

    def _limit(self, tree: exp.Expr, block: BlockForm, keys: list[Part], order: str) -> None:
        """Keep the first rows: which, depends on how the rows are stored, since several may be equal in the order."""
        clauses = [clause for key in ("limit", "offset") if (clause := tree.args.get(key)) is not None]
        if not clauses:
            return
        if any(clause.find(exp.Column, exp.Query) is not None for clause in clauses):
            raise UnsupportedError
        texts = [tree_digest(one, self._text) for one in clauses]
        block.rows = digest("limit", block.rows, texts, keys, order)
        block.note("LIMIT", texts, texts)
        block.note("ORDER BY", keys, self._clause_text(tree.args.get("order")))
        block.stability = max(block.stability, Stability.TIES)
