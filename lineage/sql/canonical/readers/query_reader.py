"""Queries: CTEs, set operations, and what no rule reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from lineage.sql.canonical.forms.block_form import BlockForm, UnsupportedError
from lineage.sql.canonical.forms.digests import Part, digest, tree_digest
from lineage.sql.canonical.forms.table_form import Stability, TableForm, ValueForm, base_table, opaque_table, worst
from lineage.sql.canonical.readers.from_reader import Lookup, allow_only
from lineage.sql.canonical.readers.function_kinds import FunctionKind
from lineage.sql.canonical.readers.output_items import Item
from lineage.sql.canonical.readers.select_reader import SelectReader
from lineage.sql.canonical.readers.value_forms import NAMES_COLUMNS

__all__ = ["QueryReader", "content_of"]

_SET = frozenset(("with_", "this", "expression", "distinct", "by_name", "order", "limit", "offset"))


def content_of(lookup: Lookup, name: str) -> str:
    """Return the digest of all that a table contains, and of its name."""
    found = lookup(name)
    return digest("of", name, (found if found is not None else base_table(name)).content)


def _paired_columns(left: TableForm, right: TableForm, *, by_name: bool) -> list[tuple[str, ValueForm, ValueForm]]:
    """Return the columns of a set operation, each with its value on either side.

    Raises:
        UnsupportedError: the sides have different numbers of columns.
    """
    if by_name:
        names = dict.fromkeys(name for name, _ in (*left.columns, *right.columns))
        missing = ValueForm(digest("no column"))
        return [(name, left.find(name) or missing, right.find(name) or missing) for name in names]
    if len(left.columns) != len(right.columns):
        raise UnsupportedError
    return [(name, one, other) for (name, one), (_, other) in zip(left.columns, right.columns, strict=True)]


class QueryReader(SelectReader):
    """Reads the queries of one statement."""

    def query(self, tree: exp.Expr, parent: BlockForm | None, ctes: Mapping[str, TableForm] | None = None) -> TableForm:
        """Return what a query returns; `ctes` are those that it sees, by default those of `parent`."""
        seen = ctes if ctes is not None else parent.ctes if parent is not None else {}
        try:
            return self._query(tree, parent, seen)
        except UnsupportedError:
            return self._opaque(tree, parent, seen)

    def _query(self, tree: exp.Expr, parent: BlockForm | None, ctes: Mapping[str, TableForm]) -> TableForm:
        ctes = self._with_ctes(tree, parent, ctes)
        if isinstance(tree, exp.Select):
            return self._select(tree, parent, ctes)
        if isinstance(tree, exp.SetOperation):
            return self._set_operation(tree, parent, ctes)
        if isinstance(tree, exp.Subquery):
            allow_only(tree, frozenset(("this", "alias", "with_")))
            return self.query(tree.this, parent, ctes)
        if isinstance(tree, exp.Table):
            return self._table(tree, BlockForm(parent, ctes))
        raise UnsupportedError

    def _with_ctes(
        self, tree: exp.Expr, parent: BlockForm | None, ctes: Mapping[str, TableForm]
    ) -> Mapping[str, TableForm]:
        clause = tree.args.get("with_")
        if clause is None:
            return ctes
        allow_only(clause, frozenset(("expressions", "recursive")))
        known = dict(ctes)
        for number, cte in enumerate(clause.expressions):
            allow_only(cte, frozenset(("this", "alias", "materialized")))
            name = str(self._identifiers.alias(cte.args["alias"].this))
            if clause.args.get("recursive") and self._reads(cte.this, name):
                raise UnsupportedError
            if not isinstance(cte.this, exp.Query):
                raise UnsupportedError
            relation = self._aliased(self.query(cte.this, parent, known), cte.args["alias"])
            if relation.all_stability is Stability.VOLATILE:  # all that read it see the same values, or not
                kept = cte.args.get("materialized")  # if not, each reader may compute it again
                relation = replace(relation, rows=digest("cte", number, kept, relation.rows))
            known[name] = relation
        return known

    def with_columns(self, relation: TableForm, schema: exp.Expr) -> TableForm:
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

    # Set operations

    def _set_operation(self, tree: exp.Expr, parent: BlockForm | None, ctes: Mapping[str, TableForm]) -> TableForm:
        allow_only(tree, _SET)
        left = self.query(tree.this, parent, ctes)
        right = self.query(tree.args["expression"], parent, ctes)
        if not all(one.is_ordered and not one.is_open for one in (left, right)):
            raise UnsupportedError
        pairs = _paired_columns(left, right, by_name=bool(tree.args.get("by_name")))
        kind = type(tree).__name__
        distinct = bool(tree.args.get("distinct"))
        values = sorted((one.digest, other.digest) for _, one, other in pairs) if distinct or kind != "Union" else []
        columns = tuple(
            (name, ValueForm(digest("either", one.digest, other.digest), stability=worst((one, other))))
            for name, one, other in pairs
        )
        block = BlockForm(parent, ctes)
        block.stability = max(left.stability, right.stability)
        rows = digest("set operation", kind, distinct, left.rows, right.rows)
        if distinct or kind != "Union":
            rows = digest(rows, values)
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
        written = digest(kind, distinct)
        block.note("set operation", [kind, distinct, [list(pair) for pair in values]], written)
        clauses = (*block.clauses, *left.clauses, *right.clauses)
        stored = digest("stored", block.rows, keys, order)
        unique = frozenset(value.digest for _, value in columns)
        row_keys = frozenset([unique]) if distinct and block.stability is not Stability.VOLATILE else frozenset()
        return TableForm(block.rows, columns, stored, stability=block.stability, clauses=clauses, keys=row_keys)

    # What no rule reads

    def _opaque(self, tree: exp.Expr, parent: BlockForm | None, ctes: Mapping[str, TableForm]) -> TableForm:
        """Return a query of which only the text is compared, with everything of the tables that it may read."""
        contents: dict[str, str] = {}
        for table in tree.find_all(exp.Table):
            parts = self._identifiers.table_parts(table) if isinstance(table, exp.Table) else []
            name = str(self._naming.qualify(parts or [table.name]))
            contents[name] = content_of(self._lookup, name)
        outside = [
            sorted((name, relation.content) for name, relation in ctes.items()),
            parent.environment if parent is not None else "",
            self._expressions.aliases_in(tree, parent) if parent is not None else [],
        ]
        rows = digest("opaque", tree_digest(tree, self._text), sorted(contents.items()), outside)
        names: list[str] | None = None
        selects: list[exp.Expr] = []
        if isinstance(tree, exp.Query):
            selects = tree.selects
            names = [name for name in tree.named_selects if name]
            is_any = any(one.meta.get("is_call") for one in selects)
            if tree.is_star or is_any or len(names) != len(selects) or tree.find(exp.Columns) is not None:
                names = None
        folded = self._identifiers.dialect.fold_column
        kinds = {self._functions.kind(one, self._text) for one in tree.walk() if isinstance(one, exp.Func)}
        stability = Stability.MOMENT if FunctionKind.MOMENT in kinds else Stability.TIES
        if kinds & {FunctionKind.VOLATILE, FunctionKind.UNKNOWN}:
            stability = Stability.VOLATILE
        if names is None:
            return opaque_table(rows, None, stability)
        makes_columns = any(one.find(*NAMES_COLUMNS) is not None for one in selects)
        opaque = opaque_table(rows, [str(folded(name)) for name in names], stability)
        return replace(opaque, is_ordered=not makes_columns)
