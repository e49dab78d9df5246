"""Files that a query reads by a function: `read_parquet('a')`, `read_csv(['a', 'b'])`, `read_files('s3://…')`."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from lineage.model.diagnostics import DiagnosticCode, Severity
from lineage.sql.resolve.relations import STAR, FunctionTable, Relation, RowSources, Sources, absorb
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.rules.functions_naming_tables import FILE_READERS
from lineage.sql.resolve.transformation_codes import IDENTITY

__all__ = ["Files", "files_read", "paths_read", "report_unknown_files"]


class Files(FunctionTable):
    """Several files that are read as one table: a column of it is that column of any of them."""

    __slots__ = ("_files", "names_of_files")

    def __init__(self, names: Sequence[str], files: Sequence[Relation]) -> None:
        rows = RowSources()
        rows.inputs = [file.rows for file in files if file.rows is not None]
        self.names_of_files = names
        self._files = files
        super().__init__([STAR], self.infer(STAR), rows)

    def infer(self, name: str) -> Sources:
        """Return the sources of a column."""
        found: Sources = {}
        for file in self._files:
            absorb(found, file.infer(name) or {}, IDENTITY, None)
        return found


def files_read(resolver: Resolver, call: exp.Expr) -> Relation | None:
    """Return the files that a function reads as one table; None if it reads none, or its arguments do not name them."""
    paths = paths_read(call)
    if not paths:
        return None
    files = [resolver.location(path) for path in paths]
    return files[0] if len(files) == 1 else Files(paths, files)


def paths_read(call: exp.Expr) -> list[str] | None:
    """Return the paths that a function such as `read_parquet('s3://…')` reads, none if they are not constant.

    None if it is no function that reads files.
    """
    is_reader = isinstance(call, exp.ReadCSV | exp.ReadParquet) or (
        isinstance(call, exp.Anonymous) and call.name.lower() in FILE_READERS
    )
    if not is_reader:
        return None
    first = next(iter(call.args.get("expressions") or ()), call.args.get("this"))
    if isinstance(call, exp.ReadCSV):
        first = call.this
    if isinstance(first, exp.Dot):  # `main.list_value`
        first = first.expression
    is_list = isinstance(first, exp.Array | exp.List) or (
        isinstance(first, exp.Anonymous) and first.name.lower() == "list_value"
    )
    listed = first.expressions if isinstance(first, exp.Expr) and is_list else [first]
    paths = [one.name for one in listed if isinstance(one, exp.Literal)]
    return list(dict.fromkeys(paths)) if len(paths) == len(listed) else []


def report_unknown_files(resolver: Resolver, call: exp.Expr) -> None:
    """Report a function that reads files which its arguments do not name."""
    name = call.name if isinstance(call, exp.Anonymous) else call.sql_name() if isinstance(call, exp.Func) else call.key
    resolver.report(
        DiagnosticCode.UNSUPPORTED_SYNTAX,
        Severity.WARNING,
        f"the files that {name.lower()} reads are not known: its arguments do not name them",
        call,
        lasts=True,
    )
