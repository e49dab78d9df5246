"""The SQL that proves an edge, on one line with the expression underlined."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from rich.text import Text

from lineage.model.batch import JobKind
from lineage.model.diagnostics import Span
from lineage.model.influence.evidence import Chain, position_in_source, spans_of
from lineage.model.text.expression_text import expression_around
from lineage.screen.layout import wrap_styled
from lineage.sql.scan import mask_literals
from lineage.store.values import StoredJob

__all__ = ["evidence_of", "excerpts", "location", "location_text", "marked_line", "unique_sources", "with_evidence"]

_MIN_CONTEXT, _MAX_CONTEXT = 16, 60
_WORD = 20
"""Excerpts do not begin or end within a word, unless it is longer."""


def unique_sources(jobs: Collection[StoredJob]) -> dict[str, str]:
    """Return the source of each job by key, with its project if sources of several projects share the name."""
    files: dict[str | None, set[tuple[str | None, str | None]]] = defaultdict(set)
    for job in jobs:
        files[job.source].add((job.project, job.path))
    return {
        job.key: job.source
        if len(files[job.source]) == 1
        else f"{job.project}: {job.source}"
        if job.project
        else job.path or job.source
        for job in jobs
        if job.source
    }


def location(job: StoredJob, start: int, source: str | None = None) -> tuple[str | None, int, int | None]:
    """Return the file, line and column of an offset in a job's SQL; without a file, those within the SQL.

    `source` is the name to show for the job's source. The column is None if the SQL's own column is not known.
    """
    sql = job.sql or ""
    in_source = position_in_source(sql, job.positions, start)
    if in_source is not None:
        return source or job.source, *in_source
    line = sql.count("\n", 0, start) + 1
    column = start - sql.rfind("\n", 0, start)
    # Older versions did not store positions: in a job of several statements the line counts within its own SQL.
    if not job.source_line:
        return None, line, column
    return source or job.source, line + job.source_line - 1, column if line > 1 else None


def location_text(job: StoredJob, start: int, source: str | None = None) -> str:
    """Return the file and line of an offset in a job's SQL, as text.

    The SQL of a dbt node or a dashboard is not the text of its file: what names the job then is the file, and what
    names the SQL of others the job's key.
    """
    file, line, _ = location(job, start, source)
    if file:
        return f"{file}:{line}"
    name = (source or job.source) if job.kind in (JobKind.DBT, JobKind.DASHBOARD) else None
    return f"{name}, SQL line {line}" if name else f"{job.key}, line {line}"


def excerpts(job: StoredJob, chain: Chain, width: int, source: str | None = None) -> list[Text]:
    """Return the lines that show a proof: each expression in order, with its position and the text around it.

    `width` is the maximum length of a line: if position and text do not fit, the text goes on the next line. `source`
    is the name to show for the job's source.
    """
    lines: list[Text] = []
    shown: set[tuple[int, int]] = set()
    for start, end in spans_of(chain):
        span = expression_around(job.sql or "", start, end)
        if span not in shown:
            shown.add(span)
            lines += _excerpt(job, span, start, width, source)
    return lines


def _excerpt(job: StoredJob, span: tuple[int, int], at: int, width: int, source: str | None) -> list[Text]:
    """Return the position of a span in a job's SQL, and the text around it with the expression underlined."""
    sql = job.sql or ""
    start, end = span
    where = location_text(job, at, source)
    column = location(job, at, source)[2]
    position = f"{where}:{column}" if column is not None else where
    beside = width - len(position) - 2
    room = beside if end - start + 2 * _MIN_CONTEXT + 4 <= beside else width
    around = max(_MIN_CONTEXT, min(_MAX_CONTEXT, (room - (end - start) - 4) // 2))
    begins = max((one.offset for one in job.positions if one.offset <= start), default=0)
    ends = min((one.offset - 2 for one in job.positions if one.offset > start), default=len(sql))
    left, right = max(begins, start - around), min(ends, end + around)
    if left > begins:
        left = next((one + 1 for one in range(left - 1, min(left + _WORD, start)) if sql[one].isspace()), left)
    if right < ends:
        right = next((one for one in range(right, max(right - _WORD, end), -1) if sql[one].isspace()), right)
    line = Text(("… " if left > begins else "") + _one_line(sql[left:start]), style="dim", end="")
    line.append(_one_line(sql[start:end]), style="not dim bold underline")
    line.append(_one_line(sql[end:right]) + (" …" if right < ends else ""))
    return [Text(f"{position}  ") + line] if room == beside else [Text(position), *wrap_styled(line, width)]


def with_evidence(answer: Any, jobs: Mapping[str, StoredJob]) -> Any:
    """Return an answer's JSON values with the SQL, file, line and column that prove each step."""
    if isinstance(answer, list):
        return [with_evidence(one, jobs) for one in answer]
    if not isinstance(answer, dict):
        return answer
    found = {name: with_evidence(value, jobs) for name, value in answer.items()}
    if "job" in answer and "spans" in answer:
        found["evidence"] = evidence_of(jobs.get(answer["job"]), answer["spans"])
    return found


def evidence_of(job: StoredJob | None, spans: Iterable[Chain]) -> list[dict[str, Any]]:
    """Return the proofs in a job's SQL as JSON values: where the source is read, and in `via` where it passes through.

    Each has the expression around it, and its project, file, line and column.
    """
    if job is None or job.sql is None:
        return []
    proofs = []
    for chain in spans:
        first, *others = (_piece(job, job.sql, *span) for span in spans_of(chain))
        proofs.append({**first, "via": others})
    return proofs


def _piece(job: StoredJob, sql: str, start: int, end: int) -> dict[str, Any]:
    file, line, column = location(job, start, job.path)
    expression = sql[slice(*expression_around(sql, start, end))]
    piece = {"sql": sql[start:end], "expression": expression, "file": file, "line": line, "column": column}
    return {**piece, "project": job.project} if job.project else piece


def marked_line(text: str, dialect: str, span: Span, width: int) -> list[str]:
    """Return the line of a text at which a span begins, with literals masked, and a line that points there."""
    masked, at = mask_literals(text, dialect), span.start - text.rfind("\n", 0, span.start) - 1
    line = masked[span.start - at :].partition("\n")[0].rstrip().replace("\t", " ")
    begin = max(0, min(at - width // 2, len(line) - width))
    return [line[begin : begin + width], " " * (at - begin) + "^"]


def _one_line(text: str) -> str:
    """Return the text with every run of white space as one space."""
    words = " ".join(text.split())
    return (" " if text[:1].isspace() else "") + words + (" " if words and text[-1:].isspace() else "")
