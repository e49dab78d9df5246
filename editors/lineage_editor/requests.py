"""The answers to requests, in the protocol's words, from an analysis and a position."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lsprotocol import types

from lineage.catalog import Catalog
from lineage.model.diagnostics import Span
from lineage_editor.analysis import DocumentAnalysis, NameAtCursor
from lineage_editor.completions import Suggestion, complete
from lineage_editor.definition_places import DefinitionPlace, definitions
from lineage_editor.editor_diagnostics import editor_diagnostics
from lineage_editor.editor_session import EditorSession
from lineage_editor.hover_text import hover_text
from lineage_editor.impact_preview import ImpactPreview, explorer_url, impact_preview, stored_column
from lineage_editor.text_positions import TextPositions

__all__ = [
    "EXPLORER_COMMAND",
    "IMPACT_COMMAND",
    "actions_at",
    "completion_at",
    "definitions_at",
    "explorer_address_at",
    "hover_at",
    "impact_at",
    "problems_of",
]

IMPACT_COMMAND = "lineage.whoBreaks"
EXPLORER_COMMAND = "lineage.openInExplorer"
_KINDS = {
    "column": types.CompletionItemKind.Field,
    "table": types.CompletionItemKind.Class,
    "query": types.CompletionItemKind.Interface,
    "alias": types.CompletionItemKind.Variable,
}
_LAST_NAME = re.compile(r"[\w$]+\W?\Z")
_MAX_FIXES = 3


def problems_of(analysis: DocumentAnalysis, positions: TextPositions) -> list[types.Diagnostic]:
    """Return the diagnostics of a document."""
    return editor_diagnostics(analysis, positions)


def hover_at(
    session: EditorSession, analysis: DocumentAnalysis, positions: TextPositions, position: types.Position
) -> types.Hover | None:
    """Return what is shown over the name at a position."""
    name = analysis.name_at(positions.offset(position))
    if name is None:
        return None
    text = session.asking(lambda graph: hover_text(analysis, name, graph, session.problem))
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), positions.range(name.span))


def definitions_at(
    session: EditorSession,
    analysis: DocumentAnalysis,
    positions: TextPositions,
    position: types.Position,
    roots: list[Path],
) -> list[DefinitionPlace]:
    """Return where the name at a position is defined."""
    name = analysis.name_at(positions.offset(position))
    return session.asking(lambda graph: definitions(analysis, name, graph, roots)) if name is not None else []


def completion_at(
    session: EditorSession,
    text: str,
    path: str,
    positions: TextPositions,
    position: types.Position,
    last: DocumentAnalysis | None,
) -> types.CompletionList:
    """Return what may be typed at a position."""
    options = last.options if last is not None else session.options(path)
    offset = positions.offset(position)

    def schemas(names: frozenset[str]) -> Catalog:
        return session.known_catalog(path, options, names)

    completions = session.asking(lambda graph: complete(text, offset, options, graph, schemas, last))
    at = positions.range(completions.span)
    items = [_item(one, at, number) for number, one in enumerate(completions.items)]
    return types.CompletionList(completions.incomplete, items)


def _item(suggestion: Suggestion, at: types.Range, number: int) -> types.CompletionItem:
    return types.CompletionItem(
        label=suggestion.label,
        kind=_KINDS[suggestion.kind],
        detail=suggestion.detail or None,
        sort_text=f"{number:05}",
        text_edit=types.TextEdit(at, suggestion.text or suggestion.label),
    )


def actions_at(
    analysis: DocumentAnalysis, positions: TextPositions, uri: str, at: types.Range
) -> list[types.CodeAction | types.Command]:
    """Return the actions for a range: names that may be meant, who breaks, and the explorer."""
    found: list[types.CodeAction | types.Command] = list(_fixes(analysis, positions, uri, at))
    name = analysis.name_at(positions.offset(at.start))
    if name is not None and name.columns:
        arguments = [uri, at.start]
        shown = _own_text(analysis, name)
        for title, command in (
            (f"Who breaks if `{shown}` is renamed or dropped?", IMPACT_COMMAND),
            (f"Open `{shown}` in the explorer", EXPLORER_COMMAND),
        ):
            found.append(types.Command(title, command, arguments=arguments))
    return found


def _own_text(analysis: DocumentAnalysis, name: NameAtCursor) -> str:
    return analysis.text[name.span.start : name.span.end].rpartition(".")[2]


def _fixes(
    analysis: DocumentAnalysis, positions: TextPositions, uri: str, at: types.Range
) -> Iterator[types.CodeAction]:
    """Yield the known names that an unknown one may be meant for."""
    start, end = positions.offset(at.start), positions.offset(at.end)
    for statement in analysis.statements:
        for unresolved in statement.lineage.unresolved:
            span = unresolved.span
            if span is None or span.end < start or end < span.start:
                continue
            written = _LAST_NAME.search(analysis.text, span.start, span.end)
            if written is None:
                continue
            place = positions.range(Span(written.start(), written.end()))
            for candidate in unresolved.candidates[:_MAX_FIXES]:
                new = candidate.rpartition(".")[2]
                edit = types.WorkspaceEdit({uri: [types.TextEdit(place, new)]})
                yield types.CodeAction(f"Change to `{new}`", types.CodeActionKind.QuickFix, edit=edit)


def impact_at(
    session: EditorSession,
    analysis: DocumentAnalysis,
    positions: TextPositions,
    position: types.Position,
    roots: list[Path],
) -> ImpactPreview | None:
    """Return who breaks if the column at a position is renamed or dropped."""
    name = analysis.name_at(positions.offset(position))
    if name is None or not name.columns:
        return None
    return session.asking(lambda graph: impact_preview(analysis, name, graph, roots))


def explorer_address_at(
    session: EditorSession, analysis: DocumentAnalysis, positions: TextPositions, position: types.Position
) -> tuple[str | None, str]:
    """Return the address of the explorer's page about the column at a position; else None, and why."""
    address = session.settings.explorer_address
    if address is None:
        store = session.settings.store or "lineage.db"
        return None, f"Run `lineage serve --store {store}`, and set `explorer` to its address (lineage lsp --explorer)."
    name = analysis.name_at(positions.offset(position))
    if name is None:
        return None, "There is no column here."
    target, stored = session.asking(lambda graph: stored_column(analysis, name, graph))
    if stored is None:
        return None, f"The store does not know {target or 'this column'}."
    return explorer_url(address, stored.key), ""
