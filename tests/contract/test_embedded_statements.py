"""The embedded store's quicker statements say what the plain ones say: many keys, many rows, properties alone."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lineage.store import open_store
from lineage.store.embedded import transaction
from lineage.store.embedded.at_once import at_once
from lineage.store.embedded.backend import EmbeddedBackend
from lineage.store.embedded.projections import projection
from lineage.store.embedded.transaction import EmbeddedTransaction
from lineage.store.graph import LABELS, Changes, Node, PropertyType
from lineage.store.queries import own_queries, query
from tests.contract.random_batches import random_batch
from tests.contract.telling import batch, day, table

_VALUES: dict[PropertyType, tuple[Any, ...]] = {
    PropertyType.TEXT: ("", "a", "é'\"{x: 1}", "null"),
    PropertyType.TEXTS: ((), ("a",), ("a", "b,]{")),
    PropertyType.INTEGER: (0, 2**40, -5),
    PropertyType.INTEGERS: ((), (1,), (2**40, 3)),
    PropertyType.NUMBER: (0.5, 1.0),
    PropertyType.FLAG: (True, False),
    PropertyType.TIME: (datetime(2026, 1, 1, tzinfo=UTC), datetime(1969, 1, 1, 1, 2, 3, 4, tzinfo=UTC)),
    PropertyType.DAY: (date(2026, 1, 1),),
}


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[EmbeddedBackend]:
    opened = EmbeddedBackend(tmp_path / "store.lbug")
    yield opened
    opened.close()


def test_the_graph_does_not_depend_on_how_many_keys_are_asked_for_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dumps = []
    for many_keys in (1, 1_000_000):
        monkeypatch.setattr(transaction, "MANY_KEYS", many_keys)
        chance = random.Random(23)
        with open_store(tmp_path / f"{many_keys}.lbug") as store:
            for _ in range(25):
                store.apply(random_batch(chance))
            store.prune(datetime(2026, 1, 9, tzinfo=UTC), at=datetime(2026, 2, 1, tzinfo=UTC))
            dumps.append(store.dump())
    assert dumps[0] == dumps[1]


def test_many_keys_at_once_are_answered_as_each_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, chance = tmp_path / "store.lbug", random.Random(5)
    with open_store(path) as store:
        for _ in range(25):
            store.apply(random_batch(chance))
        tables, jobs = store.dataset_keys(), store.job_keys()
    backend = EmbeddedBackend(path, read_only=True)
    # A key twice, and one that is not there; of units, some of the jobs that write an output.
    units = [{"output": key, "jobs": sorted(chance.sample(jobs, len(jobs) // 2))} for key in (*tables, "no/t")]
    keys = {"Table": [*tables, tables[0], "no/t"], "Job": [*jobs, jobs[0], "no job"]}
    names = [*own_queries("embedded", "at_once"), "datasets_by_key", "jobs_by_key"]
    for name in names:
        many = at_once(query(name))
        assert many is not None, name
        rows: list[dict[str, Any]] = units if many.of_units else [{"key": key} for key in keys[many.label.strip("`")]]
        found = []
        for many_keys in (1, 1_000_000):
            monkeypatch.setattr(transaction, "MANY_KEYS", many_keys)
            found.append(_read(backend, query(name), rows))
        assert sorted(map(_told, found[0])) == sorted(map(_told, found[1])), name
        assert found[0], name
    backend.close()


def test_many_keys_are_asked_for_one_by_one_where_a_list_would_scan_too_many_nodes() -> None:
    of_nodes, of_columns, of_units = (
        at_once(query(name)) for name in ("datasets_by_key", "columns_of_dataset", "edges_of_units")
    )
    assert of_nodes is not None
    assert of_columns is not None
    assert of_units is not None
    assert [of_nodes.pays(20, 2_000), of_nodes.pays(20, 2_001)] == [True, False]
    assert [of_columns.pays(1_000, 50_000), of_columns.pays(1_000, 50_001)] == [True, False]
    # However many units there are, each run scans for a hundred of them.
    assert [of_units.pays(100_000, 5_000), of_units.pays(100_000, 5_001)] == [True, False]


def test_properties_alone_are_what_a_whole_node_or_relationship_has(tmp_path: Path) -> None:
    path, chance = tmp_path / "store.lbug", random.Random(7)
    with open_store(path) as store:
        for _ in range(15):
            store.apply(random_batch(chance))
    backend = EmbeddedBackend(path, read_only=True)
    statements = [f"MATCH (n:`{label}`) RETURN n" for label in LABELS]
    statements += ["MATCH (n:Usage)-[:OF]->(o:`Table`) RETURN n, o.key AS of"]
    edges = "MATCH (a)-[e:CONTRIBUTES|CONTRIBUTED|`REFERENCES`|REFERENCED]->(b:`Column`)"
    statements += [f"{edges} RETURN a.key AS source, b.key AS target, e"]
    statements += [f"MATCH (a)-[e:{kind}]->(b) RETURN a.key AS source, e" for kind in ("WRITES", "READS", "OBSERVED")]
    for statement in statements:
        assert projection(statement) is not None, statement
        whole, alone = (_read(backend, statement, [{}], is_current=is_current) for is_current in (False, True))
        assert sorted(map(_told, whole)) == sorted(map(_told, alone)), statement
    backend.close()


def test_many_nodes_at_once_hold_what_they_were_given(backend: EmbeddedBackend) -> None:
    chance, given = random.Random(3), {}
    for number in range(40):
        without = chance.choice((0, 0.3, 0.9, 1.0))
        for label, properties in LABELS.items():
            nodes = tuple(
                Node(
                    label,
                    f"{number}/{place}",
                    {
                        name: None if chance.random() < without else chance.choice(_VALUES[kind])
                        for name, kind in sorted(properties.items(), key=lambda _: chance.random())
                    },
                )
                for place in range(chance.choice((1, 2, 5)))
            )
            given.update({(label, node.key): node.properties for node in nodes})
            backend.writing(partial(EmbeddedTransaction.write, changes=Changes(created_nodes=nodes)))
    for label in LABELS:
        rows = _read(backend, f"MATCH (n:`{label}`) RETURN n", [{}])
        assert len(rows) == sum(of == label for of, _ in given)
        for node in (row["n"] for row in rows):
            wanted = given[label, node.pop("key")]
            assert node == {name: list(v) if isinstance(v, tuple) else v for name, v in wanted.items()}


def _read(backend: EmbeddedBackend, statement: str, rows: list[Any], *, is_current: bool = True) -> list[Any]:
    def work(one: EmbeddedTransaction) -> list[Any]:
        return EmbeddedTransaction(one._statements, is_current=is_current).read(statement, rows)

    return backend.reading(work)


def _told(row: dict[str, Any]) -> str:
    """Return a row's text: what a relationship of another type has is none of it."""
    return repr(
        sorted(
            (
                name,
                sorted((of, repr(v)) for of, v in value.items() if v is not None) if isinstance(value, dict) else value,
            )
            for name, value in row.items()
        )
    )


@pytest.mark.parametrize("nodes", [1, 2])
def test_times_are_kept_in_any_zone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nodes: int) -> None:
    told = [table(f"t{number}", "a", at=3) for number in range(nodes)]
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        with open_store(tmp_path / "store.lbug") as store:
            store.apply(batch(*told, at=3))
            assert [dataset.first_seen for dataset in store.datasets()] == [day(3)] * nodes
            assert [run.at for run in store.runs()] == [day(3)]
    finally:
        monkeypatch.undo()
        time.tzset()
