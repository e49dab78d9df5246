"""dbt's information schema: `dbt.column_lineage`, which dbt 2 writes into `target/info_schema/v1`.

https://docs.getdbt.com/docs/build/dbt-information-schema
https://docs.getdbt.com/reference/info-schema

It is written by `dbt compile --generate-info-schema --static-analysis strict`. A row has `parent_node_unique_id`,
`parent_column_name`, `child_node_unique_id`, `child_column_name` and `evolution`: `copy` and `mod` carry the value,
`scan` means that the parent's column was only read, as in a join or a filter. Nodes are named by the manifest beside
it. An ephemeral model is a node there, and no table of the graph: edges through it are composed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from lineage.model.names import dataset_key
from lineage_ingest.compare.opinions import OpinionEdge, ReadRow, UnreadRow
from lineage_ingest.compare.product_names import ProductNames
from lineage_ingest.dbt.artifacts.manifest import Manifest
from lineage_ingest.dbt.artifacts.target_folder import NoManifestError, read_artifacts
from lineage_ingest.dbt.relation_names import ProjectNames, dialect_of_adapter

__all__ = ["FILE", "lineage_file", "read_dbt_lineage", "target_folder"]

FILE = "dbt.column_lineage.parquet"
_FOLDER = Path("info_schema") / "v1"
_COLUMNS = (
    "parent_node_unique_id",
    "parent_column_name",
    "child_node_unique_id",
    "child_column_name",
    "evolution",
)
_INFLUENCE = {"copy": False, "mod": False, "scan": True}
_NOT_COMPARED = frozenset(("test", "unit_test", "analysis", "operation", "function", "macro", "exposure", "metric"))
_ROWS = 8_192


def lineage_file(path: Path) -> Path:
    """Return the lineage file that a path means: the file, or the one of a target folder or `info_schema/v1`.

    Raises:
        NoManifestError: there is none.
    """
    for file in (path, path / FILE, path / _FOLDER / FILE):
        if file.is_file() and file.suffix == ".parquet":
            return file
    hint = "dbt 2 writes it: dbt compile --generate-info-schema --static-analysis strict"
    raise NoManifestError(f"no {FILE} at {path}; {hint}")


def target_folder(path: Path) -> Path:
    """Return the target folder of a lineage file: the folder of manifest.json, else where dbt puts it."""
    file = lineage_file(path).absolute()
    return next((folder for folder in file.parents if (folder / "manifest.json").is_file()), file.parents[2])


def read_dbt_lineage(paths: Sequence[str | Path], names: ProductNames) -> Iterator[ReadRow]:
    """Yield the edges of `dbt.column_lineage` of one or several projects.

    Raises:
        NoManifestError: there is no lineage file, or no manifest beside it.
    """
    for path in map(Path, paths):
        file, folder = lineage_file(path), target_folder(path)
        artifacts = read_artifacts(folder)
        for name, problem in artifacts.problems:
            yield UnreadRow(str(folder / name), problem.message, problem.hint, is_error=False)
        adapter = artifacts.manifest.metadata.adapter_type
        if len(paths) > 1 and dialect_of_adapter(adapter) not in (None, names.naming.dialect.name):
            reason = f"the project is of another adapter ({adapter}) than the first one"
            yield UnreadRow(str(folder), reason, "compare it alone: names of the two are made differently")
            continue
        tables = _tables(artifacts.manifest, names)
        try:
            yield from _edges(file, tables, artifacts.at, names)
        except (OSError, pa.ArrowException) as error:
            yield UnreadRow(str(file), f"it cannot be read further: {error}".splitlines()[0], "write it again with dbt")


def _tables(manifest: Manifest, names: ProductNames) -> dict[str, str]:
    """Return the key of the dataset of each node; ephemeral models have one that no graph has."""
    project = ProjectNames("", names.naming)
    namespace = names.naming.dataset_namespace
    return {
        unique_id: dataset_key(namespace, unique_id if node.is_ephemeral else project.table(node))
        for unique_id, node in (*manifest.nodes.items(), *manifest.sources.items())
    }


def _edges(file: Path, tables: dict[str, str], at: datetime, names: ProductNames) -> Iterator[ReadRow]:
    with pq.ParquetFile(file) as parquet:
        by_name = {name.lower(): name for name in parquet.schema_arrow.names}
        missing = [name for name in _COLUMNS[:4] if name not in by_name]
        if missing:
            yield UnreadRow(str(file), f"it has no column {', '.join(missing)}", f"found are {', '.join(by_name)}")
            return
        wanted = [by_name[name] for name in _COLUMNS if name in by_name]
        number = 0
        for batch in parquet.iter_batches(_ROWS, columns=wanted):
            rows = batch.rename_columns([name.lower() for name in batch.schema.names]).to_pylist()
            for row in rows:
                number += 1
                yield _edge(row, f"{file}: record {number:,}", tables, at, names)


def _edge(row: dict[str, object], place: str, tables: dict[str, str], at: datetime, names: ProductNames) -> ReadRow:
    parent, source, child, target = (row[name] for name in _COLUMNS[:4])
    if not all(isinstance(one, str) and one for one in (parent, source, child, target)):
        return UnreadRow(place, "a node or a column is missing")
    unknown = [str(one) for one in (parent, child) if one not in tables]
    if unknown and unknown[0].partition(".")[0] in _NOT_COMPARED:
        return UnreadRow(place, "nodes that are no tables (tests, analyses, functions)", is_error=False)
    if unknown:
        return UnreadRow(place, f"manifest.json has no node {unknown[0]}", "is it of another run? compile again")
    evolution = str(row.get("evolution") or "").lower()
    return OpinionEdge(
        names.column_of(tables[str(parent)], (str(source),)),
        names.column_of(tables[str(child)], (str(target),)),
        place,
        _INFLUENCE.get(evolution),
        evolution or None,
        at,
        None,
        str(child),
    )
