"""What the tests of this folder share: a Spark, and a log that was followed undisturbed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lineage_ingest.query_log.pipeline.engines.opening import spark_session
from lineage_ingest.query_log.streaming.stream_input import StreamInput
from tests.query_logs.streaming.following import OPTIONS, SOURCE, followed
from tests.query_logs.streaming.running import graph, land


@pytest.fixture(scope="package")
def spark() -> Iterator[None]:
    """One Spark for all of these; `follow_stream` takes the session that runs."""
    with spark_session(OPTIONS):
        yield


@pytest.fixture(scope="package")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all pieces, each a file."""
    return land(tmp_path_factory.mktemp("log") / "files")


@pytest.fixture(scope="package")
def whole(spark: None, files: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What a graph holds when all pieces were followed, file by file, and nothing happened."""
    path = tmp_path_factory.mktemp("whole") / "graph.db"
    followed(StreamInput(SOURCE, (str(files),), at_once=1), path)
    return graph(path)
