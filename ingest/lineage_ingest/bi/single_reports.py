"""Exports whose files each speak of their own report only: workbooks of Tableau, `.pbix` files."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lineage.frozen import frozen
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage_ingest.bi.exported import BiExport, Board, QueryAsset
from lineage_ingest.bi.files import ExportFile, UnreadableExportError

__all__ = ["SingleReport", "read_single_reports"]


@frozen
class SingleReport:
    """What one file says; `scope` is what all of its keys begin with."""

    scope: str
    queries: tuple[QueryAsset, ...]
    boards: tuple[Board, ...]
    problems: tuple[tuple[str, Diagnostic], ...] = ()
    is_whole: bool = True

    @property
    def keys(self) -> set[str]:
        """The keys of its queries and dashboards."""
        return {*(one.key for one in self.queries), *(one.key for one in self.boards)}


def read_single_reports(
    files: Iterable[ExportFile], read: Callable[[ExportFile], SingleReport], progress: Callable[[int], None]
) -> BiExport:
    """Return what the files say, without a server; one that cannot be read is reported, and the others are read."""
    reports: list[SingleReport] = []
    problems: list[tuple[str, Diagnostic]] = []
    of_scope: dict[str, tuple[str, set[str]]] = {}
    is_whole = True
    for number, file in enumerate(files):
        progress(number + 1)
        try:
            if file.problem is None:
                report = read(file)
                problems += report.problems
                other, keys = of_scope.setdefault(report.scope, (file.name, report.keys))
                if keys != report.keys:
                    message = f"{other} has the same title: what both contain is read as one"
                    hint = "ingest one of them, or give them different names"
                    problems.append(
                        (file.name, Diagnostic(DiagnosticCode.DEFINED_TWICE, Severity.WARNING, message, hint=hint))
                    )
                reports.append(report)
                continue
            problem = file.problem
        except UnreadableExportError as error:
            problem = error.diagnostic
        is_whole = False
        problems.append((file.name, problem))
    return BiExport(
        "",
        tuple(query for report in reports for query in report.queries),
        tuple(board for report in reports for board in report.boards),
        problems=tuple(problems),
        is_whole=is_whole and all(report.is_whole for report in reports),
        scopes=tuple(report.scope for report in reports),
    )
