"""A few of the faults, with a small estate; `make faults` tries all of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.estate import Estate
from tests.faults.matrix import FAULTS, Scene
from tests.faults.places import EMBEDDED, NEO4J, Place

_TRIED = {
    EMBEDDED: "clock: was a day ahead",
    NEO4J: "kill -9: the ingest of OpenLineage events",
}


def _faults() -> Iterator[object]:
    for kind, name in _TRIED.items():
        [number] = [place for place, one in enumerate(FAULTS) if f"{one.group}: {one.name}".startswith(name)]
        yield pytest.param(kind.lower(), number, id=f"{kind}: {name}")


@pytest.mark.parametrize(("kind", "number"), [*_faults()])
def test_a_fault_leaves_the_graph_of_an_undisturbed_run(
    kind: str, number: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    server = request.getfixturevalue("neo4j_uri") if kind == "neo4j" else None
    scene = Scene(Place(tmp_path, server), Estate(tmp_path / "estate", models=10))
    FAULTS[number].happen(scene)
