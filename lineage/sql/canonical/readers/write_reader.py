"""What INSERT and MERGE write into a table, as a function of what they read and of the rows that are there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from lineage.sql.canonical.forms.block_form import BlockForm, FromItem, UnsupportedError
from lineage.sql.canonical.forms.digests import Part, digest, tree_digest
from lineage.sql.canonical.forms.table_form import TableForm, ValueForm, base_table, worst
from lineage.sql.canonical.readers.from_reader import allow_only
from lineage.sql.canonical.readers.query_reader import QueryReader
from lineage.sql.canonical.readers.value_forms import conditions

__all__ = ["WriteReader"]

_INSERT = frozenset(("this", "expression", "overwrite", "with_", "by_name"))
_MERGE = frozenset(("this", "using", "on", "whens", "with_"))
_WHEN = frozenset(("matched", "source", "condition", "then"))
_UPDATE, _INSERT_ROW = frozenset(("expressions",)), frozenset(("this", "expression"))


class WriteReader(QueryReader):
    """Reads the statements that write rows."""

    def inserted(self, tree: exp.Insert) -> TableForm:
        """Return the rows of an INSERT, with the names of its column list.

        Raises:
            UnsupportedError: it has syntax that no rule reads, such as ON CONFLICT.
        """
        allow_only(tree, _INSERT)
        query = tree.args.get("expression")
        if not isinstance(query, exp.Query):
            raise UnsupportedError
        ctes = self._with_ctes(tree, None, {}) if tree.args.get("with_") else {}
        relation = self.query(query, None, ctes)
        if isinstance(tree.this, exp.Schema):
            relation = self.with_columns(relation, tree.this)
        return replace(relation, rows=digest("inserted", bool(tree.args.get("overwrite")), relation.rows))

    def merged(self, tree: exp.Merge) -> TableForm:
        """Return the target of a MERGE: the columns that it writes, and its rows.

        A row appears or goes by the rows of the source, the condition, and the branches that insert or delete. What a
        branch sets a column to, and under which condition, is that column's value.

        Raises:
            UnsupportedError: it has syntax that no rule reads.
        """
        allow_only(tree, _MERGE)
        block = BlockForm(None, self._with_ctes(tree, None, {}) if tree.args.get("with_") else {})
        itself = base_table("\x00itself")
        named = tree.this.args.get("alias")
        name = named.this if named is not None else tree.this.this
        is_whole = tree.args.get("on") is not None and tree.args.get("whens") is not None
        if not isinstance(tree.this, exp.Table) or not isinstance(name, exp.Identifier) or not is_whole:
            raise UnsupportedError
        source = self._item(tree.args["using"], block)
        block.items = [FromItem(str(self._identifiers.alias(name)), itself), source]
        on = [self._expressions.value(one, block) for one in conditions(tree.args["on"])]
        block.stability = worst(on, source.relation.stability)
        matching = sorted(value.digest for value in on)
        values: dict[str, list[tuple[str, str]]] = {}
        branches: list[Part] = []
        deletes = any(isinstance(when.args["then"], exp.Var) for when in tree.args["whens"].expressions)
        for number, when in enumerate(tree.args["whens"].expressions):
            allow_only(when, _WHEN)
            tests = [self._expressions.value(one, block) for one in conditions(when.args["condition"])] \
                if when.args.get("condition") else []  # fmt: skip
            tested = digest(number, bool(when.args.get("matched")), bool(when.args.get("source")),
                            sorted(value.digest for value in tests))  # fmt: skip
            block.stability = worst(tests, block.stability)
            then = when.args["then"]
            if deletes or not isinstance(then, exp.Update):
                branches.append((type(then).__name__, then.name if isinstance(then, exp.Var) else "", tested))
            for column, value in self._written(then, block, source):
                values.setdefault(column, []).append((tested, value.digest))
                block.stability = worst((value,), block.stability)
        block.rows = digest("merged", source.relation.rows, matching, branches)
        block.note("ON", matching, sorted(tree_digest(one, self._text) for one in conditions(tree.args["on"])))
        block.note("WHEN", branches, branches)
        columns = tuple((column, ValueForm(digest("merged", matching, listed))) for column, listed in values.items())
        return TableForm(block.rows, columns, digest("stored", block.rows), itself.rest, False, block.stability,
                         (*block.clauses, *source.relation.clauses))  # fmt: skip

    def _written(self, then: exp.Expr, block: BlockForm, source: FromItem) -> Iterator[tuple[str, ValueForm]]:
        """Yield the columns that a branch of MERGE writes, with their values."""
        if isinstance(then, exp.Var):
            return
        allow_only(then, _UPDATE if isinstance(then, exp.Update) else _INSERT_ROW)
        names = then.expressions if isinstance(then, exp.Update) else [then.this]
        if len(names) == 1 and isinstance(names[0], exp.Star):
            if source.relation.is_open:
                raise UnsupportedError
            yield from ((name, block.refer(1, value)) for name, value in source.relation.columns)
            return
        if isinstance(then, exp.Update):
            pairs = [(one.this, one.args["expression"]) for one in names if isinstance(one, exp.EQ)]
        else:
            listed, written = then.this, then.args.get("expression")
            if not isinstance(listed, exp.Tuple) or not isinstance(written, exp.Tuple):
                raise UnsupportedError
            if len(listed.expressions) != len(written.expressions):
                raise UnsupportedError
            pairs = list(zip(listed.expressions, written.expressions, strict=True))
        for column, written in pairs:
            if not isinstance(column, exp.Column) or not isinstance(column.this, exp.Identifier):
                raise UnsupportedError
            yield str(self._identifiers.column(column.this)), self._expressions.value(written, block)
