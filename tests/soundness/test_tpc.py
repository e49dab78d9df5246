"""TPC-H and TPC-DS on DuckDB: no changed input column goes unnoticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soundness.tpc import query_files, try_query

FILES = query_files()
CHUNKS = [FILES[start :: len(FILES) // 8] for start in range(len(FILES) // 8)]


@pytest.mark.parametrize("files", CHUNKS, ids=lambda files: f"from {files[0].parent.name} {files[0].stem}")
def test_no_influence_is_missed(files: list[Path]) -> None:
    tried = [one for path in files for one in try_query(path, contents=1, ways=1)]
    assert {one.name: one.finding for one in tried if one.finding is not None} == {}
    assert {one.name: one.rejected for one in tried if one.rejected is not None} == {}
