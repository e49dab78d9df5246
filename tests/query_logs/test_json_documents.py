"""JSON in whichever shape, whole and broken: a broken record costs itself."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

from lineage_ingest.query_log import SOURCES, read_log
from tests.query_logs.samples import normalised_rows

GENERIC = SOURCES["generic"]
ROWS = [{"query_text": f"select {number}", "user": "ann", "tags": [{"query": "{["}]} for number in range(5)]
PRETTY, LINE = json.dumps(ROWS, indent=1), json.dumps(ROWS)
TEXTS = [f"select {number}" for number in range(5)]
BROKEN = ["select 0", "select 1", "unreadable record", "select 3", "select 4"]
CUT = "file report"


def read(path: Path, text: str | bytes) -> list[object]:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return [row.get("problem", row.get("query_text")) for row in normalised_rows(GENERIC, read_log(GENERIC, [path]))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(PRETTY, TEXTS, id="an array, pretty-printed"),
        pytest.param(LINE, TEXTS, id="an array in one line"),
        pytest.param("\n" + PRETTY + "\n" + LINE, TEXTS * 2, id="arrays behind each other"),
        pytest.param("\n".join(json.dumps(row, indent=2) for row in ROWS), TEXTS, id="pretty-printed documents"),
        pytest.param("".join(map(json.dumps, ROWS)), TEXTS, id="documents in one line"),
        pytest.param(",\n".join(map(json.dumps, ROWS)), TEXTS, id="lines that end with a comma"),
        pytest.param("[" + ",\n".join(map(json.dumps, ROWS)) + "\n]", TEXTS, id="an element a line"),
        pytest.param("".join(f"\x1e{json.dumps(row)}\n" for row in ROWS), TEXTS, id="a JSON text sequence"),
        pytest.param(json.dumps({"rows": ROWS, "next": "x"}), TEXTS, id="an answer with rows in it"),
        pytest.param(json.dumps({"n": 5, "data": ROWS, "rows": 5}, indent=3), TEXTS, id="the same, pretty-printed"),
        pytest.param(json.dumps([ROWS]), TEXTS, id="an array in an array"),
        pytest.param(PRETTY.replace("select 2", 'select "2'), BROKEN, id="a quote that is not escaped"),
        pytest.param(PRETTY.replace('"select 2"', '"select 2'), BROKEN, id="a text without an end"),
        pytest.param(LINE.replace('"select 2"', '"select 2'), BROKEN, id="the same in one line"),
        pytest.param(LINE.replace('"select 2"', "select 2"), BROKEN, id="a text without quotes"),
        pytest.param(PRETTY + "\nDone.", [*TEXTS, "unreadable record"], id="something behind it"),
        pytest.param(PRETTY[:-30], [*TEXTS[:4], CUT], id="cut in a record"),
        pytest.param(PRETTY[:-1], [*TEXTS, CUT], id="without its end"),
        pytest.param(
            '[{"query_text": "\\ud800"}, {"query_text": "select 1"}]', ["not UTF-8 text", "select 1"], id="no text"
        ),
        pytest.param(
            b'[{"query_text": "\xff"}, {"query_text": "select 1"}]', ["not UTF-8 text", "select 1"], id="no UTF-8"
        ),
        pytest.param('[{"QUERY_text": "a\nb"}]', ["a\nb"], id="an end of line that is not escaped"),
    ],
)
def test_a_shape(text: str | bytes, expected: list[object], tmp_path: Path) -> None:
    assert read(tmp_path / "log", text) == expected


def test_records_larger_than_what_is_read_at_once(tmp_path: Path) -> None:
    texts = [f"select '{'x' * size}'" for size in (10, 3_000_000, 10, 1_000_000)]
    written = json.dumps([{"query_text": text} for text in texts], indent=1)
    assert read(tmp_path / "log", written) == texts


def test_an_array_takes_the_memory_of_a_part_of_it(tmp_path: Path) -> None:
    path = tmp_path / "log"
    row = json.dumps({"query_text": f"select {'a, ' * 300} b", "user": "ann"}, indent=1)
    with path.open("w") as file:
        file.write("[" + ",\n".join([row] * 60_000) + "]")
    tracemalloc.start()
    assert sum(batch.num_rows for batch in read_log(GENERIC, [path])) == 60_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert path.stat().st_size > 55_000_000
    assert peak < 30_000_000
