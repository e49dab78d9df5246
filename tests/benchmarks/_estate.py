"""A layered graph as the SQL that states it: an estate of so many projects, each a folder of files.

Each job is a statement in a file of its own, which has the edges that the graph has: `coalesce` of what contributes to
a column, `md5` where it is masked, `CASE` for what influences a column, `WHERE` for what influences rows. The jobs are
divided among the projects by what they write, in the order of the layers, so that a project reads tables of its own
and of those before it.
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tests.benchmarks._layered_graph import NAMESPACE, LayeredGraph

__all__ = ["DATABASE", "DIALECT", "NAMESPACE", "Estate"]

DATABASE, DIALECT = "warehouse", "postgres"
SOURCES = "sources"
LAYERS, WIDTH, COLUMNS, EDGES = 20, 40, 25, 100_000
"""Of one project: 20,000 columns and 100,000 edges."""


@dataclass(frozen=True)
class Estate:
    """An estate of `scale` projects in a folder."""

    scale: int
    folder: Path

    @property
    def graph(self) -> LayeredGraph:
        """The graph that its SQL states."""
        return LayeredGraph(LAYERS, WIDTH * self.scale, COLUMNS, EDGES * self.scale, hubs=self.scale)

    @property
    def columns(self) -> int:
        """Number of columns."""
        return self.graph.datasets * COLUMNS

    @property
    def projects(self) -> list[Path]:
        """The folders: that of the tables of the first layer, then those of the projects, in order."""
        return [self.folder / SOURCES, *(self.folder / f"project{number:03}" for number in range(self.scale))]

    def write(self) -> None:
        """Write the files, if they are not there."""
        if (self.folder / "written").exists():
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        for project in self.projects:
            project.mkdir(parents=True)
        listed = ", ".join(f"c{place} integer" for place in range(COLUMNS))
        tables = (f"CREATE TABLE {_name(self.graph, number)} ({listed});\n" for number in range(self.graph.width))
        (self.folder / SOURCES / "tables.sql").write_text("".join(tables), encoding="utf-8")
        derived = self.graph.datasets - self.graph.width
        for job, output, edges in _jobs(self.graph):
            project = self.projects[1 + (output - self.graph.width) * self.scale // derived]
            (project / f"{job:06}.sql").write_text(_statement(self.graph, job, output, edges), encoding="utf-8")
        (self.folder / "written").touch()


Numbers = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
_VALUE, _MASKED, _COLUMN, _ROWS = range(4)


def _jobs(graph: LayeredGraph) -> Iterator[tuple[int, int, Numbers]]:
    """Yield each job's number, the dataset that it writes, and its edges: source, place of the target, kind."""
    edges, outputs = [], np.zeros(0, np.int64)
    keys = pa.array([], pa.string())
    for nodes in graph.nodes():
        if nodes.label == "Job":
            keys = nodes.rows.column("key").combine_chunks()
    for table in graph.relationships():
        if table.type == "WRITES":
            outputs = table.targets
        elif table.type in ("CONTRIBUTES", "REFERENCES") and table.rows is not None:
            job = pc.index_in(table.rows.column("job"), value_set=keys).to_numpy().astype(np.int64)
            of_rows = table.ends[1] == "Table"
            masked = table.rows.column("masking").to_numpy(zero_copy_only=False).astype(np.int64)
            kind = masked if table.type == "CONTRIBUTES" else np.full(len(job), _ROWS if of_rows else _COLUMN)
            place = np.zeros(len(job), np.int64) if of_rows else table.targets % graph.columns
            edges.append(np.stack([job, table.sources, place, kind], axis=1))
    every = np.concatenate(edges)
    every = every[np.lexsort((every[:, 1], every[:, 0]))]
    bounds = np.searchsorted(every[:, 0], np.arange(len(outputs) + 1))
    for job, output in enumerate(outputs.tolist()):
        yield job, output, every[bounds[job] : bounds[job + 1], 1:]


def _statement(graph: LayeredGraph, job: int, output: int, edges: Numbers) -> str:
    """Return the definition of a dataset, or a statement that adds to one."""
    rows = edges.tolist()
    tables = sorted({source // graph.columns for source, _, _ in rows})
    aliases = {table: f"s{number}" for number, table in enumerate(tables)}
    values: defaultdict[int, list[str]] = defaultdict(list)
    tests: defaultdict[int, list[str]] = defaultdict(list)
    filters: list[str] = []
    for source, place, kind in rows:
        column = f"{aliases[source // graph.columns]}.c{source % graph.columns}"
        if kind == _ROWS:
            filters.append(f"{column} > 0")
        elif kind == _COLUMN:
            tests[place].append(f"{column} IS NOT NULL")
        else:
            values[place].append(f"md5({column})" if kind == _MASKED else column)
    defines = job < graph.datasets - graph.width
    places = range(graph.columns) if defines else sorted(values.keys() | tests.keys())
    listed = ",\n  ".join(f"{_expression(values[place], tests[place])} AS c{place}" for place in places)
    target = _name(graph, output)
    names = ", ".join(f"c{place}" for place in places)
    start = f"CREATE TABLE {target} AS" if defines else f"INSERT INTO {target} ({names})"
    read = ", ".join(f"{_name(graph, table)} AS {alias}" for table, alias in aliases.items())
    source = f"\nFROM {read}" if read else ""
    where = f"\nWHERE {' AND '.join(filters)}" if filters else ""
    return f"{start}\nSELECT\n  {listed}{source}{where};\n"


def _expression(values: Sequence[str], tests: Sequence[str]) -> str:
    value = "CAST(NULL AS integer)"
    if values:
        value = values[0] if len(values) == 1 else f"coalesce({', '.join(values)})"
    return f"CASE WHEN {' AND '.join(tests)} THEN {value} END" if tests else value


def _name(graph: LayeredGraph, dataset: int) -> str:
    layer, place = divmod(dataset, graph.width)
    return f"layer{layer:02}.t{place:05}"
