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
from tests.benchmarks.accuracy.page import PAGE, Figures, Measured, as_markdown
from tests.benchmarks.accuracy.scoring import Score, score
from tests.benchmarks.accuracy.tools import OURS, TOOLS, Tool, environment_of

__all__ = ["ON_REQUEST", "RECORD", "ask", "run", "update_own"]

ON_REQUEST = True
"""It needs a package index: `make bench` leaves it out."""
SECONDS = 20
"""What one statement may take."""
_TOTAL_SECONDS = 3600
_HERE = Path(__file__).parent
RECORD = _HERE.parent / "results" / "accuracy.json"


def run() -> dict[str, Any]:
    """Return what each tool answered, and write the page."""
    subjects = corpora()
    figures: dict[str, Figures | str] = {}
    for tool in TOOLS:
        print(f"   {tool.name} …", flush=True)
        figures[tool.name] = _measure(tool, subjects)
    return _write(subjects, figures)


def update_own() -> dict[str, Any]:
    """Ask this project only, and write the page with the recorded figures of the others."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))["figures"]
    subjects = corpora()
    figures = {name: one if isinstance(one, str) else _read(one) for name, one in record.items()}
    figures[OURS.name] = _measure(OURS, subjects)
    return _write(subjects, figures)


def _write(subjects: tuple[Corpus, ...], figures: Mapping[str, Figures | str]) -> dict[str, Any]:
    PAGE.write_text(as_markdown(subjects, figures, SECONDS), encoding="utf-8")
    return {name: one if isinstance(one, str) else _as_record(one) for name, one in figures.items()}


def _as_record(found: Figures) -> dict[str, Any]:
    return {corpus: {**one._asdict(), "score": asdict(one.score)} for corpus, one in found.items()}


def _read(record: Mapping[str, Any]) -> Figures:
    return {corpus: Measured(Score(**one["score"]), one["speed"], one["peak_mb"]) for corpus, one in record.items()}


def _measure(tool: Tool, subjects: tuple[Corpus, ...]) -> Figures | str:
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
