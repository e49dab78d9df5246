"""`lineage extract --report`: how much SQL is resolved, why the rest is not, and which texts take longest."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from lineage.catalog import Catalog
from lineage.cli.listing import Look, OutputFormat, counted, note, print_listing, print_object, say
from lineage.model.decoding import decode_sql
from lineage.model.files import SQL_SUFFIXES
from lineage.model.statement import Completeness
from lineage.sql.extraction import ExtractionOptions
from lineage.sql.script.script import Script

__all__ = ["Coverage", "measure_coverage", "print_coverage", "texts_of"]

_SQL_FIELDS = ("sql", "query", "query_text", "statement", "text")
_MAX_ROWS = 10


@dataclass(slots=True)
class Coverage:
    """Statements by completeness, the reasons for incomplete ones, and the slowest texts."""

    texts: int = 0
    statements: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    slowest: list[tuple[float, str]] = field(default_factory=list)
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "texts": self.texts,
            "statements": {str(level): self.statements[level] for level in Completeness},
            "reasons": [
                {"reason": reason, "count": count, "example": self.examples[reason]}
                for reason, count in self.reasons.most_common(_MAX_ROWS)
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


def measure_coverage(path: Path, options: ExtractionOptions, catalog: Catalog) -> Coverage:
    """Return how much of the SQL is resolved: a folder's files together, as an ingest does; each row on its own."""
    report = Coverage()
    if path.is_dir():
        _measure(report, dict(texts_of(path)), options, catalog)
    else:
        for name, text in texts_of(path):
            _measure(report, {name: text}, options, catalog)
    return report


def _measure(report: Coverage, texts: dict[str, str], options: ExtractionOptions, catalog: Catalog) -> None:
    """Add texts that are resolved together to a report. Time spent on other texts they need counts as theirs."""
    alone = next(iter(texts)) if len(texts) == 1 else ""
    names = list(texts)
    ends = [time.perf_counter()]
    script = Script({"": texts[alone]} if alone else texts, options, catalog)
    statements = script.resolve(lambda _done, _total: ends.append(time.perf_counter()))
    taken = [(end - begin, name) for name, begin, end in zip(names, ends, ends[1:], strict=False)]
    report.texts += len(texts)
    report.seconds += time.perf_counter() - ends[0]
    report.slowest = sorted([*report.slowest, *taken], reverse=True)[:_MAX_ROWS]
    for statement in statements:
        report.statements[statement.completeness] += 1
        if statement.reason is not None:
            reason = _general(statement.reason)
            report.reasons[reason] += 1
            report.examples.setdefault(reason, statement.source or alone)


def _general(reason: str) -> str:
    """Return a reason without the names in it, so that similar reasons count together."""
    return re.sub(r"`[^`]*`", "`…`", reason)


def print_coverage(report: Coverage, output: OutputFormat) -> None:
    """Print a report: counts, top reasons, slowest texts."""
    if output is OutputFormat.JSON:
        print_object(report.to_dict())
        return
    total = report.statements.total() or 1
    rows = [(str(level), report.statements[level], f"{report.statements[level] / total:.1%}") for level in Completeness]
    if output is OutputFormat.CSV:
        print_listing(("completeness", "statements", "share"), rows, output)
        return
    texts, statements = counted(report.texts, "text"), counted(report.statements.total(), "statement")
    say(f"{texts}, {statements} in {report.seconds:.1f} s")
    print_listing(("completeness", "statements", "share"), rows, output)
    reasons = [(count, reason, report.examples[reason]) for reason, count in report.reasons.most_common(_MAX_ROWS)]
    if reasons:
        print_listing(("count", "reason", "first in"), reasons, output, Look(words=("reason",), cuts=("reason",)))
    slowest = [(f"{seconds * 1000:.0f} ms", name) for seconds, name in report.slowest]
    print_listing(("slowest", "text"), slowest, output)
