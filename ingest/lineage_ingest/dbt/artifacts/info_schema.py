"""Columns from dbt's Information Schema (dbt 2): the Parquet file `dbt.node_columns` in `target/info_schema/v1`.

It has types only with `--static-analysis strict`. The edges beside it are a second opinion, for `lineage compare`.
Manual: https://docs.getdbt.com/reference/info-schema
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from lineage.frozen import frozen
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity

__all__ = ["AnalysedColumns", "read_analysed_columns"]

_FOLDER = Path("info_schema") / "v1"
_COLUMNS = "dbt.node_columns.parquet"
_COLUMN = ("node_unique_id", "column_name", "column_index", "data_type_inferred", "data_type_actual")


@frozen
class AnalysedColumns:
    """Columns (name, type) in order by unique id, of nodes whose columns were all analysed or read from the database.

    `problems` are files that cannot be read, by name.
    """

    columns: Mapping[str, tuple[tuple[str, str | None], ...]] = field(default_factory=dict)
    problems: tuple[tuple[str, Diagnostic], ...] = ()


def read_analysed_columns(target: Path) -> AnalysedColumns:
    """Return the columns in the Information Schema of a target folder; none without one."""
    problems: list[tuple[str, Diagnostic]] = []
    columns = dict(_schemas(_rows(target / _FOLDER / _COLUMNS, _COLUMN, problems)))
    return AnalysedColumns(columns, tuple(problems))


def _schemas(rows: Sequence[tuple[Any, ...]]) -> Iterator[tuple[str, tuple[tuple[str, str | None], ...]]]:
    """Yield the nodes whose columns are complete: a column without a type is only declared, and others may exist."""
    nodes: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for node, *column in rows:
        nodes[str(node)].append(tuple(column))
    for node, columns in nodes.items():
        places = {index for _, index, _, _ in columns if isinstance(index, int)}
        if len(places) == len(columns) and all(inferred or actual for _, _, inferred, actual in columns):
            ordered = sorted(columns, key=lambda one: int(one[1]))
            yield node, tuple((str(name), str(actual or inferred)) for name, _, inferred, actual in ordered)


def _rows(path: Path, names: Sequence[str], problems: list[tuple[str, Diagnostic]]) -> Sequence[tuple[Any, ...]]:
    """Return the values of these columns; report a file that is damaged or lacks one."""
    if not path.exists():
        return ()
    import pyarrow as pa  # noqa: PLC0415  importing it takes longer than most commands
    from pyarrow import parquet  # noqa: PLC0415

    try:
        table = parquet.read_table(path)
        return list(zip(*(table.column(name).to_pylist() for name in names), strict=True))
    except (OSError, pa.ArrowInvalid, KeyError) as error:
        lacks = isinstance(error, KeyError)
        message = f"the file does not have the columns {', '.join(names)}" if lacks else "the file is not whole Parquet"
        hint = "write it again: `dbt build --generate-info-schema --static-analysis strict`"
        damaged = Diagnostic(DiagnosticCode.ARTIFACT_DAMAGED, Severity.WARNING, message, hint=hint)
        problems.append((f"{_FOLDER.as_posix()}/{path.name}", damaged))
        return ()
