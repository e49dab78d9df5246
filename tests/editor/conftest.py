"""A project with its store, and one editor for all tests that do not change the server."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lineage_ingest import SqlOptions, ingest_sql
from tests.editor.stdio_client import Editor

_DATA = Path(__file__).parent / "data" / "project"


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of models that the store beside them has read."""
    folder = tmp_path_factory.mktemp("editor") / "project"
    shutil.copytree(_DATA, folder)
    options = SqlOptions(dialect="postgres", catalog=[str(folder / "schema.sql")], project="shop")
    ingest_sql([folder / "models"], store=folder / "lineage.db", options=options)
    return folder


@pytest.fixture(scope="session")
def editor(project: Path) -> Iterator[Editor]:
    arguments = ("--store", str(project / "lineage.db"), "--explorer", "http://127.0.0.1:8000")
    with Editor(project, *arguments) as found:
        yield found
