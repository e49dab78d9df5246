"""The SQL that proves an edge, as one line with the place marked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from rich.text import Text

from lineage.store.protocol import StoredJob

__all__ = ["called_apart", "excerpt"]

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


def excerpt(job: StoredJob, span: tuple[int, int], width: int, source: str | None = None) -> Text:
    """Return where a piece of a job's SQL stands, and the text around it on one line, the piece itself underlined.

    `width` is how many characters the line may have, `source` how the job's source is called.
    """
    sql = job.sql or ""
    start, end = span
    line_start = sql.rfind("\n", 0, start) + 1
    line_number = sql.count("\n", 0, start) + 1
    # Of a job of several pieces the line is that of its own SQL, not of the file.
    where = (
        f"{source or job.source}:{line_number + job.source_line - 1}"
        if job.source_line
        else f"{job.key}, line {line_number}"
    )
    place = f"{where}:{start - line_start + 1}  "
    around = max(_LEAST, min(_MOST, (width - len(place) - (end - start) - 6) // 2))
    left, right = max(0, start - around), min(len(sql), end + around)
    line = Text(place)
    line.append(("… " if left else "") + _one_line(sql[left:start]), style="dim")
    line.append(_one_line(sql[start:end]), style="bold underline")
    line.append(_one_line(sql[end:right]) + (" …" if right < len(sql) else ""), style="dim")
    return line


def _one_line(text: str) -> str:
    """Return the text with every run of white space as one space."""
    words = " ".join(text.split())
    return (" " if text[:1].isspace() else "") + words + (" " if words and text[-1:].isspace() else "")
