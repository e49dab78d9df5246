"""The names of output columns without an alias, as each engine makes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from sqlglot import exp
from sqlglot.tokenizer_core import Token

from lineage.model.dialect import ExpressionText
from lineage.sql.resolve.column_names.clickhouse_text import ClickhouseText
from lineage.sql.resolve.column_names.duckdb_text import DuckdbText
from lineage.sql.resolve.column_names.engine_text import EngineText
from lineage.sql.resolve.column_names.postgres_name import postgres_name
from lineage.sql.resolve.column_names.select_items import select_items
from lineage.sql.resolve.column_names.spark_text import SparkText
from lineage.sql.resolve.column_names.terms import UncertainTextError, read_term
from lineage.sql.resolve.column_names.unnamed_column import UncertainName, unnamed_column
from lineage.sql.resolve.column_names.written_text import mysql_text, snowflake_text, sqlite_text, without_spaces
from lineage.sql.resolve.relations import BaseTable, TemporaryTable
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.scopes.scope import Scope

__all__ = ["UnnamedColumns"]

_ENGINES: dict[ExpressionText, Callable[[Callable[[str], bool]], EngineText]] = {
    ExpressionText.DUCKDB: DuckdbText,
    ExpressionText.SPARK: SparkText,
    ExpressionText.CLICKHOUSE: ClickhouseText,
}
_AS_WRITTEN: dict[ExpressionText, Callable[[Sequence[Token], str], str]] = {
    ExpressionText.MYSQL: mysql_text,
    ExpressionText.SNOWFLAKE: snowflake_text,
    ExpressionText.SQLITE: sqlite_text,
}


class UnnamedColumns:
    """Names the columns without an alias of one select list."""

    def __init__(self, resolver: Resolver, select: exp.Expr, scope: Scope) -> None:
        self._resolver = resolver
        self._select = select
        self._scope = scope
        self._items: list[Sequence[Token]] | None = None
        self._engine: EngineText | None = None
        self._counted = 0

    def name(self, expression: exp.Expr, index: int, earlier: Sequence[str]) -> str:
        """Return the name of an item of the list, by its index; `earlier` are the columns before it.

        PostgreSQL describes the expression. Hive and Trino use a prefix and the position, Trino also for a cast column;
        BigQuery counts. Other engines use the text of the expression. Where that is not certain, and in products that
        give no name (T-SQL), the name is `_col` and the item's position.
        """
        resolver = self._resolver
        dialect = resolver.naming.dialect
        if dialect.describes_unnamed_columns:
            return postgres_name(resolver, expression)
        node: exp.Expr = expression
        while isinstance(node, exp.Paren):
            node = node.this
        if isinstance(node, exp.Cast) and isinstance(node.this, exp.Column) and self._keeps_name(node, index, earlier):
            node = node.this
        if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
            return resolver.identifiers.column(node.this)
        if dialect.unnamed_column_text is ExpressionText.SPARK and (key := _last_key(node)) is not None:
            return str(dialect.fold_column(key))
        is_named = dialect.unnamed_column_text is not ExpressionText.SPARK or _is_field_of_column(node)
        if is_named and isinstance(node, exp.Dot) and isinstance(node.expression, exp.Identifier):
            return resolver.identifiers.column(node.expression)
        if dialect.unnamed_column_prefix is not None:
            return f"{dialect.unnamed_column_prefix}{index if dialect.stars_count_once else len(earlier)}"
        if dialect.unnamed_columns_are_counted:
            self._counted += 1
            return f"f{self._counted - 1}_"
        if dialect.unnamed_column_text is None:
            return f"_col{index}"
        text = self._text(index, dialect.unnamed_column_text)
        if text is None:
            return UncertainName(f"_col{index}")
        shown: str | None = None
        if dialect.unnamed_column_text in _AS_WRITTEN and len(self._tokens(index)) > 1:
            shown = without_spaces(self._tokens(index), resolver.text)
            shown = shown.upper() if dialect.unnamed_column_text is ExpressionText.SNOWFLAKE else shown
        made = unnamed_column(text, dialect, earlier, shown)
        resolver.unnamed[made.text] = made
        return made

    def _tokens(self, index: int) -> Sequence[Token]:
        """Return the tokens of an item; none if they are not certain."""
        if self._items is None:
            self._items = select_items(self._select, self._resolver.tokens)
        return self._items[index] if self._items else ()

    def _keeps_name(self, cast: exp.Expr, index: int, earlier: Sequence[str]) -> bool:
        """Return whether a cast column keeps its name."""
        dialect = self._resolver.naming.dialect
        if not dialect.casts_keep_table_names:
            names = [part.name for part in cast.this.parts]
            is_field = dialect.unnamed_column_text is ExpressionText.SPARK and len(names) > 1
            if is_field and not _is_table(self._scope, names[-2]):
                return False  # Spark shows the cast of a field
            return dialect.casts_keep_names and not self._begins_with_function(index)
        is_of_table = [type(item) for item in self._scope.items.values()] in ([BaseTable], [TemporaryTable])
        is_taken = self._resolver.identifiers.column(cast.this.this) in earlier
        return is_of_table and not is_taken and not self._select.args.get("group")

    def _begins_with_function(self, index: int) -> bool:
        """Return whether what the parser reads as a cast is a function, such as TO_TIMESTAMP."""
        tokens = self._tokens(index)
        return bool(tokens) and tokens[0].text.upper().startswith("TO_")

    def _text(self, index: int, engine: ExpressionText) -> str | None:
        """Return the engine's text of an item, with marks around its literals; None if it is not certain."""
        if not (tokens := self._tokens(index)):
            return None
        try:
            if engine in _AS_WRITTEN:
                return _AS_WRITTEN[engine](tokens, self._resolver.text)
            if self._engine is None:
                self._engine = _ENGINES[engine](partial(_is_table, self._scope))  # a method would make a cycle
            return self._engine.write(read_term(tokens, self._resolver.text))
        except UncertainTextError:
            return None


def _is_field_of_column(node: exp.Expr) -> bool:
    """Return whether an expression is a chain of names: Spark calls it by the last one, any other field by its text."""
    while isinstance(node, exp.Dot | exp.Paren):
        node = node.this
    return isinstance(node, exp.Column)


def _last_key(node: exp.Expr) -> str | None:
    """Return the last key of Spark's `document:a.b[0]`, cast or not; None for any other expression."""
    while isinstance(node, exp.Cast | exp.Paren):
        node = node.this
    if not isinstance(node, exp.JSONExtract) or not node.args.get("variant_extract"):
        return None
    keys = [one.name for one in node.expression.find_all(exp.JSONPathKey)]
    return keys[-1] if keys else None


def _is_table(scope: Scope, name: str) -> bool:
    return scope.item(str(scope.resolver.naming.dialect.fold_column(name))) is not None
