"""A warehouse in layers, by a seed, as Arrow tables of the graph's nodes and relationships.

Each dataset is made from three of the layer or two before it that lie near it, so that what a column reaches is a
cone: some thousand columns in ten hops. The first columns of a dataset are read far more than the last. A hundred
columns of the first layer are read everywhere, as keys and dates are; what these reach is most of the graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pyarrow as pa

from lineage.model.batch import definition_job_key, query_job_key
from lineage.model.names import column_key, dataset_key, short_name

__all__ = ["EdgeTable", "LayeredGraph", "NodeTable"]

BEGIN = datetime(2024, 1, 1)
NAMESPACE = "postgres://warehouse:5432"
SOURCES = 3
STRUCT_EVERY = 20
"""Every so manieth dataset has a column with two fields."""

Numbers = np.ndarray[tuple[int], np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class NodeTable:
    """The nodes of a label: their keys and properties; a node's number is its place."""

    label: str
    rows: pa.Table


@dataclass(frozen=True, slots=True)
class EdgeTable:
    """Relationships of a type between two labels: the numbers of their ends, and properties."""

    type: str
    ends: tuple[str, str]
    sources: Numbers
    targets: Numbers
    rows: pa.Table | None = None


@dataclass(frozen=True)
class LayeredGraph:
    """How large it is, and its seed."""

    layers: int = 20
    width: int = 2_000
    columns: int = 25
    edges: int = 5_000_000
    hubs: int = 100
    seed: int = 20240601

    @property
    def name(self) -> str:
        """What tells it apart from other graphs."""
        return f"layered-{self.layers}x{self.width}x{self.columns}-{self.edges}-{self.hubs}-{self.seed}"

    @property
    def datasets(self) -> int:
        """How many datasets it has."""
        return self.layers * self.width

    def column_keys(self) -> list[str]:
        """Return the keys of the columns, by their numbers."""
        return [
            column_key(self.dataset_key(n // self.columns), self.path(n)) for n in range(self.datasets * self.columns)
        ]

    def dataset_key(self, number: int) -> str:
        """Return the key of a dataset."""
        return dataset_key(NAMESPACE, self._dataset_name(number))

    def path(self, number: int) -> str:
        """Return the path of a column in its dataset."""
        dataset, place = divmod(number, self.columns)
        if dataset % STRUCT_EVERY == 0 and place in (self.columns - 2, self.columns - 1):
            return f"c{self.columns - 3}.f{place}"
        return f"c{place}"

    def hub(self, number: int) -> int:
        """Return the number of a column that is read everywhere, those that are read most first."""
        return number * (self.width // self.hubs) * self.columns

    def nodes(self) -> Iterator[NodeTable]:
        """Yield the nodes: datasets, columns, jobs."""
        datasets = [self.dataset_key(number) for number in range(self.datasets)]
        names = [self._dataset_name(number) for number in range(self.datasets)]
        yield NodeTable(
            "Table",
            _table(
                self.datasets,
                key=datasets,
                namespace=NAMESPACE,
                name=[short_name(name) for name in names],
                full_name=names,
                kind="table",
                dialect="postgres",
                schema_known=True,
                aliases=[],
                first_seen=BEGIN,
                last_seen=BEGIN,
                search=names,
            ),
        )
        total = self.datasets * self.columns
        paths = [self.path(number) for number in range(total)]
        parent = f"c{self.columns - 3}"
        yield NodeTable(
            "Column",
            _table(
                total,
                key=self.column_keys(),
                dataset=pa.array(datasets).take(pa.array(np.arange(total) // self.columns)),
                path=paths,
                name=[f"{short_name(names[number // self.columns])}.{path}" for number, path in enumerate(paths)],
                data_type="integer",
                ordinal=pa.array(np.arange(total) % self.columns),
                inferred=False,
                parent=pa.array(
                    [
                        column_key(datasets[number // self.columns], parent) if "." in path else None
                        for number, path in enumerate(paths)
                    ],
                    pa.string(),
                ),
                search=paths,
            ),
        )
        jobs = self._jobs()
        yield NodeTable(
            "Job",
            _table(
                len(jobs),
                key=jobs,
                kind=["definition" if number < self.datasets else "query" for number in range(len(jobs))],
                sql="select " + "column_name, " * 20 + "1 from a_table",
                dialect="postgres",
                operation="CREATE_VIEW",
                completeness="full",
                first_seen=BEGIN,
                last_seen=BEGIN,
            ),
        )

    def relationships(self) -> Iterator[EdgeTable]:
        """Yield the relationships: of datasets and columns, of lineage, of jobs."""
        total = self.datasets * self.columns
        every = np.arange(total)
        yield EdgeTable("HAS_COLUMN", ("Table", "Column"), every // self.columns, every)
        of_structs = (every // self.columns) % STRUCT_EVERY == 0
        fields = every[of_structs & (every % self.columns >= self.columns - 2)]
        yield EdgeTable("HAS_FIELD", ("Column", "Column"), fields - fields % self.columns + self.columns - 3, fields)

        chance = np.random.default_rng(self.seed)
        output, reads = self._reads(chance)
        jobs = np.array(self._jobs())
        feeds: set[tuple[int, int, int]] = set()
        # Of a job's edges most are contributions, some are influences on columns, a few on rows.
        hub_edges = self.edges // 12
        for kind, ends, share in (
            ("CONTRIBUTES", ("Column", "Column"), 0.79),
            ("REFERENCES", ("Column", "Column"), 0.16),
            ("REFERENCES", ("Column", "Table"), 0.05),
        ):
            wanted = round(self.edges * share)
            from_hubs = round(hub_edges * share)
            # Some come twice and count once.
            stated = round((wanted - from_hubs) * 1.25)
            job = chance.integers(0, len(output), stated)
            source_table = reads[job, chance.integers(0, SOURCES, stated)]
            popular = np.minimum(chance.exponential(self.columns / 4, stated).astype(np.int64), self.columns - 1)
            source = source_table * self.columns + popular
            target_table = output[job]
            rank = np.minimum(chance.zipf(1.5, from_hubs * 2) - 1, 10**6) % self.hubs
            hub_job = chance.integers(0, self.datasets - self.width, from_hubs * 2)
            source = np.concatenate([rank * (self.width // self.hubs) * self.columns, source])
            job = np.concatenate([hub_job, job])
            target_table = np.concatenate([output[hub_job], target_table])
            place = chance.integers(0, self.columns, len(job))
            target = target_table if ends[1] == "Table" else target_table * self.columns + place
            unique = np.unique(np.stack([source, target, job]), axis=1, return_index=True)[1]
            unique = chance.permutation(unique)
            hub_part, other_part = unique[unique < 2 * from_hubs][:from_hubs], unique[unique >= 2 * from_hubs]
            kept = np.concatenate([hub_part, other_part[: wanted - len(hub_part)]])
            source, target, job = source[kept], target[kept], job[kept]
            feeds |= set(zip((source // self.columns).tolist(), target_table[kept].tolist(), job.tolist(), strict=True))
            masked = (chance.random(len(kept)) < 0.06) & (kind == "CONTRIBUTES")
            shown = ["IDENTITY", "TRANSFORMATION"] if kind == "CONTRIBUTES" else ["JOIN", "CONDITIONAL"]
            start = chance.integers(0, 2_000, len(kept))
            starts = [f"{one}-{one + 9}" for one in range(2_000)]
            yield EdgeTable(
                kind,
                ends,
                source,
                target,
                _table(
                    len(kept),
                    job=pa.array(jobs).take(pa.array(job)),
                    subtypes=_lists(pa.array(shown).take(pa.array(masked.astype(np.int64)))),
                    masking=pa.array(masked),
                    limited=False,
                    ambiguous=False,
                    spans=_lists(pa.array(starts).take(pa.array(start))),
                    first_seen=BEGIN,
                    last_seen=BEGIN,
                    partly_masking=pa.nulls(len(kept), pa.list_(pa.string())),
                ),
            )
        near, far, by = (np.array(numbers) for numbers in zip(*sorted(feeds), strict=True))
        seen = _table(len(by), first_seen=BEGIN, last_seen=BEGIN)
        stated_by = pa.array(jobs).take(pa.array(by))
        yield EdgeTable("FEEDS", ("Table", "Table"), near, far, seen.add_column(0, "job", stated_by))
        pairs = np.unique(np.stack([by, near]), axis=1)
        seen = _table(pairs.shape[1], first_seen=BEGIN, last_seen=BEGIN)
        yield EdgeTable("READS", ("Job", "Table"), pairs[0], pairs[1], seen)
        every_job = np.arange(len(output))
        seen = _table(len(output), first_seen=BEGIN, last_seen=BEGIN, observations=[])
        yield EdgeTable("WRITES", ("Job", "Table"), every_job, output, seen)

    def _dataset_name(self, number: int) -> str:
        layer, place = divmod(number, self.width)
        return f"warehouse.layer{layer:02}.t{place:05}"

    def _jobs(self) -> list[str]:
        derived = self.datasets - self.width
        definitions = [definition_job_key(self.dataset_key(self.width + number)) for number in range(derived)]
        return definitions + [query_job_key(f"{number:016x}") for number in range(derived * 6 // 10)]

    def _reads(self, chance: np.random.Generator) -> tuple[Numbers, Numbers]:
        """Return the dataset that each job writes, and those that it reads."""
        derived = self.datasets - self.width
        more = chance.integers(self.width, self.datasets, derived * 6 // 10)
        output = np.concatenate([np.arange(self.width, self.datasets), more])
        shape = (len(output), SOURCES)
        layer, place = output[:, None] // self.width, output[:, None] % self.width
        before = np.maximum(layer - 1 - (chance.random(shape) < 0.2), 0)
        near = (place + np.rint(chance.normal(0, 1.5, shape)).astype(np.int64)) % self.width
        return output, before * self.width + near


def _lists(values: pa.Array) -> pa.ListArray:
    return pa.ListArray.from_arrays(pa.array(np.arange(len(values) + 1), pa.int32()), values)


def _table(rows: int, **columns: object) -> pa.Table:
    """Return a table; a value that is not a column stands in every row."""
    made = {}
    for name, value in columns.items():
        match value:
            case []:
                made[name] = pa.array([[]], pa.list_(pa.string())).take(pa.array(np.zeros(rows, np.int64)))
            case list() | pa.Array():
                made[name] = value if isinstance(value, pa.Array) else pa.array(value)
            case datetime():
                made[name] = pa.repeat(pa.scalar(value, pa.timestamp("us")), rows)
            case _:
                made[name] = pa.repeat(pa.scalar(value), rows)
    return pa.table(made)
