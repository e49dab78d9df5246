"""`lineage extract --report`: how much SQL is resolved, what would resolve the rest, and which texts are slow."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import typer

from lineage.catalog import Catalog
from lineage.cli.coverage import Coverage
from lineage.model.files import SQL_SUFFIXES
from lineage.model.statement import Completeness
from lineage.model.text.decoding import decode_sql
from lineage.screen.formats import OutputFormat, print_listing
from lineage.screen.layout import Look
from lineage.screen.listing import counted, note, say
from lineage.sql.extraction import ExtractionOptions
from lineage.sql.script.parallel.processes import resolve_texts
from lineage.worker_pool import available_processors

__all__ = ["Report", "measure", "print_report", "texts_of"]

Progress: TypeAlias = Callable[[str, int, int | None], None]
"""Called with what is counted, the number done, and the total if known."""

_SQL_FIELDS = ("sql", "query", "query_text", "statement", "text")
_MAX_ROWS = 10


@dataclass(slots=True)
class Report:
    """How much of some texts is resolved, and the slowest of them."""

    texts: int = 0
    coverage: Coverage = field(default_factory=Coverage)
    slowest: list[tuple[float, str]] = field(default_factory=list)
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "texts": self.texts,
            "statements": {str(level): self.coverage.statements[level] for level in Completeness},
            "needs": [
                {
                    "need": str(need_count.need),
                    "kind": str(need_count.need.kind),
                    "name": need_count.need.name,
                    "code": need_count.need.code or None,
                    "statements": need_count.statements,
                    "full": round(need_count.share, 4),
                    "first": need_count.first,
                    "help": need_count.need.help,
                }
                for need_count in self.coverage.needs()
            ],
            "slowest": [{"text": name, "seconds": round(seconds, 4)} for seconds, name in self.slowest],
            "seconds": round(self.seconds, 2),
        }


def texts_of(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the SQL of a folder's files, of a JSON Lines file's rows (field `sql` or `query`), or of one file.

    Raises:
        typer.BadParameter: a row is not JSON or has no SQL (the message names its line), or a folder has no SQL files.
    """
    if path.is_dir():
        files = sorted(p for p in path.rglob("*") if p.suffix.lower() in SQL_SUFFIXES and p.is_file())
        if not files:
            raise typer.BadParameter(f"no .sql files in {path}", param_hint="--report")
        for file in files:
            yield from _text_of(file, file.relative_to(path).as_posix())
    elif path.suffix.lower() in (".jsonl", ".ndjson"):
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                yield f"{path.name}:{number}", _sql_of(line, path, number)
    else:
        yield from _text_of(path, path.name)


def _text_of(file: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield a file's name and text. Problems are printed; a file that is not text is left out."""
    text, problem = decode_sql(file.read_bytes(), name)
    if problem is not None:
        note(str(problem), "red")
    if text is not None:
        yield name, text


def _sql_of(line: str, path: Path, number: int) -> str:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise typer.BadParameter(f"{path}:{number}: not JSON: {error.msg}") from error
    found = next((row[name] for name in _SQL_FIELDS if isinstance(row.get(name), str)), None)
    if found is None:
        raise typer.BadParameter(f"{path}:{number}: no SQL in any of the fields {', '.join(_SQL_FIELDS)}")
    return str(found)


def measure(
    path: Path, options: ExtractionOptions, catalog: Catalog, progress: Progress, jobs: int | None = None
) -> Report:
    """Return how much of the SQL is resolved: a folder's files together, as an ingest does; each row on its own.

    `jobs` is the number of processes for a folder (None: one for each processor).
    """
    report = Report()
    if path.is_dir():
        _measure(report, dict(texts_of(path)), options, catalog, progress, jobs or available_processors())
    else:
        for name, text in texts_of(path):
            _measure(report, {name: text}, options, catalog, lambda *_: None, 1)
            progress("texts", report.texts, None)
    return report


def _measure(
    report: Report, texts: dict[str, str], options: ExtractionOptions, catalog: Catalog, progress: Progress, jobs: int
) -> None:
    """Add texts that are resolved together to a report. Time spent on other texts they need counts as theirs."""
    alone = next(iter(texts)) if len(texts) == 1 else ""
    seconds: dict[str, float] = {}
    began = time.perf_counter()
    statements = resolve_texts(
        {"": texts[alone]} if alone else texts,
        options,
        catalog,
        jobs=jobs,
        progress=lambda done, total: progress("texts", done, total),
        seconds=seconds,
    )
    taken = [(took, name or alone) for name, took in seconds.items()]
    report.texts += len(texts)
    report.seconds += time.perf_counter() - began
    report.slowest = sorted([*report.slowest, *taken], reverse=True)[:_MAX_ROWS]
    report.coverage.add(statements, alone)


def print_report(report: Report, output: OutputFormat) -> None:
    """Print a report: counts, what would complete most statements, slowest texts. CSV has one row per need."""
    columns = ("need", "kind", "name", "code", "statements", "full", "first", "help")
    rows = ([one[name] for name in columns] for one in report.to_dict()["needs"])
    print_listing(columns, rows, output, values=report.to_dict, people=lambda: _print_for_people(report))


def _print_for_people(report: Report) -> None:
    needs = list(report.coverage.needs())
    levels = report.coverage.statements
    total = levels.total()
    say(f"{counted(report.texts, 'text')}, {counted(total, 'statement')} in {report.seconds:.1f} s")
    rows = [(str(level), levels[level], _percent(levels[level] / (total or 1))) for level in Completeness]
    print_listing(("completeness", "statements", "share"), rows, OutputFormat.TABLE)
    if needs:
        say("")
        say(
            f"{counted(total - levels[Completeness.FULL], 'statement')} not full. What they need, and the share of full"
        )
        say("statements once that and the needs above it are met:")
        shown = needs[:_MAX_ROWS]
        lines = [(one.statements, _percent(one.share), str(one.need), one.first) for one in shown]
        look = Look(words=("need",), cuts=("need",), phrases={"first in": "first in {}"})
        print_listing(("statements", "full", "need", "first in"), lines, OutputFormat.TABLE, look)
        if len(needs) > len(shown):
            say(f"and {counted(len(needs) - len(shown), 'need')} more: --format json or csv lists all")
        for subject, advice in {one.need.subject: one.need.help for one in shown}.items():
            say(f"{subject}: {advice}")
    say("")
    slowest = [(f"{seconds * 1000:.0f} ms", name) for seconds, name in report.slowest]
    print_listing(("slowest", "text"), slowest, OutputFormat.TABLE)


def _percent(share: float) -> str:
    """Return a share as text, rounded down: 100 % means all."""
    return f"{int(share * 1000) / 10:.1f}%"
