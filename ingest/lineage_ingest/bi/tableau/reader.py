"""Read Tableau's workbooks: XML, alone or in an archive with its data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from xml.etree.ElementTree import ParseError

from defusedxml import DefusedXmlException  # type: ignore[import-untyped]
from defusedxml.ElementTree import fromstring  # type: ignore[import-untyped]

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage_ingest.bi.connections import ConnectionMap
from lineage_ingest.bi.exported import BiExport, not_read
from lineage_ingest.bi.files import ExportFile, UnreadableExportError
from lineage_ingest.bi.single_reports import SingleReport, read_single_reports
from lineage_ingest.bi.tableau.workbook import Workbook

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["SUFFIXES", "read_tableau"]

SUFFIXES = frozenset((".twb", ".tds"))
_BASE = "{http://www.w3.org/XML/1998/namespace}base"


def read_tableau(
    files: Iterable[ExportFile], connections: ConnectionMap, server: str, progress: Callable[[int], None]
) -> BiExport:
    """Return what the workbooks say. Each file speaks of its own workbook only."""
    sites = [server] if server else []

    def read(file: ExportFile) -> SingleReport:
        root = _parse(file.content)
        stated = _host(root.get(_BASE) or "")
        problems: list[tuple[str, Diagnostic]] = []
        if sites and stated and stated != sites[0] and not sites[0].startswith(stated):
            message = f"the workbook says that it is of {stated}"
            problems.append((file.name, Diagnostic(DiagnosticCode.UNREADABLE_FILE, Severity.INFO, message)))
        if stated:
            sites.append(stated)
        place = root.find("repository-location")
        title = (place.get("id") if place is not None else None) or PurePosixPath(file.path).stem
        workbook = Workbook(root, title, file.name, sites[0] if sites else "", connections)
        queries = tuple(workbook.queries())
        return SingleReport(workbook.scope, queries, tuple(workbook.boards()), tuple(problems))

    sources: list[tuple[str, Diagnostic]] = []

    def workbooks() -> Iterator[ExportFile]:
        for file in files:
            if file.suffix == ".tds" and file.problem is None:
                message = (
                    "a data source outside a workbook (.tds) is not read: what its fields are made of is not known"
                )
                sources.append((file.name, not_read(message, severity=Severity.WARNING)))
            else:
                yield file

    export = read_single_reports(workbooks(), read, progress)
    return replace(export, server=sites[0] if sites else "", problems=(*export.problems, *sources))


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
