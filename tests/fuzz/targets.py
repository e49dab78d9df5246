"""The readers that are fuzzed, by name."""

from __future__ import annotations

import functools
import itertools
import json
import random
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from lineage import StatementLineage, extract
from lineage.model.dialects import DIALECTS
from lineage.sql.scan.implementation import PYTHON, native_engine
from lineage.store import open_store
from lineage_ingest import (
    BiOptions,
    LogOptions,
    OptionError,
    ingest_bi,
    ingest_dbt,
    ingest_log,
    ingest_openlineage,
)
from lineage_ingest.dbt.artifacts.target_folder import NoManifestError
from lineage_ingest.query_log import SOURCES
from lineage_ingest.query_log.pipeline.engines.opening import EngineKind
from lineage_ingest.query_log.pipeline.log_problems import UndatedLogError
from lineage_ingest.query_log.sources.source import ColumnsMissingError
from tests.dbt.manifests import manifest
from tests.dbt.test_again import MART, RAW, STAGED
from tests.fuzz.mutations import MARKER, containers, mutated_bytes, mutated_json, mutated_text
from tests.fuzz.trial import Attempt, Input, Target, always, problems
from tests.query_logs.samples import sample
from tests.service.graph import fill
from tests.service.running import running
from tests.sql.case_files import read_cases
from tests.sql.scan.test_twins import results

__all__ = ["TARGETS"]

DATA = Path(__file__).parents[1] / "data"
DOCS = Path(__file__).parents[2] / "docs"
_SQL_MEMBERS = frozenset({"compiled_code", "query"})


@functools.cache
def _statements() -> tuple[tuple[str, str], ...]:
    cases = [(case.dialect, case.sql) for case in read_cases() if case.dialect in DIALECTS]
    files = [("postgres", path.read_text(encoding="utf-8")[:5000]) for path in sorted(DATA.rglob("*.sql"))]
    return (*cases, *files)


def _draw_sql(draw: random.Random) -> Input:
    dialect, text = draw.choice(_statements())
    others = [draw.choice(_statements())[1] for _ in range(3)]
    text = mutated_text(text, others, draw)
    place = draw.choice([found.start() for found in re.finditer(r"\s|$", text)])
    text = f"{text[:place]} '{MARKER}' {text[place:]}"
    if draw.random() < 0.2:
        dialect = draw.choice(sorted(DIALECTS))
    return Input(
        dialect, "statement.sql", text.encode("utf-8", "replace"), MARKER not in PYTHON.mask_literals(text, dialect)
    )


def _names_the_marker(statement: StatementLineage) -> bool:
    """Return whether the string stands where a name belongs, as in `FROM 'file.csv'`: a name is no literal."""
    return MARKER.lower() in repr((statement.sources, statement.target, statement.edges)).lower()


def _extract(tried: Input) -> str | None:
    text = tried.data.decode("utf-8", "replace")
    found = extract(text, tried.kind)
    planted = MARKER not in PYTHON.mask_literals(text, tried.kind) and not any(map(_names_the_marker, found))
    return problems((one for statement in found for one in statement.diagnostics), planted)


def _scan(tried: Input) -> str | None:
    native = native_engine()
    if native is None:
        raise SystemExit("there is no native scanner to compare with: make native")
    text = tried.data.decode("utf-8", "replace")
    for number, (one, other) in enumerate(
        zip(results(PYTHON, text, tried.kind), results(native, text, tried.kind), strict=True)
    ):
        if one != other:
            return f"the scanners differ: result {number}"
    return None


def _draw_log(draw: random.Random) -> Input:
    name = draw.choice(sorted(SOURCES))
    _source, path = sample(name)
    data = path.read_bytes()
    if path.suffix in (".json", ".jsonl") and draw.random() < 0.6:
        rows = [json.loads(line) for line in data.splitlines()] if path.suffix == ".jsonl" else json.loads(data)
        rows = mutated_json(rows, draw)
        lines = rows if path.suffix == ".jsonl" and isinstance(rows, list) else [rows]
        return Input(name, path.name, "\n".join(map(json.dumps, lines)).encode())
    if path.suffix not in (".parquet", ".gz") and draw.random() < 0.6:
        text = data.decode("utf-8")
        return Input(
            name, path.name, mutated_text(text, [text, *_few_statements(draw)], draw).encode("utf-8", "replace")
        )
    return Input(name, path.name, mutated_bytes(data, draw))


def _few_statements(draw: random.Random) -> list[str]:
    return [draw.choice(_statements())[1] for _ in range(2)]


def _draw_dbt(draw: random.Random) -> Input:
    return _planted_json("dbt", "manifest.json", _manifest(), draw)


@functools.cache
def _manifest() -> Any:
    return manifest(RAW, STAGED, MART)


@functools.cache
def _events() -> tuple[Any, ...]:
    lines = [one for path in sorted((DATA / "openlineage").rglob("*.ndjson")) for one in path.read_bytes().splitlines()]
    return tuple(json.loads(line) for line in lines if len(line) < 40_000)


def _draw_event(draw: random.Random) -> Input:
    return _planted_json("event", "events.json", [draw.choice(_events()) for _ in range(2)], draw)


def _planted_json(kind: str, name: str, value: Any, draw: random.Random) -> Input:
    """Return a value mutated, with the marker in a literal of the SQL that it has, or its text mutated."""
    if draw.random() < 0.15:
        return Input(kind, name, mutated_bytes(json.dumps(value).encode(), draw))
    value = mutated_json(value, draw)
    planted = False
    for one in containers(value):
        for key in _SQL_MEMBERS & set(one) if isinstance(one, dict) else ():
            one[key], planted = f"insert into x select '{MARKER}' a, b from t where c = '{MARKER}' {_tail(draw)}", True
    return Input(kind, name, json.dumps(value).encode(), planted)


def _tail(draw: random.Random) -> str:
    return draw.choice(
        ("", "group by", ")", "and nowhere.x(", "limit 1 2 3", "order by 9", "qualify", ":x", "union select 1")
    )


_TOOLS = {
    "lookml": "**/*l*ml",
    "metabase": "**/*.json",
    "superset": "**/*.yaml",
    "tableau": "**/*.t*",
    "powerbi": "**/*.pbix",
}


@functools.cache
def _exports() -> dict[str, tuple[Path, ...]]:
    return {tool: tuple(sorted((DATA / "bi" / tool).glob(pattern))) for tool, pattern in _TOOLS.items()}


def _draw_dashboard(draw: random.Random) -> Input:
    tool = draw.choice(sorted(_TOOLS))
    path = draw.choice(_exports()[tool])
    data = path.read_bytes()
    if path.suffix == ".json" and draw.random() < 0.8:
        return Input(tool, path.name, json.dumps(mutated_json(json.loads(data), draw)).encode())
    if path.suffix not in (".pbix", ".twbx") and draw.random() < 0.7:
        text = data.decode("utf-8")
        return Input(tool, path.name, mutated_text(text, [text], draw).encode("utf-8", "replace"))
    return Input(tool, path.name, mutated_bytes(data, draw))


@functools.cache
def _documents() -> tuple[str, ...]:
    texts = [path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.md"))]
    return tuple(one for text in texts for one in re.findall(r"```graphql\n(.*?)```", text, re.DOTALL))


def _draw_document(draw: random.Random) -> Input:
    text = mutated_text(draw.choice(_documents()), _documents(), draw)
    return Input("graphql", "document.graphql", text.encode("utf-8", "replace"))


@contextmanager
def _served(folder: Path) -> Iterator[Attempt]:
    with open_store(folder / "served.db") as store:
        fill(store)
        with running(store) as service:

            def ask(tried: Input) -> str | None:
                answer = service.http.post("/graphql", json={"query": tried.data.decode("utf-8", "replace")})
                if answer.status_code >= 500 and answer.status_code != 503:
                    return f"HTTP {answer.status_code}"
                errors = answer.json().get("errors") or ()
                internal = [one for one in errors if (one.get("extensions") or {}).get("code") == "INTERNAL"]
                return "INTERNAL error" if internal else None

            yield ask


def _ingesting(ingest: Callable[[Input, Path, Path], Any]) -> Callable[[Path], AbstractContextManager[Attempt]]:
    """Return what ingests each input into a new store, from a file in a folder of its own."""

    @contextmanager
    def opened(folder: Path) -> Iterator[Attempt]:
        numbers = itertools.count()

        def attempt(tried: Input) -> str | None:
            place = folder / str(next(numbers))
            place.mkdir()
            (place / tried.name).write_bytes(tried.data)
            try:
                summary = ingest(tried, place / tried.name, place / "store.db")
            finally:
                for path in place.iterdir():
                    path.unlink()
                place.rmdir()
            found = (getattr(one, "diagnostic", one) for one in getattr(summary, "diagnostics", ()))
            return problems(found, tried.planted)

        yield attempt

    return opened


def _ingest_log(tried: Input, path: Path, store: Path) -> Any:
    options = DATA / "query_logs" / f"{tried.kind}.options.json"
    source = json.loads(options.read_text()) if options.exists() else {}
    return ingest_log(path, source=tried.kind, store=store, options=LogOptions(engine=EngineKind.LOCAL, **source))


def _ingest_dbt(_tried: Input, path: Path, store: Path) -> Any:
    return ingest_dbt(path.parent, store=store)


def _ingest_events(_tried: Input, path: Path, store: Path) -> Any:
    return ingest_openlineage(path, store=store)


def _ingest_dashboard(tried: Input, path: Path, store: Path) -> Any:
    return ingest_bi(tried.kind, path, store=store, options=BiOptions(server="bi.test"))


TARGETS = {
    "sql": Target(_draw_sql, always(_extract)),
    "scanner": Target(_draw_sql, always(_scan)),
    "log": Target(_draw_log, _ingesting(_ingest_log), (OptionError, ColumnsMissingError, UndatedLogError)),
    "dbt": Target(_draw_dbt, _ingesting(_ingest_dbt), (OptionError, NoManifestError)),
    "event": Target(_draw_event, _ingesting(_ingest_events), (OptionError,)),
    "dashboard": Target(_draw_dashboard, _ingesting(_ingest_dashboard), (OptionError,)),
    "graphql": Target(_draw_document, _served),
}
