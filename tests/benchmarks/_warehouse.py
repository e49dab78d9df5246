"""A batch as a warehouse's query log states it: templates that read a few popular datasets and many others."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate

from lineage.model.batch import (
    ColumnRecord,
    DatasetRecord,
    EdgeRecord,
    JobKind,
    JobRecord,
    LineageBatch,
    RunRecord,
    UsageRecord,
    definition_job_key,
    query_job_key,
)
from lineage.model.influence.transformations import EdgeKind, Subtype

BEGIN = datetime(2024, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Warehouse:
    """How large the batch is. A fifth of the jobs are definitions, the others statements that add."""

    datasets: int = 5_000
    columns: int = 25
    jobs: int = 20_000
    edges_of_job: int = 30
    reads_of_job: int = 3
    seed: int = 1

    def batch(self, name: str, at: datetime = BEGIN) -> LineageBatch:
        """Return the batch; the name stands in all keys."""
        chance = random.Random(self.seed)
        records = [self._dataset(f"{name}.t{number}") for number in range(self.datasets)]
        # Zipf: the most popular dataset is read by every twentieth job.
        popular = list(accumulate(1 / (rank + 10) for rank in range(self.datasets)))
        jobs: list[JobRecord] = []
        edges: list[EdgeRecord] = []
        for number in range(self.jobs):
            output = records[number % self.datasets if number % 5 == 0 else chance.randrange(self.datasets)]
            sources = chance.choices(records, cum_weights=popular, k=self.reads_of_job)
            defines = number % 5 == 0 and number < self.datasets
            key = definition_job_key(output.key) if defines else query_job_key(f"{name}{number:08x}")
            first = at + timedelta(seconds=number)
            reads = tuple(dict.fromkeys(source.key for source in sources if source is not output))
            jobs.append(
                JobRecord(
                    key,
                    JobKind.DEFINITION if defines else JobKind.QUERY,
                    first,
                    first + timedelta(hours=chance.randrange(24)),
                    reads,
                    (output.key,),
                    "insert into … select " + "column_name, " * 40,
                    "postgres",
                    observations=chance.randrange(1, 100),
                )
            )
            edges += self._edges(chance, key, output, sources)
        used = tuple(UsageRecord(record.key, at.date(), chance.randrange(100), 1) for record in records)
        run = RunRecord(f"run:{name}", "log", "benchmark", at, {"statements": self.jobs})
        return LineageBatch(run, tuple(records), tuple(jobs), tuple(edges), usage=used)

    def _dataset(self, name: str) -> DatasetRecord:
        columns = tuple(ColumnRecord(f"c{column}", "int", column) for column in range(self.columns))
        return DatasetRecord("pg", name, dialect="postgres", columns=columns, schema_known=True)

    def _edges(
        self, chance: random.Random, job: str, output: DatasetRecord, sources: list[DatasetRecord]
    ) -> list[EdgeRecord]:
        found: dict[tuple[str, str, EdgeKind], EdgeRecord] = {}
        while len(found) < self.edges_of_job:
            source = chance.choice(sources)
            from_column = source.column_key(f"c{chance.randrange(self.columns)}")
            what = chance.random()
            target = output.key if what < 0.2 else output.column_key(f"c{chance.randrange(self.columns)}")
            kind = EdgeKind.CONTRIBUTES if what > 0.4 else EdgeKind.REFERENCES
            subtype = Subtype.IDENTITY if what > 0.4 else Subtype.FILTER
            place = len(found) * 12
            found[from_column, target, kind] = EdgeRecord(
                from_column, target, kind, job, output.key, (subtype,), spans=((place, place + 9),)
            )
        return list(found.values())
