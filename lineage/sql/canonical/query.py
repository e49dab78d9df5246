"""`canonical_query`: the rows and columns of a query, as digests that equal those of every query proven the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from lineage.model.names import Naming
from lineage.sql.canonical.block import Block, FromItem, UnsupportedError
from lineage.sql.canonical.digests import Part, digest, tree_digest
from lineage.sql.canonical.expressions import Expressions, conditions, contains_aggregate
from lineage.sql.canonical.functions import VOLATILE
from lineage.sql.canonical.relation import Relation, Stability, Value, base_table, opaque_relation, worst
from lineage.sql.canonical.select_list import Item, read_items
from lineage.sql.parse.parsed import ParsedStatement
from lineage.sql.resolve.identifiers import identifiers_of

__all__ = ["Lookup", "canonical_query", "tokens_digest"]

Lookup = Callable[[str], Relation | None]
"""Returns the relation that a table's full name stands for; None if nothing is known of it."""

_SELECT = frozenset(
    ("with_", "expressions", "distinct", "from_", "joins", "where", "group", "having", "qualify", "windows", "order",
     "limit", "offset")
)  # fmt: skip
_SET = frozenset(("with_", "this", "expression", "distinct", "by_name", "order", "limit", "offset"))
_JOIN = frozenset(("this", "on", "side", "kind", "using"))
_TABLE = frozenset(("this", "db", "catalog", "alias", "joins"))
_SIDES = frozenset(("", "LEFT", "RIGHT", "FULL"))
_KINDS = frozenset(("", "INNER", "OUTER", "CROSS"))


def canonical_query(parsed: ParsedStatement, naming: Naming, lookup: Lookup, reads: Sequence[str] = ()) -> Relation:
    """Return what a query returns, or the table that a CREATE … AS makes of it; never raises for bad SQL.

    What no rule reads is compared by its text, together with everything of the tables that it names; `reads` are
    further tables that it is known to read.
    """
    tree = parsed.tree
    whole = [_content(lookup, name) for name in sorted(reads)]
    alias: exp.Expr | None = None
    if isinstance(tree, exp.Create):
        alias, tree = tree.this, tree.args.get("expression")
    if not isinstance(tree, exp.Query) or parsed.problem is not None or parsed.doubts or parsed.step is not None:
        return opaque_relation(digest("text", tokens_digest(parsed), whole))
    try:
        canonical = _Canonical(parsed.text, naming, lookup)
        relation = canonical.query(tree, None)
        return canonical.with_columns(relation, alias) if isinstance(alias, exp.Schema) else relation
    except (UnsupportedError, RecursionError):
        return opaque_relation(digest("text", tokens_digest(parsed), whole))


def tokens_digest(parsed: ParsedStatement) -> str:
    """Return the digest of a statement's tokens: comments, white space and the case of keywords drop out."""
    return digest([(token.token_type.name, token.text) for token in parsed.tokens])


def _content(lookup: Lookup, name: str) -> str:
    found = lookup(name)
    return digest("of", name, (found if found is not None else base_table(name)).content)


class _Canonical:
    """Reads the queries of one statement."""

    def __init__(self, text: str, naming: Naming, lookup: Lookup) -> None:
        self._text = text
        self._naming = naming
        self._lookup = lookup
        self._identifiers = identifiers_of(naming.dialect)
        self._expressions = Expressions(text, self._identifiers, self.query)

    def query(self, tree: exp.Expr, parent: Block | None, ctes: Mapping[str, Relation] | None = None) -> Relation:
        """Return what a query returns; `ctes` are those that it sees, by default those of `parent`."""
        seen = ctes if ctes is not None else parent.ctes if parent is not None else {}
        try:
            return self._query(tree, parent, seen)
        except UnsupportedError:
            return self._opaque(tree, parent, seen)

    def _query(self, tree: exp.Expr, parent: Block | None, ctes: Mapping[str, Relation]) -> Relation:
        ctes = self._with_ctes(tree, parent, ctes)
        if isinstance(tree, exp.Select):
            return self._select(tree, parent, ctes)
        if isinstance(tree, exp.SetOperation):
            return self._set_operation(tree, parent, ctes)
        if isinstance(tree, exp.Subquery):
            _only(tree, frozenset(("this", "alias", "with_")))
            return self.query(tree.this, parent, ctes)
        if isinstance(tree, exp.Table):
            return self._table(tree, Block(parent, ctes))
        raise UnsupportedError

    def _with_ctes(self, tree: exp.Expr, parent: Block | None, ctes: Mapping[str, Relation]) -> Mapping[str, Relation]:
        clause = tree.args.get("with_")
        if clause is None:
            return ctes
        _only(clause, frozenset(("expressions", "recursive")))
        known = dict(ctes)
        for number, cte in enumerate(clause.expressions):
            _only(cte, frozenset(("this", "alias", "materialized")))
            name = str(self._identifiers.alias(cte.args["alias"].this))
            if clause.args.get("recursive") and self._reads(cte.this, name):
                raise UnsupportedError
            if not isinstance(cte.this, exp.Query):
                raise UnsupportedError
            relation = self._aliased(self.query(cte.this, parent, known), cte.args["alias"])
            if relation.all_stability is Stability.VOLATILE:  # all that read it see the same values, or not
                relation = replace(relation, rows=digest("cte", number, relation.rows))
            known[name] = relation
        return known

    def with_columns(self, relation: Relation, schema: exp.Expr) -> Relation:
        """Return a relation with the names of a column list, as CREATE VIEW has one.

        Raises:
            UnsupportedError: the list is not one of names, or the columns are not known.
        """
        if not all(isinstance(one, exp.Identifier) for one in schema.expressions):
            raise UnsupportedError
        renamed = relation.renamed([str(self._identifiers.column(one)) for one in schema.expressions])
        if renamed is None:
            raise UnsupportedError
        return renamed

    def _reads(self, tree: exp.Expr, name: str) -> bool:
        return any(
            isinstance(table.this, exp.Identifier) and str(self._identifiers.alias(table.this)) == name
            for table in tree.find_all(exp.Table)
        )

    def _aliased(self, relation: Relation, alias: exp.Expr | None) -> Relation:
        names = [str(self._identifiers.column(one)) for one in (alias.args.get("columns") or [])] if alias else []
        renamed = relation.renamed(names)
        if renamed is None:
            raise UnsupportedError
        return renamed

    # One block

    def _select(self, tree: exp.Expr, parent: Block | None, ctes: Mapping[str, Relation]) -> Relation:
        _only(tree, _SELECT)
        block = Block(parent, ctes)
        self._from(tree, block)
        order = block.order_of_rows
        for item in tree.expressions:
            if isinstance(item, exp.Alias):
                block.aliases.setdefault(str(self._identifiers.column(item.args["alias"])), item.this)
        block.windows = {
            str(self._identifiers.column(window.this)): window for window in tree.args.get("windows") or []
        }
        hides = self._identifiers.dialect.name == "clickhouse"
        block.sees_aliases = hides
        self._filter(tree.args.get("where"), block)
        block.sees_aliases = True
        self._group(tree, block)
        self._filter(tree.args.get("having"), block)
        block.sees_aliases = hides
        over = block.rows
        items = read_items(tree, block, self._expressions, self._identifiers)
        block.sees_aliases = True
        self._filter(tree.args.get("qualify"), block)
        keys = self._order(tree, block, items, over)
        if block.wild:
            block.rows = digest("with unknown", block.rows, sorted(set(block.wild)))
            block.stability = Stability.VOLATILE
        values = [item.value for item in items]
        digests = [value.digest for value in values]
        block.stability = max(block.stability, *(item.relation.stability for item in block.items), Stability.STABLE)
        distinct = tree.args.get("distinct")
        if distinct is not None:
            if distinct.args.get("on") is not None:
                on = [self._expressions.value(one, block) for one in distinct.args["on"].expressions]
                block.rows = digest("distinct on", block.rows, [one.digest for one in on], keys, order)
                block.stability = max(block.stability, Stability.TIES)
            else:
                block.rows = digest("distinct", block.rows, sorted(set(digests)))
                block.stability = worst(values, block.stability)
        self._limit(tree, block, keys, order)
        if worst(values) is Stability.VOLATILE:
            block.rows = digest("volatile", block.rows, digests)
        passed = not keys and [block.rows] == [item.relation.rows for item in block.items]
        rests = [item.rest for item in items if item.rest]
        return Relation(
            block.rows,
            tuple((item.name, item.value) for item in items),
            block.items[0].relation.order if passed else digest("stored", block.rows, keys, order),
            rests[0] if len(rests) == 1 else digest("rests", rests) if rests else "",
            is_ordered=all(item.is_certain for item in items),
            stability=block.stability,
        )

    def _filter(self, clause: exp.Expr | None, block: Block) -> None:
        """Keep the rows that fulfil a clause. The conditions of several clauses are one set."""
        if clause is None:
            return
        values = [self._expressions.value(one, block) for one in conditions(clause.this)]
        block.stability = worst(values, block.stability)
        block.rows = digest("filter", block.rows, sorted({value.digest for value in values}))

    def _group(self, tree: exp.Expr, block: Block) -> None:
        clause = tree.args.get("group")
        if clause is None:
            read = [
                *tree.expressions,
                *(tree.args[key] for key in ("having", "qualify", "order") if tree.args.get(key)),
            ]
            if any(contains_aggregate(one) for one in read):
                block.rows = digest("group", block.rows, [])
            elif tree.args.get("having") is not None:
                raise UnsupportedError
            return
        if clause.args.get("all"):
            keys = [one.this if isinstance(one, exp.Alias) else one for one in tree.expressions]
            if any(one.find(exp.Star) is not None and not one.find(exp.AggFunc) for one in keys):
                raise UnsupportedError
            found = [self._expressions.value(one, block) for one in keys if not contains_aggregate(one)]
            block.stability = worst(found, block.stability)
            block.rows = digest("group", block.rows, sorted({value.digest for value in found}))
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
        block.rows = digest("group", block.rows, sorted({value.digest for value in keys_found}), *more)

    def _key(self, node: exp.Expr, tree: exp.Expr, block: Block) -> Value:
        """Return the value of a key of GROUP BY, which may be the position of an output column."""
        if isinstance(node, exp.Literal) and not node.is_string:
            items = tree.expressions
            number = int(node.name) - 1 if node.name.isdigit() else -1
            if not 0 <= number < len(items) or any(item.is_star for item in items[: number + 1]):
                raise UnsupportedError
            item = items[number]
            node = item.this if isinstance(item, exp.Alias) else item
        return self._expressions.value(node, block)

    def _order(self, tree: exp.Expr, block: Block, items: Sequence[Item], over: str) -> list[Part]:
        """Return the keys of ORDER BY: an output column by name or position, or an expression."""
        clause = tree.args.get("order")
        if clause is None:
            return []
        _only(clause, frozenset(("expressions",)))
        rows, block.rows = block.rows, over
        keys: list[Part] = []
        for ordered in clause.expressions:
            if not isinstance(ordered, exp.Ordered):
                raise UnsupportedError
            flags = sorted((key, repr(arg)) for key, arg in ordered.args.items() if key != "this" and arg)
            keys.append((self._order_key(ordered.this, block, items), [list(flag) for flag in flags]))
        block.rows = rows
        return keys

    def _order_key(self, node: exp.Expr, block: Block | None, items: Sequence[Item]) -> str:
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
        if block is None:
            raise UnsupportedError
        return self._expressions.value(node, block).digest

    def _limit(self, tree: exp.Expr, block: Block, keys: list[Part], order: str) -> None:
        """Keep the first rows: which, depends on how the rows are stored, unless no two are equal in the order."""
        found = [(key, self._expressions.value(one, block)) for key in ("limit", "offset")
                 if (clause := tree.args.get(key)) is not None
                 for one in clause.args.values() if isinstance(one, exp.Expr)]  # fmt: skip
        if not found:
            return
        kinds = [type(tree.args[key]).__name__ for key in ("limit", "offset") if tree.args.get(key) is not None]
        flags = [
            (key, repr(arg))
            for key in ("limit", "offset")
            if tree.args.get(key) is not None
            for key, arg in sorted(tree.args[key].args.items())
            if arg and not isinstance(arg, exp.Expr)
        ]
        listed = [(key, value.digest) for key, value in found]
        block.rows = digest("limit", block.rows, kinds, flags, listed, keys, order)
        block.stability = max(block.stability, Stability.TIES)

    # FROM

    def _from(self, tree: exp.Expr, block: Block) -> None:
        clause = tree.args.get("from_")
        joins = list(tree.args.get("joins") or [])
        if clause is None:
            if joins:
                raise UnsupportedError
            return
        joins = [*self._joins_inside(clause.this), *joins]
        block.items.append(self._item(clause.this, block))
        block.rows = block.items[0].relation.rows
        relations = [self._item(join.this, block) for join in joins]
        first = list(block.items)
        block.items = [*first, *relations]  # conditions name the items by their numbers
        for number, (join, item) in enumerate(zip(joins, relations, strict=True), start=len(first)):
            self._join(join, item, number, block)
        if len({item.alias for item in block.items}) != len(block.items):
            raise UnsupportedError

    def _joins_inside(self, item: exp.Expr) -> list[exp.Expr]:
        return list(item.args.get("joins") or [])

    def _join(self, join: exp.Expr, item: FromItem, number: int, block: Block) -> None:
        _only(join, _JOIN)
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
        block.rows = digest("join", block.rows, item.relation.rows, side, read)

    def _merge(self, name: str, side: str, number: int, block: Block) -> str:
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
        block.merged[name] = {"": left, "LEFT": left, "RIGHT": right}.get(side) or Value(digest("either", pair))
        for index in (*(index for index, _ in lefts), number):
            item = block.items[index]
            block.items[index] = item._replace(hidden=item.hidden | {name})
        return pair

    def _item(self, node: exp.Expr, block: Block) -> FromItem:
        alias = node.args.get("alias")
        if isinstance(node, exp.Table):
            relation = self._table(node, block)
            name = alias.this if alias is not None else node.this
        elif isinstance(node, exp.Subquery):
            _only(node, frozenset(("this", "alias")))
            relation = self._aliased(self.query(node.this, block.parent, block.ctes), alias)
            name = alias.this if alias is not None else None
        elif isinstance(node, exp.Values):
            _only(node, frozenset(("expressions", "alias")))
            relation = self._aliased(self._values(node, block), alias)
            name = alias.this if alias is not None else None
        else:
            raise UnsupportedError
        if isinstance(name, exp.Identifier):
            return FromItem(str(self._identifiers.alias(name)), relation)
        return FromItem(f"\x00{len(block.items)}{digest(relation.rows)}", relation)

    def _values(self, node: exp.Expr, block: Block) -> Relation:
        rows = [
            [self._expressions.value(one, Block(block.parent, block.ctes))
             for one in (row.expressions if isinstance(row, exp.Tuple) else [row])]
            for row in node.expressions
        ]  # fmt: skip
        if len({len(row) for row in rows}) != 1 or worst(value for row in rows for value in row):
            raise UnsupportedError
        columns = tuple(
            (f"\x00{number}", Value(digest("values", [row[number].digest for row in rows])))
            for number in range(len(rows[0]))
        )
        count = digest("values", len(rows))
        return Relation(count, columns, count)

    def _table(self, node: exp.Table, block: Block) -> Relation:
        _only(node, _TABLE)
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

    # Set operations

    def _set_operation(self, tree: exp.Expr, parent: Block | None, ctes: Mapping[str, Relation]) -> Relation:
        _only(tree, _SET)
        left = self.query(tree.this, parent, ctes)
        right = self.query(tree.args["expression"], parent, ctes)
        if not all(one.is_ordered and not one.is_open for one in (left, right)):
            raise UnsupportedError
        by_name = bool(tree.args.get("by_name"))
        if by_name:
            names = list(dict.fromkeys(name for name, _ in (*left.columns, *right.columns)))
            missing = Value(digest("no column"))
            pairs = [(name, left.find(name) or missing, right.find(name) or missing) for name in names]
        elif len(left.columns) == len(right.columns):
            pairs = [(name, one, other) for (name, one), (_, other) in zip(left.columns, right.columns, strict=True)]
        else:
            raise UnsupportedError
        kind = type(tree).__name__
        distinct = bool(tree.args.get("distinct"))
        columns = tuple(
            (name, Value(digest("either", one.digest, other.digest), stability=worst((one, other))))
            for name, one, other in pairs
        )
        block = Block(parent, ctes)
        block.stability = max(left.stability, right.stability)
        rows = digest("set operation", kind, distinct, left.rows, right.rows)
        if distinct or kind != "Union":
            rows = digest(rows, sorted((one.digest, other.digest) for _, one, other in pairs))
            block.stability = worst((value for _, value in columns), block.stability)
        block.rows = rows
        order = digest(rows, left.order, right.order)
        items = [Item(name, value) for name, value in columns]
        clause = tree.args.get("order")
        keys: list[Part] = []
        for ordered in clause.expressions if clause is not None else []:
            flags = sorted((key, repr(arg)) for key, arg in ordered.args.items() if key != "this" and arg)
            keys.append((self._order_key(ordered.this, None, items), [list(flag) for flag in flags]))
        self._limit(tree, block, keys, order)
        return Relation(block.rows, columns, digest("stored", block.rows, keys, order), stability=block.stability)

    # What no rule reads

    def _opaque(self, tree: exp.Expr, parent: Block | None, ctes: Mapping[str, Relation]) -> Relation:
        """Return a query of which only the text is compared, with everything of the tables that it may read."""
        contents: dict[str, str] = {}
        for table in tree.find_all(exp.Table):
            parts = self._identifiers.table_parts(table) if isinstance(table, exp.Table) else []
            name = str(self._naming.qualify(parts or [table.name]))
            contents[name] = _content(self._lookup, name)
        outside = [
            sorted((name, relation.content) for name, relation in ctes.items()),
            parent.environment if parent is not None else "",
        ]
        rows = digest("opaque", tree_digest(tree, self._text), sorted(contents.items()), outside)
        names: list[str] | None = None
        if isinstance(tree, exp.Query):
            names = [name for name in tree.named_selects if name]
            if tree.is_star or len(names) != len(tree.selects) or tree.find(exp.Columns) is not None:
                names = None
        folded = self._identifiers.dialect.fold_column
        varies = any(isinstance(one, exp.Anonymous) or type(one) in VOLATILE for one in tree.walk())
        stability = Stability.VOLATILE if varies else Stability.TIES
        return opaque_relation(rows, [str(folded(name)) for name in names] if names is not None else None, stability)


def _only(node: exp.Expr, known: frozenset[str]) -> None:
    """Raise if a node has an argument that no rule reads.

    Raises:
        UnsupportedError: it has.
    """
    for key, value in node.args.items():
        if value and key not in known:
            raise UnsupportedError
