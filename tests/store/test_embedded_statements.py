"""The embedded store's faster statements return the same as the plain ones: many keys, many rows, single properties."""

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
from lineage.store.cypher.schema import LABELS, SCHEMA_VERSION, Changes, Node, PropertyType
from lineage.store.cypher.statements import own_queries, query, write_statement
from lineage.store.embedded import batched_reads, transaction
from lineage.store.embedded.backend import EmbeddedBackend
from lineage.store.embedded.batched_reads import batched_read
from lineage.store.embedded.projections import projection
from lineage.store.embedded.transaction import EmbeddedTransaction
from tests.store.batch_builders import batch, day, table
from tests.store.random_batches import random_batch

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


def test_the_graph_does_not_depend_on_how_many_keys_are_read_or_updated_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dumps = []
    for many_keys in (1, 1_000_000):
        _ask_at_once_from(many_keys, monkeypatch)
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
    # A repeated key, and a missing one; for units, some of the jobs that write an output.
    units = [{"output": key, "jobs": sorted(chance.sample(jobs, len(jobs) // 2))} for key in (*tables, "no/t")]
    keys = {"Table": [*tables, tables[0], "no/t"], "Job": [*jobs, jobs[0], "no job"]}
    names = [*own_queries("embedded", "batched_reads"), "datasets_by_key", "jobs_by_key"]
    for name in names:
        many = batched_read(query(name))
        assert many is not None, name
        rows: list[dict[str, Any]] = units if many.of_units else [{"key": key} for key in keys[many.label.strip("`")]]
        found = []
        for many_keys in (1, 1_000_000):
            _ask_at_once_from(many_keys, monkeypatch)
            found.append(_read(backend, query(name), rows))
        assert sorted(map(_to_json, found[0])) == sorted(map(_to_json, found[1])), name
        assert found[0], name
    backend.close()


def test_many_keys_are_asked_for_one_by_one_where_a_list_would_scan_too_many_nodes() -> None:
    of_nodes, of_columns, of_units = (
        batched_read(query(name)) for name in ("datasets_by_key", "columns_of_dataset", "edges_of_units")
    )
    assert of_nodes is not None
    assert of_columns is not None
    assert of_units is not None
    assert [of_columns.pays(1_000, partial(int, there)) for there in (50_000, 50_001)] == [True, False]
    # With any number of units, each run scans for a hundred of them.
    assert [of_units.pays(100_000, partial(int, there)) for there in (5_000, 5_001)] == [True, False]
    # Nodes are looked up in an index.
    assert [of_nodes.pays(keys, lambda: 10**9) for keys in (1, 2)] == [False, True]


def test_no_node_is_scanned_for_where_several_are_looked_up_by_key(backend: EmbeddedBackend) -> None:
    named = {name for name in _written() if (many := batched_read(query(name))) is not None and many.by_index}
    assert {
        "datasets_by_key",
        "jobs_by_key",
        "columns_by_key",
        "buffered_texts_by_key",
        "runs_by_key",
        "usage_keys",
    } <= named
    asked: list[tuple[str, dict[str, Any]]] = [
        (many.statement, {"keys": ["a", "b"]}) for name in named if (many := batched_read(query(name))) is not None
    ]
    for label, properties in LABELS.items():
        asked.append((write_statement("delete_nodes", label), {"keys": ["a", "b"]}))
        asked.append((write_statement("update_nodes", label), {"rows": [{"key": "a", **dict.fromkeys(properties)}]}))
    for statement, parameters in asked:
        plan = str(backend.writing(partial(_explain, statement=statement, parameters=parameters)))
        assert "PRIMARY_KEY_LOOKUP" in plan, statement
        assert "SCAN_NODE_TABLE" not in plan, statement


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
        whole, alone = (
            _read(backend, statement, [{}], version=version) for version in (SCHEMA_VERSION - 1, SCHEMA_VERSION)
        )
        assert sorted(map(_to_json, whole)) == sorted(map(_to_json, alone)), statement
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


def test_many_nodes_are_updated_and_deleted_as_each_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance, keys = random.Random(11), [f"k{number}" for number in range(12)]
    steps = []
    for label in LABELS:
        steps.append(Changes(created_nodes=tuple(_drawn(chance, label, key, 0.5) for key in keys)))
        for without in (0, 0.3, 0.9, 1.0):
            some = [*chance.sample(keys, 7), "is not there"]
            steps.append(Changes(updated_nodes=tuple(_drawn(chance, label, key, without) for key in some)))
        steps.append(Changes(deleted_nodes=tuple(Node(label, key, {}) for key in (*keys[:5], "is not there"))))
    found: list[list[str]] = []
    for rows in (1, 1_000):
        monkeypatch.setattr(transaction, "ROWS_AT_ONCE", rows)
        backend = EmbeddedBackend(tmp_path / f"{rows}.lbug")
        found.append([])
        for step in steps:
            [label] = {
                node.label for nodes in (step.created_nodes, step.updated_nodes, step.deleted_nodes) for node in nodes
            }
            backend.writing(partial(EmbeddedTransaction.write, changes=step))
            found[-1].append(_to_json({"all": _read(backend, f"MATCH (n:`{label}`) RETURN n ORDER BY n.key", [{}])}))
        backend.close()
    assert found[0] == found[1]


def _drawn(chance: random.Random, label: str, key: str, without: float) -> Node:
    properties = {
        name: None if chance.random() < without else chance.choice(_VALUES[kind])
        for name, kind in LABELS[label].items()
    }
    return Node(label, key, properties, chance.choice(((), tuple(properties)[:1], tuple(properties)[::-1])))


def _ask_at_once_from(keys: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FEW_KEYS", "MANY_KEYS"):
        monkeypatch.setattr(batched_reads, name, keys)
    monkeypatch.setattr(transaction, "MANY_KEYS", keys)


def _written() -> list[str]:
    return [name for name in own_queries("cypher", "read") if "<" not in query(name)]


def _read(backend: EmbeddedBackend, statement: str, rows: list[Any], *, version: int = SCHEMA_VERSION) -> list[Any]:
    def work(one: EmbeddedTransaction) -> list[Any]:
        return EmbeddedTransaction(one._statements, schema_version=version).read(statement, rows)

    return backend.reading(work)


def _explain(one: EmbeddedTransaction, statement: str, parameters: dict[str, Any]) -> list[Any]:
    return EmbeddedTransaction(one._statements, schema_version=0).read(f"EXPLAIN {statement}", [parameters])


def _to_json(row: dict[str, Any]) -> str:
    """Return a row's text, without the properties of other relationship types."""
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
    records = [table(f"t{number}", "a", at=3) for number in range(nodes)]
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        with open_store(tmp_path / "store.lbug") as store:
            store.apply(batch(*records, at=3))
            assert [dataset.first_seen for dataset in store.datasets()] == [day(3)] * nodes
            assert [run.at for run in store.runs()] == [day(3)]
    finally:
        monkeypatch.undo()
        time.tzset()
