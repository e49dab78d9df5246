"""dbt's Information Schema (dbt 2): Parquet files in `target/info_schema/v1`, one per table.

`dbt.node_columns` has the columns of nodes with their types, `dbt.column_lineage` the edges that dbt's own static
analysis finds: a second opinion. Both are empty without `--static-analysis strict`.
Manual: https://docs.getdbt.com/reference/info-schema
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity

__all__ = ["DbtColumnEdge", "InfoSchema", "read_info_schema"]

_FOLDER = Path("info_schema") / "v1"
_LINEAGE, _COLUMNS = "dbt.column_lineage.parquet", "dbt.node_columns.parquet"
_EDGE = ("parent_node_unique_id", "parent_column_name", "child_node_unique_id", "child_column_name", "evolution")
_COLUMN = ("node_unique_id", "column_name", "column_index", "data_type_inferred", "data_type_actual")


@dataclass(frozen=True, slots=True, order=True)
class DbtColumnEdge:
    """An edge of `dbt.column_lineage`: columns by the unique id of their node and their name, as dbt writes them.

    `evolution` is `copy` (the value is passed through), `mod` (it is transformed) or `scan` (the column is read, but is
    no part of the value: keys of joins and groups, filters). `from_node` may be an ephemeral model, which has no table.
    """

    from_node: str
    from_column: str
    to_node: str
    to_column: str
    evolution: str


@dataclass(frozen=True, slots=True)
class InfoSchema:
    """What the files have: columns (name, type) in order by unique id, and the edges, sorted.

    `columns` has only nodes whose columns were all analysed or read from the database. `is_there` is False without a
    folder; without strict analysis there are no `edges`. `problems` are files that cannot be read.
    """

    is_there: bool = False
    columns: Mapping[str, tuple[tuple[str, str | None], ...]] = field(default_factory=dict)
    edges: tuple[DbtColumnEdge, ...] = ()
    problems: tuple[tuple[str, Diagnostic], ...] = ()


def read_info_schema(target: Path, *, edges: bool = True) -> InfoSchema:
    """Return the Information Schema in a target folder; without `edges`, only its columns."""
    folder = target / _FOLDER
    if not folder.is_dir():
        return InfoSchema()
    problems: list[tuple[str, Diagnostic]] = []
    listed = _rows(folder / _COLUMNS, _COLUMN, problems)
    stated = _rows(folder / _LINEAGE, _EDGE, problems) if edges else ()
    found = {DbtColumnEdge(*map(str, row)) for row in stated if all(isinstance(value, str) for value in row)}
    return InfoSchema(True, dict(_schemas(listed)), tuple(sorted(found)), tuple(problems))


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
        message = f"the file has not the columns {', '.join(names)}" if lacks else "the file is not whole Parquet"
        hint = "write it again: `dbt build --generate-info-schema --static-analysis strict`"
        damaged = Diagnostic(DiagnosticCode.ARTIFACT_DAMAGED, Severity.WARNING, message, hint=hint)
        problems.append((f"{_FOLDER.as_posix()}/{path.name}", damaged))
        return ()
