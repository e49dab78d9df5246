"""Where a name is defined: in this text, or in another file which the store knows to write the table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lineage.model.diagnostics import Span
from lineage.model.names import split_name
from lineage.model.text.decoding import decode_sql
from lineage.sql.extraction import ExtractionOptions
from lineage.store.values import StoredJob
from lineage_editor.analysis import DocumentAnalysis, NameAtCursor
from lineage_editor.graph_answers import GraphAnswers

__all__ = ["DefinitionPlace", "definitions", "file_of", "paths_in_project"]

_MAX_CHARACTERS = 2_000_000


@dataclass(frozen=True)
class DefinitionPlace:
    """A range of a text: of the document (`path` is None) or of a file, whose text was read."""

    path: Path | None
    text: str
    span: Span


def definitions(
    analysis: DocumentAnalysis, name: NameAtCursor, graph: GraphAnswers | None, roots: Iterable[Path]
) -> list[DefinitionPlace]:
    """Return the expressions that make a column, through stars and CTEs; for a table, the statement that makes it."""
    places: dict[DefinitionPlace, None] = {}
    folders = list(roots)
    if name.mention is not None:
        for place in _of_table(analysis, name, graph, folders):
            places[place] = None
    for origin in (origin for placed in name.columns for origin in analysis.origins(placed)):
        column = analysis.column(origin)
        if column is not None and column.span is not None:
            places[DefinitionPlace(None, analysis.text, column.span)] = None
        elif origin.place.table is not None:
            elsewhere = list(_in_files(analysis.options, origin.place.table, origin.place.name, graph, folders))
            places.update(dict.fromkeys(elsewhere or _where_read(analysis, name, origin.place.table)))
    return list(places)


def _of_table(
    analysis: DocumentAnalysis, name: NameAtCursor, graph: GraphAnswers | None, roots: list[Path]
) -> Iterator[DefinitionPlace]:
    mention = name.mention
    if mention is None:
        return
    if mention.named_at is not None:
        yield DefinitionPlace(None, analysis.text, mention.named_at)
        return
    here = [one for one in analysis.statements if one.lineage.target == mention.table and one.lineage.defines]
    for statement in here:
        made = next((one.span for one in statement.mentions if one.table == mention.table), statement.span)
        yield DefinitionPlace(None, analysis.text, made)
    if not here and mention.table is not None:
        yield from _in_files(analysis.options, mention.table, None, graph, roots)


def _where_read(analysis: DocumentAnalysis, name: NameAtCursor, table: str) -> Iterator[DefinitionPlace]:
    """Yield the mentions of a table that no known file writes: the way ends there."""
    for mention in analysis.statements[name.statement].mentions:
        if mention.table == table:
            yield DefinitionPlace(None, analysis.text, mention.span)
            return


def _in_files(
    options: ExtractionOptions, table: str, column: str | None, graph: GraphAnswers | None, roots: list[Path]
) -> Iterator[DefinitionPlace]:
    dataset = graph.dataset(table) if graph is not None else None
    if graph is None or dataset is None:
        return
    for job in graph.writers(dataset.key):
        path = file_of(job, roots)
        if path is None:
            continue
        text = _read(path)
        if text is not None:
            yield DefinitionPlace(path, text, _span_in(text, path, options, dataset.name, column, job))


def _read(path: Path) -> str | None:
    try:
        if path.stat().st_size > _MAX_CHARACTERS:
            return None
        return decode_sql(path.read_bytes(), str(path)).text
    except OSError:
        return None


def _span_in(text: str, path: Path, options: ExtractionOptions, table: str, column: str | None, job: StoredJob) -> Span:
    """Return where a file makes a table, or a column of it; else the line that the store has."""
    analysis = DocumentAnalysis(text, options, None, str(path))
    own_name = [part for part, _ in split_name(table)][-1]
    for number, statement in enumerate(analysis.statements):
        target = statement.lineage.target
        if target is None or [part for part, _ in split_name(target)][-1] != own_name:
            continue
        if column is None:
            return next((one.span for one in statement.mentions if one.table == target), statement.span)
        for placed in analysis.made_by(target, column):
            if placed.statement != number:
                continue
            for origin in analysis.origins(placed):
                made = analysis.column(origin)
                if made is not None and made.span is not None:
                    return made.span
            if (own := analysis.column(placed)) is not None and own.span is not None:
                return own.span
        return statement.span
    start = sum(len(line) for line in text.splitlines(keepends=True)[: max((job.source_line or 1) - 1, 0)])
    return Span.locate(text, start, start)


def file_of(job: StoredJob, roots: Iterable[Path]) -> Path | None:
    """Return the file of a job, as its path below one of the folders or its name as it was given; None without one."""
    names = [name for name in (job.path, job.source) if name]
    for name in names:
        for path in [Path(name)] if Path(name).is_absolute() else [folder / name for folder in roots]:
            if path.is_file():
                return path
    return None


def paths_in_project(path: Path, depth: int = 8) -> list[str]:
    """Return the names that a file may have in its project, from its absolute path to its own name.

    >>> paths_in_project(Path("/home/me/shop/models/orders.sql"))[1:]
    ['home/me/shop/models/orders.sql', 'me/shop/models/orders.sql', 'shop/models/orders.sql', 'models/orders.sql']
    """
    parts = path.parts[1:]
    return [path.as_posix(), *("/".join(parts[start:]) for start in range(max(len(parts) - depth, 0), len(parts) - 1))]
