"""No literal, comment or other text of a statement leaves the program but masked, whichever way it came in.

Marked secrets stand in every kind of literal, in comments, in broken texts, in columns of logs and in facets of events.
Then all that is written (the store's files, logs at debug level, metrics, traces, answers) is searched for them.
"""

from __future__ import annotations

import csv
import json
import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import httpx
import pytest

from lineage.store import open_store
from tests.cli.running import lineage
from tests.cli.test_serve_command import served
from tests.service.collecting import collecting
from tests.service.running import running

MARK, DIGITS = "SECRET", "91827364"

STATEMENTS = {
    "postgres": [
        "CREATE VIEW v1 AS SELECT a, 'SECRETstring' AS b FROM t WHERE n = 918273641 AND h = 0x918273642 -- SECRETline",
        "/* SECRETblock */ INSERT INTO t2 (a) SELECT a FROM t WHERE d = $$SECRETdollar$$ OR e = E'SECRET\\'escaped'",
        "INSERT INTO t3 (a, b) VALUES ('SECRETvalue', 918273643), (X'918273644', N'SECRETnational')",
        "INSERT INTO t4 (a) SELECT a FROM t WHERE u = U&'SECRETunicode' AND b = B'918273645' AND c = 918273646e3",
        "SELECT a FROM t WHERE x = 'SECRETbefore' oops (;",
        "UPDATE t SET a = 'SECRETset' WHERE WHERE b = 918273647",
        "GRANT SELECT ON t TO 'SECRETuser'",
        "CALL p('SECRETargument', 918273648)",
        "EXECUTE q('SECRETexecute')",
        "CREATE VIEW v2 AS SELECT 'it's SECRETapostrophe' AS x FROM t",
        "CREATE VIEW v3 AS SELECT a FROM t WHERE ssn = 'SECRETopen AND card = 918273649 AND name = 'SECRETname'",
        "COPY t5 (a, b) FROM stdin;\nSECRETcopy\t918273640\n\\.\n",
        "DO $$ BEGIN PERFORM f('SECRETbody'); END $$",
        "ALTER ROLE r PASSWORD 'SECRETpassword'",
    ],
    "mysql": [
        'CREATE VIEW m1 AS SELECT a FROM t WHERE b = "SECRETdouble" # SECREThash',
        "CREATE VIEW m2 AS SELECT a, 'SECRETcolumn' FROM t",
        "SELECT a FROM t WHERE b = _utf8'SECRETcharset' AND c = 'SECRET\\'backslash' ORDER BY oops oops oops",
        'INSERT INTO m3 (a) SELECT a FROM t WHERE ssn = "SECRETtruncated and card = 918273641',
    ],
    "oracle": ["CREATE VIEW o1 AS SELECT a FROM t WHERE b = q'[SECRETquoted]' AND c = Nq'!SECRETnq!'"],
    "bigquery": [
        'CREATE VIEW d.b1 AS SELECT a FROM d.t WHERE b = """SECRETtriple""" AND c = r"SECRETraw" AND x = b"SECRETbytes"'
    ],
    "tsql": ["CREATE VIEW dbo.s1 AS SELECT a FROM dbo.t WHERE b = N'SECRETn' AND c = 0x91827364AA GROUP GROUP BY 'x"],
}


def broken(text: str) -> Iterable[str]:
    """Yield a statement as logs cut it: in some of its literals."""
    for place in range(1, len(text)):
        if text.startswith(MARK, place) and place % 3 == 1:
            yield text[: place + len(MARK) + 2]


def all_statements(dialect: str) -> list[str]:
    listed = STATEMENTS[dialect]
    return [*listed, *(cut for text in listed for cut in broken(text))]


def leaks(text: str) -> list[str]:
    found = []
    for mark in (MARK, DIGITS):
        place = text.find(mark)
        while place >= 0:
            found.append(text[max(place - 60, 0) : place + 30])
            place = text.find(mark, place + 1)
    return found


def check(folder: Path, *texts: str, besides: Iterable[Path] = ()) -> None:
    """Search the texts, and all files of a folder but those that were put there."""
    given = {path.resolve() for path in besides}
    found = [leak for text in texts for leak in leaks(text)]
    for path in folder.rglob("*"):
        if path.is_file() and path.resolve() not in given:
            content = path.read_bytes()
            found += [
                f"{path.name}: {leak}"
                for code in ("latin-1", "utf-16-le")
                for leak in leaks(content.decode(code, "replace"))
            ]
    assert not found


def answers(store: Path) -> list[str]:
    """Return what the commands print of a store."""
    said = [lineage("runs", "--store", store, "--format", output) for output in ("table", "json", "csv")]
    with open_store(store, read_only=True) as opened:
        columns = [column.key for column in opened.columns(opened.dataset_keys())]
        dumped = repr(opened.dump())
    for key in columns[::8]:
        said += [lineage(command, key, "--store", store, "--format", "json") for command in ("impact", "root-cause")]
    said += [lineage("export", "openlineage", "--store", store), lineage("path", "t.a", "v1", "--store", store)]
    return [dumped, *(text for one in said for text in (one.out, one.err))]


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """What is logged, at debug level."""
    caplog.set_level(logging.DEBUG)
    return caplog


@pytest.mark.parametrize("dialect", STATEMENTS)
def test_sql_files_and_extract(dialect: str, tmp_path: Path, logged: pytest.LogCaptureFixture) -> None:
    folder, store = tmp_path / "in", tmp_path / "s.db"
    folder.mkdir()
    for number, text in enumerate(all_statements(dialect)):
        (folder / f"{number}.sql").write_text(text)
    given = list(folder.iterdir())
    said = [lineage("ingest", "sql", folder, "--dialect", dialect, "--store", store)]
    listed = all_statements(dialect)
    said += [lineage("extract", "-d", dialect, "-q", text, "--format", "json") for text in listed]
    said.append(lineage("tables", "-d", dialect, folder / "0.sql"))
    texts = [text for one in said for text in (one.out, one.err)]
    check(tmp_path, *texts, *answers(store), logged.text, besides=given)


LOG_COLUMNS = ("query_text", "started_at", "user", "status", "error_message", "dialect")


def log_rows() -> list[tuple[str, ...]]:
    return [
        (
            text,
            f"2026-01-01T00:00:{number % 60:02}Z",
            "ana",
            status,
            f"duplicate key (ssn)=({DIGITS}) {MARK}error",
            dialect,
        )
        for dialect in STATEMENTS
        for number, text in enumerate(all_statements(dialect))
        for status in ("success", "failed")
    ]


def write_log(path: Path, rows: Iterable[tuple[str, ...]], columns: tuple[str, ...] = LOG_COLUMNS) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)
    return path


def test_logs(tmp_path: Path, logged: pytest.LogCaptureFixture) -> None:
    log, store = write_log(tmp_path / "log.csv", log_rows()), tmp_path / "s.db"
    done = lineage("ingest", "log", log, "--source", "generic", "--engine", "local", "--store", store)
    check(tmp_path, done.out, done.err, *answers(store), logged.text, besides=[log])


def test_a_log_whose_columns_are_mapped_wrongly(tmp_path: Path, logged: pytest.LogCaptureFixture) -> None:
    store = tmp_path / "s.db"
    texts = [text.replace("\n", " ") for dialect in STATEMENTS for text in all_statements(dialect)]
    log = write_log(tmp_path / "log.csv", [("SELECT 1", text, *("",) * 4) for text in texts])
    with log.open("a") as file:
        file.writelines(f"one,two,three,{text.replace(',', ';')},{DIGITS}\n" for text in texts if '"' not in text)
    ingest = ("ingest", "log", "--engine", "local", "--store", store)
    said = [
        lineage(*ingest, log, "--source", "generic"),
        lineage(*ingest, log, "--source", "generic", "--observed-at", "2026-01-01"),
    ]
    headless = write_log(tmp_path / "headless.csv", [], columns=(texts[0], "2026-01-01", "ana", f"'{DIGITS}'"))
    named = write_log(tmp_path / "named.jsonl", [], columns=(json.dumps({texts[0].replace('"', ""): DIGITS}),))
    named.write_text(json.dumps({texts[0]: DIGITS, f"{MARK}": 1}) + "\n")
    said += [lineage(*ingest, one, "--source", source) for one in (headless, named) for source in ("generic", "trino")]
    texts = [text for one in said for text in (one.out, one.err)]
    assert "one is written xxxxxx" in said[0].err
    check(tmp_path, *texts, *answers(store), logged.text, besides=[log, headless, named])


POSTGRES_LINES = [
    (
        "LOG",
        "execute q1: INSERT INTO t9 (a) SELECT a FROM t WHERE b = $1 AND c = 'SECRETlog'",
        "parameters: $1 = 'SECRETparameter', $2 = '918273641'",
    ),
    (
        "ERROR",
        'duplicate key value violates unique constraint "u"',
        "Key (ssn)=(918273642) already exists. SECRETdetail",
    ),
    ("LOG", "statement: CREATE VIEW v9 AS SELECT a FROM t WHERE b = 'SECRETcut", ""),
    ("LOG", "duration: 1.0 ms  statement: INSERT INTO t8 (a) SELECT a FROM t WHERE b = 918273643", ""),
]


def test_a_postgres_log(tmp_path: Path, logged: pytest.LogCaptureFixture) -> None:
    log, store = tmp_path / "postgres.json", tmp_path / "s.db"
    with log.open("w") as file:
        for number, (severity, message, detail) in enumerate(POSTGRES_LINES):
            line = {
                "timestamp": f"2026-01-01 00:00:0{number}.000 UTC",
                "user": "ana",
                "dbname": "d",
                "pid": 1,
                "session_id": "s",
                "line_num": number,
                "error_severity": severity,
                "message": message,
                "detail": detail,
                "statement": "INSERT INTO u VALUES ('SECRETfailed')" if severity == "ERROR" else "",
            }
            file.write(json.dumps(line) + "\n")
    done = lineage("ingest", "log", log, "--source", "postgres_json", "--engine", "local", "--store", store)
    check(tmp_path, done.out, done.err, *answers(store), logged.text, besides=[log])


def event(sql: str, number: int, kind: str = "COMPLETE", **facets: Any) -> dict[str, Any]:
    url = "https://openlineage.io/spec/facets/1-0-0/X.json"
    base = {"_producer": "urn:p", "_schemaURL": url}
    made: dict[str, dict[str, Any]] = {
        "errorMessage": {"message": "SECRETmessage 918273641", "programmingLanguage": "x", "stackTrace": "SECRETtrace"}
    }
    made["extractionError"] = {"totalTasks": 1, "failedTasks": 1, "errors": [{"errorMessage": "SECRETextraction"}]}
    made["unknown"] = {"value": "SECRETunknown"}
    made |= facets
    dataset = {"schema": {**base, "fields": [{"name": "a", "type": "int", "description": "SECRETdescription"}]}}
    dataset["documentation"] = {**base, "description": "SECRETdocumentation"}
    return {
        "eventType": kind, "eventTime": f"2026-01-01T00:00:{number % 60:02}Z", "producer": "urn:p",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {
            "runId": f"0190a000-0000-7000-8000-{number:012}", "facets": {n: {**base, **f} for n, f in made.items()},
        },
        "job": {"namespace": "n", "name": f"j{number}", "facets": {
            "sql": {**base, "query": sql}, "documentation": {**base, "description": "SECRETjob"},
            "sourceCode": {**base, "language": "python", "sourceCode": "SECRETcode"},
        }},
        "inputs": [{"namespace": "n", "name": "t", "facets": dataset}],
        "outputs": [{"namespace": "n", "name": f"o{number}", "facets": {}}],
    }  # fmt: skip


def all_events() -> list[dict[str, Any]]:
    texts = [text for dialect in STATEMENTS for text in STATEMENTS[dialect]]
    made = [event(text, number, "START" if number % 3 else "COMPLETE") for number, text in enumerate(texts)]
    bad = event("SELECT 1", 99)
    bad["outputs"][0]["facets"]["schema"] = {"_producer": "urn:p", "_schemaURL": "urn:x", "fields": "SECRETfields"}
    return [*made, bad, {**event("SELECT 1", 98), "eventType": "SECRETtype", "run": "SECRETrun"}]


def test_events_in_a_file(tmp_path: Path, logged: pytest.LogCaptureFixture) -> None:
    file, store = tmp_path / "events.json", tmp_path / "s.db"
    file.write_text("\n".join(map(json.dumps, all_events())))
    done = lineage("ingest", "openlineage", file, "--store", store)
    check(tmp_path, done.out, done.err, *answers(store), logged.text, besides=[file])


def test_events_and_extraction_over_http(tmp_path: Path, logged: pytest.LogCaptureFixture) -> None:
    store = tmp_path / "s.db"
    asked = """query ($sql: String!, $dialect: String!) { extract(sql: $sql, dialect: $dialect) {
      operation target sources outputColumns diagnostics { code message hint }
      stated { source { table column } target { table column } span { text } place { text } } } }"""
    texts: list[str] = []
    with open_store(store) as opened, running(opened) as service:
        texts += [service.http.post("/api/v1/lineage", json=one).text for one in all_events()]
        texts.append(service.http.post("/api/v1/lineage/batch", json=all_events()).text)
        for dialect in STATEMENTS:
            texts += [
                json.dumps(service.data(asked, sql=text, dialect=dialect)) for text in all_statements(dialect)[::2]
            ]
        texts.append(service.http.get("/metrics").text)
        diagnostics = "{ diagnostics(first: 100) { edges { node { message hint source } } } }"
        texts.append(json.dumps(service.data(diagnostics)))
        texts.append(json.dumps(service.data("{ jobs(first: 100) { edges { node { key sql } } } }")))
    check(tmp_path, *texts, *answers(store), logged.text)


def test_traces_logs_and_metrics_of_a_service(tmp_path: Path) -> None:
    """What the service tells those who watch it; an answer may repeat what was asked."""
    store = tmp_path / "s.db"
    open_store(store).close()
    inline = """{ extract(sql: "SELECT a FROM t WHERE b = 'SECRETinline'", dialect: "postgres") { operation } }"""
    asked = 'query ($sql: String!) { extract(sql: $sql, dialect: "postgres") { operation } }'
    missing = ["SECRETcolumn", f"t.{MARK}{DIGITS}", f"'{DIGITS}'"]
    with (
        collecting() as (address, sent),
        served("--store", str(store), "--log-format", "json", environment={"OTEL_EXPORTER_OTLP_ENDPOINT": address}) as (
            url,
            process,
        ),
        httpx.Client(base_url=url, timeout=30) as http,
    ):
        for one in all_events():
            http.post("/api/v1/lineage", json=one)
        http.post("/api/v1/lineage/batch", json=all_events())
        http.post("/api/v1/lineage", content=b'{"eventType": "SECRETbroken')
        for text in all_statements("postgres"):
            http.post("/graphql", json={"query": asked, "variables": {"sql": text}})
        for query in (inline, inline[:-3], f"{{ {MARK}{DIGITS} }}", f'query {MARK}{DIGITS} {{ job(key: "{MARK}") }}'):
            http.post("/graphql", json={"query": query})
            http.get("/graphql", params={"query": query})
        for name in missing:
            for field in ("impact", "rootCause"):
                http.post("/graphql", json={"query": f"{{ {field}(column: {json.dumps(name)}) {{ totalCount }} }}"})
            http.post("/graphql", json={"query": f"{{ search(text: {json.dumps(name)}) {{ totalCount }} }}"})
        http.get(f"/api/v1/store/{MARK}", headers={"authorization": f"Bearer {MARK}{DIGITS}"})
        metrics = http.get("/metrics").text
        process.terminate()
        stderr = process.communicate(timeout=30)[1].decode()
    traces = b"".join(sent)
    assert b"POST /graphql" in traces
    assert b"POST /api/v1/lineage" in traces
    assert "lineage_" in metrics
    check(tmp_path, stderr, metrics, traces.decode("latin-1"))
