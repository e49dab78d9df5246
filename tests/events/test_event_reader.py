"""Files of events: lines, arrays, packed, broken, and long."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from lineage_ingest.openlineage import event_reader
from lineage_ingest.openlineage.event_reader import BadText, NoEventFilesError, ReadEvent, find_event_files, read_events

VALUES: list[Any] = [{"a": 1, "deep": {"b": ["]", "}\n{"]}}, {"ü": "\N{SNOWMAN}"}, {"c": [1, 2]}]
LINES = "\n".join(json.dumps(one) for one in VALUES)
SHAPES = {
    "lines": LINES,
    "lines with a mark, and empty ones": "\ufeff\n" + LINES.replace("\n", "\r\n\r\n") + "\n\n",
    "an array": json.dumps(VALUES),
    "an array over lines": json.dumps(VALUES, indent=2),
    "an array in lines": "[\n" + ",\n".join(json.dumps(one) for one in VALUES) + "\n]\n",
    "blocks of lines": "\n".join(json.dumps(one, indent=1) for one in VALUES),
}


def values(name: Path) -> list[Any]:
    read = list(read_events(str(name)))
    assert not [one for one in read if isinstance(one, BadText)]
    return [one.value for one in read if isinstance(one, ReadEvent)]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape: str, chunk: int, packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_reader, "_CHUNK", chunk)
    raw = SHAPES[shape].encode()
    file = tmp_path / "events"
    file.write_bytes(gzip.compress(raw) if packed else raw)
    assert values(file) == VALUES


@pytest.mark.parametrize(("shape", "lines"), [("an array over lines", [2, 11, 14]), ("an array in lines", [2, 3, 4])])
def test_each_event_of_an_array_has_its_line(shape: str, lines: list[int], tmp_path: Path) -> None:
    file = tmp_path / "e.json"
    file.write_text(SHAPES[shape])
    assert [one.position for one in read_events(str(file))] == [f"{file}:{line}" for line in lines]


def test_a_bad_line_costs_itself(tmp_path: Path) -> None:
    file = tmp_path / "e.ndjson"
    file.write_text('{"a": 1}\n{"a": \n\nnonsense\n{"b": 2}\n')
    read = list(read_events(str(file)))
    assert [one.position.rpartition(":")[2] for one in read] == ["1", "2", "4", "5"]
    assert [type(one).__name__ for one in read] == ["ReadEvent", "BadText", "BadText", "ReadEvent"]
    assert isinstance(read[2], BadText)
    assert "not JSON: Expecting value" in read[2].reason


def test_an_array_that_breaks_off(tmp_path: Path) -> None:
    file = tmp_path / "e.json"
    for text, line in (('[{"a": 1},\n{"b": ', 2), ('[{"a": 1},\n oops]', 2), ('[{"a": 1}\n', 2)):
        file.write_text(text)
        first, last = read_events(str(file))
        assert isinstance(first, ReadEvent)
        assert isinstance(last, BadText)
        assert last.position == f"{file}:{line}"
        assert "what follows is not read" in last.reason


def test_nesting_without_end_costs_its_line(tmp_path: Path) -> None:
    file = tmp_path / "e.ndjson"
    file.write_text('{"a": 1}\n' + '{"a":' * 200_000 + "1" + "}" * 200_000 + '\n{"b": 2}\n')
    read = list(read_events(str(file)))
    assert [isinstance(one, BadText) for one in read] == [False, True, False]


def test_bytes_that_are_no_text_and_a_packed_file_cut_short(tmp_path: Path) -> None:
    file = tmp_path / "e.ndjson"
    file.write_bytes(b'{"a": "\xff"}\n')
    [bad] = read_events(str(file))
    assert isinstance(bad, BadText)
    assert "cannot be read further" in bad.reason
    file.write_bytes(gzip.compress(LINES.encode() * 1000)[:-20])
    assert isinstance(list(read_events(str(file)))[-1], BadText)
    [missing] = read_events(str(tmp_path / "none"))
    assert isinstance(missing, BadText)
    assert "No such file" in missing.reason


def test_the_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    for raw in (LINES.encode(), gzip.compress(LINES.encode())):
        buffered = io.BufferedReader(io.BytesIO(raw))
        stdin = io.TextIOWrapper(buffered)
        monkeypatch.setattr(sys, "stdin", stdin)
        read = list(read_events("-"))
        assert [one.value for one in read if isinstance(one, ReadEvent)] == VALUES
        assert [one.position for one in read] == ["stdin:1", "stdin:2", "stdin:3"]
        assert not stdin.closed


def test_which_files(tmp_path: Path) -> None:
    for name in ("b.json", "a.ndjson", "sub/c.jsonl.gz", "notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    folder = [str(tmp_path / name) for name in ("a.ndjson", "b.json", "sub/c.jsonl.gz")]
    assert find_event_files([str(tmp_path), "-", str(tmp_path / "a.ndjson")]) == [*folder, "-"]
    assert find_event_files([str(tmp_path / "*.txt")]) == [str(tmp_path / "notes.txt")]
    assert find_event_files([str(tmp_path / "**" / "*.gz")]) == [folder[2]]
    with pytest.raises(NoEventFilesError, match="no such file"):
        find_event_files([str(tmp_path / "*.csv")])
    (tmp_path / "empty").mkdir()
    with pytest.raises(NoEventFilesError, match="no event files"):
        find_event_files([str(tmp_path / "empty")])
