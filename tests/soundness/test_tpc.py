"""TPC-H and TPC-DS on DuckDB: no changed input column goes unnoticed, and what no change showed was read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lineage import extract
from tests.soundness.tpc import UNTRIGGERED, catalog_of, query_files, schema_of, try_query

FILES = query_files()
SOME = FILES[::2]
"""`python -m tests.soundness.tpc` runs all."""
CHUNKS = [SOME[start :: len(SOME) // 8] for start in range(len(SOME) // 8)]
COMMENT_OR_STRING = re.compile(r"--[^\n]*|'[^']*'")


@pytest.mark.parametrize("files", CHUNKS, ids=lambda files: f"from {files[0].parent.name} {files[0].stem}")
def test_no_influence_is_missed(files: list[Path]) -> None:
    tried = [one for path in files for one in try_query(path, contents=1, ways=1)]
    assert {one.name: one.finding for one in tried if one.finding is not None} == {}
    assert {one.name: one.rejected for one in tried if one.rejected is not None} == {}


def test_the_columns_that_a_text_names_are_the_sources_of_its_edges() -> None:
    for path in FILES:
        text, known = path.read_text(encoding="utf-8"), schema_of(path.parent.name)
        words = set(re.findall(r"\w+", COMMENT_OR_STRING.sub(" ", text).lower()))
        named = words & {column for columns in known.values() for column in columns}
        statements = extract(text, "spark", catalog_of(path.parent.name))
        assert {edge.source.column for one in statements for edge in one.edges} == named, path


def test_each_query_with_edges_that_nothing_triggered_was_read() -> None:
    listed = re.findall(r"^(tpc\S+): (\d+ of \d+)$", UNTRIGGERED.read_text(encoding="utf-8"), re.MULTILINE)
    read = UNTRIGGERED.with_name("UNTRIGGERED.md").read_text(encoding="utf-8")
    assert listed == re.findall(r"^- \*\*(tpc\S+)\*\*, (\d+ of \d+):", read, re.MULTILINE)
