"""`lineage doctor`: what is wrong, worst first, and nothing where all is well."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from lineage.doctor import installation, store_state
from lineage.model.batch import UNFINISHED, RunRecord
from lineage.store import open_store
from tests.cli.running import lineage
from tests.store.batch_builders import batch, table

NOW = datetime.now(UTC)
HEALTHY = RunRecord("log:1", "log", "trino log", NOW, {"rows": 10, "statements": 10, "resolved": 10})


def _found(store: Path) -> dict[str, str]:
    """Return what is not well, by message."""
    done = lineage("doctor", "-s", store, "--json")
    found = {one["message"]: one["level"] for one in done.json if one["level"] != "ok"}
    assert done.code == ("problem" in found.values())
    assert list(found.values()) == sorted(found.values(), key=["problem", "warning"].index)
    return found


def _stored(path: Path, *runs: RunRecord, names: tuple[tuple[str, str], ...] = ()) -> Path:
    with open_store(path) as store:
        for run in runs:
            store.apply(replace(batch(table("shop.orders", "id", at=1)), run=run))
        for namespace, name in names:
            store.apply(batch(replace(table(name, "id", at=1), namespace=namespace)))
    return path


def test_a_disk_that_is_nearly_full_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _stored(tmp_path / "graph.db", HEALTHY)
    left = SimpleNamespace(free=3_000_000)
    monkeypatch.setattr(store_state, "shutil", SimpleNamespace(disk_usage=lambda _: left))
    [(message, level)] = _found(path).items()
    assert message.startswith("3 MB are free beside a store of ")
    assert level == "warning"


def test_all_is_well(tmp_path: Path) -> None:
    assert _found(_stored(tmp_path / "graph.db", HEALTHY)) == {}


@pytest.mark.parametrize(
    ("run", "level", "message"),
    [
        (replace(HEALTHY, counts={UNFINISHED: 1}), "problem", "in progress, or was interrupted"),
        (replace(HEALTHY, at=NOW - timedelta(days=9)), "warning", "log trino log: the latest ingest is 9 days old"),
        (
            replace(HEALTHY, counts={"statements": 10, "resolved": 8}),
            "warning",
            "8 of 10 statements are fully resolved",
        ),
        (replace(HEALTHY, kind="dbt"), "warning", "no query log was ingested"),
    ],
)
def test_what_an_ingest_left(run: RunRecord, level: str, message: str, tmp_path: Path) -> None:
    [(found, how_bad)] = _found(_stored(tmp_path / "graph.db", run)).items()
    assert message in found
    assert how_bad == level


def test_of_each_source_the_latest_ingest_counts(tmp_path: Path) -> None:
    before = replace(HEALTHY, key="log:0", at=NOW - timedelta(days=1), counts={UNFINISHED: 1})
    assert _found(_stored(tmp_path / "graph.db", before, HEALTHY)) == {}


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (
            (("dbt", "shop.ORDERS"), ("dbt", "Shop.Items")),
            "1 table is there in two namespaces, such as shop.ORDERS in dbt and shop.orders in pg",
        ),
        (
            (("other", "mart.sales"), ("dbt", "mart.sales"), ("dbt", "mart.v"), ("w", "mart.v")),
            "2 tables are there in two namespaces, such as mart.sales in dbt and mart.sales in other",
        ),
    ],
)
def test_one_table_under_two_names(names: tuple[tuple[str, str], ...], message: str, tmp_path: Path) -> None:
    found = _found(_stored(tmp_path / "graph.db", HEALTHY, names=names))
    assert [one for one in found if "there" in one] == [message]


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5_000])


def _change_a_byte(path: Path) -> None:
    held = bytearray(path.read_bytes())
    held[len(held) - 2_000] ^= 1
    path.write_bytes(held)


@pytest.mark.parametrize("harm", [Path.unlink, lambda path: path.write_bytes(b""), _cut, _change_a_byte])
def test_a_store_that_is_not_whole(harm: Callable[[Path], object], tmp_path: Path) -> None:
    path = _stored(tmp_path / "graph.db", HEALTHY)
    harm(path)
    done = lineage("doctor", "-s", path)
    assert done.code == 1
    assert done.out.startswith("problem: store:")
    assert "\n  → " in done.out


def test_a_parser_of_another_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "requires", lambda _name: ['sqlglot[c]==1.2.3 ; extra == "x"'])
    [found] = _found(_stored(tmp_path / "graph.db", HEALTHY))
    assert "lineage is made for 1.2.3" in found
