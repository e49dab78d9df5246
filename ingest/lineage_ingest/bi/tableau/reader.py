"""Read Tableau's workbooks: XML, alone or in an archive with its data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from xml.etree.ElementTree import ParseError

from defusedxml import DefusedXmlException  # type: ignore[import-untyped]
from defusedxml.ElementTree import fromstring  # type: ignore[import-untyped]

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage_ingest.bi.connections import ConnectionMap
from lineage_ingest.bi.exported import BiExport, Board, QueryAsset
from lineage_ingest.bi.files import ExportFile, UnreadableExportError
from lineage_ingest.bi.tableau.workbook import Workbook

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["SUFFIXES", "read_tableau"]

SUFFIXES = frozenset((".twb",))
_BASE = "{http://www.w3.org/XML/1998/namespace}base"


def read_tableau(
    files: Iterable[ExportFile], connections: ConnectionMap, server: str, progress: Callable[[int], None]
) -> BiExport:
    """Return what the workbooks say. Each file speaks of its own workbook only."""
    queries: list[QueryAsset] = []
    boards: list[Board] = []
    problems: list[tuple[str, Diagnostic]] = []
    scopes: list[str] = []
    is_whole = True
    for number, file in enumerate(files):
        progress(number + 1)
        if file.problem is not None:
            is_whole = False
            problems.append((file.name, file.problem))
            continue
        try:
            root = _parse(file.content)
            stated = _host(root.get(_BASE) or "")
            if server and stated and stated != server and not server.startswith(stated):
                message = f"the workbook says that it is of {stated}"
                problems.append((file.name, Diagnostic(DiagnosticCode.UNREADABLE_FILE, Severity.INFO, message)))
            server = server or stated
            place = root.find("repository-location")
            title = (place.get("id") if place is not None else None) or PurePosixPath(file.path).stem
            workbook = Workbook(root, title, file.name, server, connections)
            queries += workbook.queries()
            boards += workbook.boards()
            scopes.append(workbook.scope)
        except UnreadableExportError as error:
            is_whole = False
            problems.append((file.name, error.diagnostic))
    return BiExport(server, tuple(queries), tuple(boards), (), tuple(problems), is_whole, tuple(scopes))


def _parse(content: bytes) -> Element:
    try:
        root: Element = fromstring(content, forbid_dtd=True)
    except DefusedXmlException:
        message = "the XML declares a document type or entities, which could expand without end: nothing of it is read"
        raise UnreadableExportError(message) from None
    except ParseError as error:
        line, column = error.position
        message = f"line {line}, column {column + 1}: not valid XML"
        raise UnreadableExportError(message, "export it again", DiagnosticCode.ARTIFACT_DAMAGED) from None
    except (ValueError, LookupError) as error:
        raise UnreadableExportError(
            f"not valid XML ({type(error).__name__})", code=DiagnosticCode.ARTIFACT_DAMAGED
        ) from None
    if root.tag != "workbook":
        raise UnreadableExportError(f"expected a workbook, found {root.tag!r}")
    return root


def _host(url: str) -> str:
    return url.partition("://")[2].partition("/")[0]
