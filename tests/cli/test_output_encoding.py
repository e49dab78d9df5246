"""Output on terminals and pipes that are not UTF-8, or that are closed early."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SQL = 'create view v as select a as "naïve", b as 漢 from t'


def _run(*arguments: str, encoding: str = "utf-8") -> subprocess.CompletedProcess[bytes]:
    command = [str(Path(sys.executable).with_name("lineage")), *arguments]
    return subprocess.run(
        command, capture_output=True, env={**os.environ, "PYTHONIOENCODING": encoding, "COLUMNS": "200"}, check=False
    )


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "ascii"])
def test_what_an_encoding_lacks_is_written_otherwise(encoding: str) -> None:
    done = _run("extract", "-d", "postgres", "-q", SQL, encoding=encoding)
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode(encoding)
    assert "\\u6f22" in text
    assert ("naïve" if encoding != "ascii" else "na\\xefve") in text
    assert "-----" in text


def test_a_tree_where_lines_cannot_be_drawn(tmp_path: Path) -> None:
    (tmp_path / "v.sql").write_text("create view v as select a from t; create view w as select a from v;")
    store = str(tmp_path / "graph.db")
    assert _run("ingest", "sql", str(tmp_path), "-d", "postgres", "-s", store).returncode == 0
    done = _run("impact", "t.a", "--tree", "-s", store, encoding="cp1252")
    assert done.stdout.decode("cp1252").splitlines()[1:] == ["t.a", "+- v.a  IDENTITY", "   +- w.a  IDENTITY"]


def test_a_reader_that_closes_the_pipe_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "many.sql").write_text("".join(f"create view v{n} as select a, b, c from t{n};\n" for n in range(700)))
    script = (
        f"{Path(sys.executable).with_name('lineage')} extract -d postgres many.sql | head -1; echo ${{PIPESTATUS[0]}}"
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, cwd=tmp_path, text=True, check=False)
    assert done.stdout.splitlines()[1:] == ["0"], done.stderr
    assert "Error" not in done.stderr
