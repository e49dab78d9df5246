"""Side by side with other tools, on statements whose lineage is known: `python -m tests.benchmarks accuracy`.

It writes docs/accuracy.md. Each tool is installed from PyPI into an environment of its own, in the user's cache folder,
and runs in a process of its own: one statement after the other, each with the schema of all tables that it may read,
where the tool takes one. Only values are compared, since no other tool tells them from references: the columns that an
output column's value comes from.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.benchmarks.accuracy.corpora import Corpus, corpora
from tests.benchmarks.accuracy.page import PAGE, Measured, as_markdown
from tests.benchmarks.accuracy.scoring import score
from tests.benchmarks.accuracy.tools import TOOLS, Tool, environment_of

__all__ = ["ON_REQUEST", "ask", "run"]

ON_REQUEST = True
"""It needs a package index: `make bench` leaves it out."""
SECONDS = 20
"""What one statement may take."""
_TOTAL_SECONDS = 3600
_HERE = Path(__file__).parent


def run() -> dict[str, Any]:
    """Return what each tool answered, and write the page."""
    subjects = corpora()
    figures: dict[str, dict[str, Measured] | str] = {}
    for tool in TOOLS:
        print(f"   {tool.name} …", flush=True)
        figures[tool.name] = _measure(tool, subjects)
    PAGE.write_text(as_markdown(subjects, figures, SECONDS), encoding="utf-8")
    return {name: found if isinstance(found, str) else _record(found) for name, found in figures.items()}


def _record(found: Mapping[str, Measured]) -> dict[str, Any]:
    return {
        name: {**asdict(one.score), "statements_per_second": one.speed, "peak_mb": one.peak_mb}
        for name, one in found.items()
    }


def _measure(tool: Tool, subjects: tuple[Corpus, ...]) -> dict[str, Measured] | str:
    """Return what a tool answered, by corpus; or why it cannot be installed here."""
    try:
        python = environment_of(tool)
    except subprocess.CalledProcessError as error:
        last = (error.stderr or error.stdout or "").strip().splitlines()[-1:]
        return " ".join(last)[:200] or "the installation failed"
    return {one.name: ask(tool, python, one) for one in subjects if not tool.dialects or one.dialect in tool.dialects}


def ask(tool: Tool, python: Path, corpus: Corpus) -> Measured:
    """Return a tool's answers to a corpus, counted."""
    task = {"dialect": corpus.dialect, "seconds": SECONDS, "statements": list(_statements(corpus))}
    command = [str(python), str(_HERE / "worker.py"), str(_HERE / "adapters" / f"{tool.adapter}.py")]
    with tempfile.TemporaryDirectory() as folder:  # some tools leave files where they run
        environment = {**os.environ, "PYTHONPATH": str(_HERE.parents[2]) if not tool.packages else ""}
        ended = subprocess.run(
            command,
            input=json.dumps(task),
            capture_output=True,
            text=True,
            cwd=folder,
            env=environment,
            timeout=_TOTAL_SECONDS,
            check=False,
        )
    lines = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
    answers = {line["name"]: line for line in lines if "name" in line}
    seconds = sum(answer["seconds"] for answer in answers.values())
    return Measured(
        score(corpus, answers, (ended.stderr.strip().splitlines() or ["no answer"])[-1][:200]),
        round(len(answers) / seconds, 1) if seconds else None,
        next((line["peak_mb"] for line in lines if "peak_mb" in line), None),
    )


def _statements(corpus: Corpus) -> Iterator[dict[str, Any]]:
    """Yield the statements as a worker takes them; a schema is sent where it differs from that before."""
    sent: object = None
    for one in corpus.statements:
        schema = {"schema": one.schema} if one.schema is not sent else {}
        sent = one.schema
        yield {"name": one.name, "sql": one.sql, "query": one.query, "write": one.write, **schema}
