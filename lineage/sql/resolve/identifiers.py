"""Identifiers of the syntax tree as the dialect compares them."""

from __future__ import annotations

import re
from functools import lru_cache

from sqlglot import exp

from lineage.model.dialect import Dialect, Folding
from lineage.model.spelling import Spelled

__all__ = ["FILE_FORMATS", "Identifiers", "identifiers_of", "is_temporary_schema"]


FILE_FORMATS = frozenset(("parquet", "csv", "json", "orc", "avro", "delta", "text", "binaryfile", "iceberg"))
"""Formats that stand before a path as a schema does: `` delta.`/a` ``."""
_MAX_KEPT = 10_000
"""Maximum number of folded names cached a dialect."""


@lru_cache(maxsize=64)
def identifiers_of(dialect: Dialect) -> Identifiers:
    """Return the folding of a dialect's identifiers."""
    return SpelledIdentifiers(dialect) if dialect.shows_columns or dialect.shows_tables else Identifiers(dialect)


class Identifiers:
    """Folds identifiers of one dialect. Separate from `Dialect`, because it is called for every name."""

    __slots__ = ("_dialect", "_lower_tables", "unquoted")

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self.unquoted: dict[str, str] = {}
        """Cache of folded unquoted columns and aliases; hot paths read it directly."""
        self._lower_tables = dialect.table in (Folding.LOWER, Folding.LOWER_ASCII)

    @property
    def dialect(self) -> Dialect:
        """The dialect of these identifiers."""
        return self._dialect

    def target_column(self, node: exp.Expr) -> str:
        """Return a column's name from an INSERT list or the left side of SET: `a`, `t.a`, `a[1]`, `a.b`."""
        if isinstance(node, exp.Identifier):
            return self.column(node)
        found = node if isinstance(node, exp.Column) else node.find(exp.Column)
        inner = found.parts[-1] if found is not None else node.find(exp.Identifier)
        return self.column(inner) if isinstance(inner, exp.Identifier) else node.sql()

    def column(self, node: exp.Expr) -> str:
        """Return a column's or an alias's folded name: one object for equal unquoted names, with a cached hash."""
        args = node.args
        text = args["this"]
        if type(text) is not str:  # a stage, a path or a time-travel clause instead of a name
            text = node.name
        if args.get("quoted"):
            return self._fold(text, quoted=True)
        name = self.unquoted.get(text)
        if name is None:
            if len(self.unquoted) >= _MAX_KEPT:
                self.unquoted.clear()
            name = self.unquoted[text] = self._fold(text)
        return name

    def _fold(self, text: str, *, quoted: bool = False) -> str:
        return (self._dialect.quoted_column if quoted else self._dialect.column).apply(text)

    def table(self, node: exp.Expr) -> str:
        """Return one part of a table's name, folded; T-SQL's `#name` and `##name` keep their `#`."""
        args = node.args
        if hashes := _hashes(args):
            return hashes + self._dialect.fold_table(node.name)
        text: str = args["this"]
        if args.get("quoted"):
            return self._dialect.quoted_table.apply(text)
        return text.lower() if self._lower_tables and text.isascii() else self._dialect.table.apply(text)

    def alias(self, node: exp.Expr) -> str:
        """Return a table alias or CTE name, folded like columns, even in dialects whose table names are case-sensitive.

        MySQL, BigQuery: https://cloud.google.com/bigquery/docs/reference/standard-sql/lexical#case_sensitivity
        """
        return self.column(node)

    def table_parts(self, table: exp.Table) -> list[str]:
        """Return the parts of a table's name, outermost first; empty for a table function."""
        args = table.args
        catalog, schema, name = args.get("catalog"), args.get("db"), args.get("this")  # ROWS FROM (f(…), …) has none
        if self._dialect.reads_files_by_format and (path := _path(name, schema)) is not None:
            return [path]
        if schema is None and catalog is None and type(name) is exp.Identifier:
            return [self.table(name)]
        parts: list[str] = []
        waiting = [part for part in (name, schema, catalog) if part is not None]
        while waiting:
            node = waiting.pop()
            if isinstance(node, exp.Dot):  # more than three parts: those from the third on are nested in the last one
                waiting += (node.expression, node.this)
            elif isinstance(node, exp.Identifier):
                parts.append(self.table(node))
            elif isinstance(node, exp.Parameter) and isinstance(node.this, exp.Var):  # T-SQL's table variable
                parts.append("@" + self._dialect.fold_table(node.name))
            elif node == "" and type(name) is exp.Identifier and self._dialect.may_omit_schema:
                parts.append(str(self._dialect.default_schema))  # `db..t`
        if type(name) is exp.Identifier and _hashes(name.args):  # `tempdb..#t`
            return parts[-1:]
        if len(parts) > 1 and is_temporary_schema(".".join(parts[:-1]), self._dialect):
            return parts[-1:]
        return parts


def _path(name: exp.Expr | None, schema: exp.Expr | None) -> str | None:
    """Return the path that a quoted name of Spark is, alone or behind a format; None for a table's name."""
    if type(name) is exp.Identifier and name.args.get("quoted") and "/" in name.this:
        by_format = schema is None or (isinstance(schema, exp.Identifier) and schema.this.lower() in FILE_FORMATS)
        return str(name.this) if by_format else None
    return None


def is_temporary_schema(qualifier: str, dialect: Dialect) -> bool:
    """Return whether the qualifier of a table is that of the session's temporary tables.

    >>> from lineage.model.dialects import dialect_named
    >>> [is_temporary_schema("pg_temp", dialect_named(name)) for name in ("postgres", "mysql")]
    [True, False]
    """
    pattern = dialect.temporary_schema
    return pattern is not None and re.fullmatch(pattern, qualifier, re.IGNORECASE) is not None


def _hashes(args: dict[str, object]) -> str:
    """Return the prefix of T-SQL's local and global temporary tables, which the parser makes an argument."""
    return "#" if args.get("temporary") else "##" if args.get("global_") else ""


class SpelledIdentifiers(Identifiers):
    """Folds identifiers and keeps their spelling, for databases that show names as they were written."""

    __slots__ = ("_shows_tables",)

    def __init__(self, dialect: Dialect) -> None:
        super().__init__(dialect)
        self._shows_tables = dialect.shows_tables

    def _fold(self, text: str, *, quoted: bool = False) -> str:
        return self._dialect.fold_column(text, quoted=quoted)

    def table(self, node: exp.Expr) -> str:
        """Return one part of a table's name, folded, with its spelling; names of temporary tables have none."""
        args = node.args
        if hashes := _hashes(args):
            return hashes + self._dialect.fold_table(node.name)
        text: str = args["this"]
        if args.get("quoted") or not self._lower_tables:
            return self._dialect.fold_table(text, quoted=bool(args.get("quoted")))
        folded = text.lower() if text.isascii() else self._dialect.table.apply(text)
        return Spelled(folded, text) if folded != text and self._shows_tables else folded
