"""The kinds of exports, each with its reader."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib import import_module
from typing import TypeAlias

from lineage.frozen import frozen
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage_ingest.bi.connections import ConnectionMap
from lineage_ingest.bi.exported import BiExport
from lineage_ingest.bi.files import ExportFile, read_files
from lineage_ingest.bi.ingest import BiRequest, Progress
from lineage_ingest.options import OptionError

__all__ = ["KINDS", "BiKind", "read_export"]

FileReader: TypeAlias = Callable[[Iterable[ExportFile], ConnectionMap, str, Callable[[int], None]], BiExport]


@frozen
class BiKind:
    """A dashboard tool: its name, what it exports, the module and function that read it."""

    name: str
    title: str
    module: str
    function: str

    def load(self) -> tuple[FileReader, frozenset[str]]:
        """Return its reader, and the suffixes of its files.

        Raises:
            OptionError: a package that it needs is not installed.
        """
        try:
            module = import_module(self.module)
        except ModuleNotFoundError as error:
            message = f"{self.title} needs {error.name}: pip install '.[bi]' in a checkout of lineage"
            raise OptionError(message, "kind") from error
        return getattr(module, self.function), module.SUFFIXES


KINDS = {
    kind.name: kind
    for kind in (
        BiKind("metabase", "Metabase", "lineage_ingest.bi.metabase.reader", "read_metabase"),
        BiKind("superset", "Superset", "lineage_ingest.bi.superset.reader", "read_superset"),
        BiKind("lookml", "LookML", "lineage_ingest.bi.lookml.reader", "read_lookml"),
        BiKind("tableau", "Tableau", "lineage_ingest.bi.tableau.reader", "read_tableau"),
        BiKind("powerbi", "Power BI", "lineage_ingest.bi.powerbi.reader", "read_powerbi"),
        BiKind("plain", "The plain form", "lineage_ingest.bi.plain_form", "read_plain_form"),
    )
}


def read_export(request: BiRequest, progress: Progress) -> BiExport:
    """Read the files of a request by the reader of its kind.

    Raises:
        OptionError: the kind is not known, there is no file, or nothing says which server the export is of.
    """
    kind = KINDS.get(request.kind)
    if kind is None:
        raise OptionError(f"{request.kind!r} is none of {', '.join(KINDS)}", "kind")
    reader, suffixes = kind.load()
    for path in request.paths:
        if not path.exists():
            raise OptionError(f"{str(path)!r} does not exist", "paths")
    seen = 0

    def count(done: int) -> None:
        nonlocal seen
        seen = done
        progress("reading", done, None)

    export = reader(read_files(request.paths, suffixes), request.connections, _server(request.server), count)
    if not seen:
        wanted = ", ".join(sorted(suffixes))
        raise OptionError(f"no files ({wanted}), nor archives of them, in {request.paths[0]}", "paths")
    is_said = any(problem.severity is Severity.ERROR for _, problem in export.problems)
    if not (export.queries or export.boards or export.tables) and export.problems and not is_said:
        message = f"nothing of {kind.title} is in what was read ({seen:,} file{'' if seen == 1 else 's'})"
        problem = Diagnostic(DiagnosticCode.UNREADABLE_FILE, Severity.ERROR, message, hint="is KIND right?")
        export = replace(export, problems=(*export.problems, (str(request.paths[0]), problem)))
    if not export.server:
        message = f"{kind.title}: the export does not say which server it is of; name it, so that two never mix"
        raise OptionError(message, "server")
    return export


def _server(text: str) -> str:
    """Return the name of a server: an address without its scheme."""
    return (text.partition("://")[2] or text).strip("/")
