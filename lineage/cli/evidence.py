"""The SQL that proves an edge, as one line with the place marked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from rich.text import Text

from lineage.cli.layout import wrap_styled
from lineage.model.evidence import Chain, places_of, position_in_source
from lineage.model.expression_text import expression_around
from lineage.store.values import StoredJob

__all__ = ["called_apart", "evidence_of", "excerpts", "location", "with_evidence"]

_LEAST, _MOST = 16, 60


def called_apart(jobs: Collection[StoredJob]) -> dict[str, str]:
    """Return how the source of each of these jobs (by key) is called: with its project where another is called so."""
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
    """Return the file, line and column in which a place of a job's SQL stands; without a file, those in its SQL.

    `source` is how the job's source is called. The column is None where nothing says on which the SQL begins.
    """
    sql = job.sql or ""
    in_source = position_in_source(sql, job.positions, start)
    if in_source is not None:
        return source or job.source, *in_source
    line = sql.count("\n", 0, start) + 1
    column = start - sql.rfind("\n", 0, start)
    # Stored before each statement's position was: of a job of several pieces the line is that of its own SQL.
    if not job.source_line:
        return None, line, column
    return source or job.source, line + job.source_line - 1, column if line > 1 else None


def excerpts(job: StoredJob, chain: Chain, width: int, source: str | None = None) -> list[Text]:
    """Return the lines that show a proof: each expression in its turn, with where it stands and the text around it.

    `width` is how many characters a line may have (where both do not fit, the text begins a line of its own), `source`
    how the job's source is called.
    """
    lines: list[Text] = []
    shown: set[tuple[int, int]] = set()
    for start, end in places_of(chain):
        span = expression_around(job.sql or "", start, end)
        if span not in shown:
            shown.add(span)
            lines += _excerpt(job, span, start, width, source)
    return lines


def _excerpt(job: StoredJob, span: tuple[int, int], at: int, width: int, source: str | None) -> list[Text]:
    """Return where a place of a job's SQL stands, and the text around it on one line, the expression underlined."""
    sql = job.sql or ""
    start, end = span
    file, line_number, column = location(job, at, source)
    where = f"{file}:{line_number}" if file else f"{job.key}, line {line_number}"
    place = f"{where}:{column}" if column is not None else where
    beside = width - len(place) - 2
    room = beside if end - start + 2 * _LEAST + 4 <= beside else width
    around = max(_LEAST, min(_MOST, (room - (end - start) - 4) // 2))
    begins = max((one.offset for one in job.positions if one.offset <= start), default=0)
    ends = min((one.offset - 2 for one in job.positions if one.offset > start), default=len(sql))
    left, right = max(begins, start - around), min(ends, end + around)
    line = Text(("… " if left > begins else "") + _one_line(sql[left:start]), style="dim", end="")
    line.append(_one_line(sql[start:end]), style="not dim bold underline")
    line.append(_one_line(sql[end:right]) + (" …" if right < ends else ""))
    return [Text(f"{place}  ") + line] if room == beside else [Text(place), *wrap_styled(line, width)]


def with_evidence(answer: Any, jobs: Mapping[str, StoredJob]) -> Any:
    """Return an answer's JSON values, each step of its paths with the SQL that proves it, its file, line and column."""
    if isinstance(answer, list):
        return [with_evidence(one, jobs) for one in answer]
    if not isinstance(answer, dict):
        return answer
    found = {name: with_evidence(value, jobs) for name, value in answer.items()}
    if "job" in answer and "spans" in answer:
        found["evidence"] = evidence_of(jobs.get(answer["job"]), answer["spans"])
    return found


def evidence_of(job: StoredJob | None, spans: Iterable[Chain]) -> list[dict[str, Any]]:
    """Return the proofs in a job's SQL as JSON values: where the source is read, and in `via` what it passes through.

    Each with the expression that it stands in, and its project, file, line and column.
    """
    if job is None or job.sql is None:
        return []
    proofs = []
    for chain in spans:
        first, *others = (_piece(job, job.sql, *place) for place in places_of(chain))
        proofs.append({**first, "via": others})
    return proofs


def _piece(job: StoredJob, sql: str, start: int, end: int) -> dict[str, Any]:
    file, line, column = location(job, start, job.path)
    expression = sql[slice(*expression_around(sql, start, end))]
    piece = {"sql": sql[start:end], "expression": expression, "file": file, "line": line, "column": column}
    return {**piece, "project": job.project} if job.project else piece


def _one_line(text: str) -> str:
    """Return the text with every run of white space as one space."""
    words = " ".join(text.split())
    return (" " if text[:1].isspace() else "") + words + (" " if words and text[-1:].isspace() else "")
