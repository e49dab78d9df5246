"""Side by side with other tools, on the sets whose truth is known: `python -m tests.benchmarks peers`.

Each tool is installed from PyPI into an environment of its own, in the user's cache folder, and runs in a process of
its own: one statement after the other, each with the schema of all tables it may read, where the tool takes one. Only
values are compared, since no other tool tells them from references: the columns that a target column comes from.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lineage.catalog.ddl import read_ddl
from lineage.model.dialects import dialect_named
from lineage.sql.scan import split_statements
from tests.benchmarks.peers.table import as_markdown
from tests.truth.compare import DATA, DEMO, Truth, read_truth, short_name

__all__ = ["ON_REQUEST", "run"]

ON_REQUEST = True
"""It needs a package index: `make bench` leaves it out."""
SECONDS = 20
"""What one statement may take."""
TOTAL_SECONDS = 1800
HERE = Path(__file__).parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lineage-peers"


@dataclass(frozen=True, slots=True)
class Peer:
    """A tool: the packages that it needs, and the adapter that asks it."""

    name: str
    packages: tuple[str, ...]
    adapter: str
    note: str


PEERS = (
    Peer("lineage (this project)", (), "ours", "references, kinds and spans are made as well, but not counted"),
    Peer(
        "sqlglot lineage",
        ("sqlglot[rs]==30.30.0",),
        "sqlglot_lineage",
        "the tree qualified once, its scope reused for each column; no kinds, no references, no spans in the file",
    ),
    Peer(
        "DataHub",
        ("acryl-datahub[sql-parser]==1.7.0.17",),
        "datahub",
        "values only; joins are listed apart, other references are not reported",
    ),
    Peer("sqllineage", ("sqllineage==1.5.9",), "sqllineage", "values only; writes only, so a SELECT is made a CTAS"),
    Peer("OpenLineage SQL", ("openlineage-sql==1.54.0",), "openlineage", "takes no schema, so it expands no star"),
    Peer(
        "LineageX",
        ("lineagex==0.0.27", "ipython==8.38.0"),
        "lineagex",
        "without a database connection; needs IPython, which its package does not declare; what it calls referenced "
        "is not counted",
    ),
)


@dataclass(frozen=True, slots=True)
class Subject:
    """Statements with their truth."""

    name: str
    dialect: str
    schema: dict[str, dict[str, str]]
    statements: list[dict[str, str]]
    truth: Truth


def run() -> dict[str, Any]:
    """Return what each tool answered, and write the table beside the record."""
    subjects = (_mimic_iv(), _tpch())
    figures: dict[str, Any] = {}
    for peer in PEERS:
        print(f"   {peer.name} …", flush=True)
        figures[peer.name] = _measured(peer, subjects)
    text = as_markdown(figures, {peer.name: (peer.packages, peer.note) for peer in PEERS}, SECONDS)
    (HERE.parent / "results" / "peers.md").write_text(text, encoding="utf-8")
    print(text)
    return figures


def _measured(peer: Peer, subjects: tuple[Subject, ...]) -> dict[str, Any]:
    try:
        python = _environment(peer)
    except subprocess.CalledProcessError as error:
        last = (error.stderr or error.stdout or "").strip().splitlines()[-1:]
        return {"not_installed": " ".join(last)[:300]}
    return {subject.name: _asked(peer, python, subject) for subject in subjects}


def _environment(peer: Peer) -> Path:
    """Return the Python of a tool's own environment, made where it is not there yet.

    Raises:
        subprocess.CalledProcessError: the tool cannot be installed.
    """
    if not peer.packages:
        return Path(sys.executable)
    folder = CACHE / "-".join(
        package.replace("==", "-").replace("[", "-").replace("]", "") for package in peer.packages
    )
    python, done = folder / "bin" / "python", folder / "installed"
    if not done.exists():
        venv.create(folder, with_pip=True, clear=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        uv = shutil.which("uv") or shutil.which("uv", path=HERE.parents[2] / ".uv" / "bin")
        if uv:
            install = [uv, "pip", "install", "--quiet", "--python", str(python)]
        subprocess.run([*install, *peer.packages], check=True, capture_output=True, text=True)
        done.touch()
    return python


def _asked(peer: Peer, python: Path, subject: Subject) -> dict[str, Any]:
    task = {
        "schema": subject.schema,
        "dialect": subject.dialect,
        "statements": subject.statements,
        "seconds": SECONDS,
    }
    command = [str(python), str(HERE / "worker.py"), str(HERE / "adapters" / f"{peer.adapter}.py")]
    with tempfile.TemporaryDirectory() as folder:  # some tools leave files where they run
        environment = {**os.environ, "PYTHONPATH": str(HERE.parents[2]) if not peer.packages else ""}
        ended = subprocess.run(
            command,
            input=json.dumps(task),
            capture_output=True,
            text=True,
            cwd=folder,
            env=environment,
            timeout=TOTAL_SECONDS,
            check=False,
        )
    lines = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
    answers = {line["name"]: line for line in lines if "name" in line}
    peak = next((line["peak_mb"] for line in lines if "peak_mb" in line), None)
    exact, wrong, errors = [], {}, {}
    for name, truth in subject.truth.items():
        answer = answers.get(name)
        if answer is None:
            errors[name] = (ended.stderr.strip().splitlines() or ["no answer"])[-1][:200]
        elif "error" in answer:
            errors[name] = answer["error"]
        elif problem := _first_difference(answer["columns"], truth):
            wrong[name] = problem
        else:
            exact.append(name)
    seconds = sum(answer["seconds"] for answer in answers.values())
    return {
        "statements": len(subject.truth),
        "exact": len(exact),
        "errors": len(errors),
        "statements_per_second": round(len(answers) / seconds, 1) if seconds else None,
        "peak_mb": peak,
        "first_wrong": dict(list(wrong.items())[:5]),
        "first_errors": dict(list(errors.items())[:5]),
    }


def _first_difference(answered: dict[str, list[str]], truth: dict[str, dict[str, list[str]]]) -> str | None:
    """Return the first thing that is wrong with an answer; names compare without case, tables by their last part.

    A source `t.*`, which some report for COUNT(*), is passed over: only rows are counted there.
    """
    found = {
        name.strip('"`').lower(): {short_name(re.sub(r'["`]', "", s).lower()) for s in sources if not s.endswith(".*")}
        for name, sources in answered.items()
    }
    for name, sources in truth.items():
        must, may = ({short_name(source) for source in sources[key]} for key in ("must", "may"))
        own = found.get(name.lower())
        if own is None and must:
            return f"no column {name}"
        if missing := must - (own or set()):
            return f"{name}: {min(missing)} is missing"
        if extra := (own or set()) - must - may:
            return f"{name}: {min(extra)} is too much"
    return None


def _mimic_iv() -> Subject:
    tables = read_ddl((DEMO / "create.sql").read_text(encoding="utf-8"), dialect_named("postgres"))
    schema = {table.name: dict.fromkeys((column.name for column in table.columns), "text") for table in tables}
    truth = read_truth("mimic_iv")
    for name, columns in truth.items():
        schema[f"mimiciv_derived.{Path(name).stem}"] = dict.fromkeys(columns, "text")
    statements = []
    for name in truth:
        text = (DEMO / "concepts" / name).read_text(encoding="utf-8")
        parts = (text[start:end] for start, end in split_statements(text, "postgres"))
        create = next(part for part in parts if part.startswith("CREATE TABLE"))
        query = create.partition(" AS\n")[2]
        statements.append({"name": name, "sql": create, "statement": create, "query": query})
    return Subject("mimic_iv", "postgres", schema, statements, truth)


def _tpch() -> Subject:
    schema = json.loads((DATA / "tpch" / "schema.json").read_text(encoding="utf-8"))
    truth = {}
    statements = []
    for key, columns in read_truth("tpch").items():
        number = key.removeprefix("tpch_q")
        text = (DATA / "tpch" / f"{number}.sql").read_text(encoding="utf-8").strip().rstrip(";")
        # The file leaves this sum unnamed where the standard query, whose truth this is, names it.
        if number == "18":
            text = text.replace("sum(l_quantity)\nfrom", "sum(l_quantity) as total_quantity\nfrom")
        name = f"q{number}"
        truth[name] = columns
        statements.append({"name": name, "sql": text, "query": text, "statement": f"CREATE TABLE result AS\n{text}"})
    return Subject("tpch", "spark", schema, statements, truth)
