"""LineageX without a database connection: it reads every dialect as PostgreSQL's first, then others'."""

from __future__ import annotations

import contextlib
import io
from typing import Any

from lineagex.lineagex import lineagex

WANTS = "write"


def prepare(schema: dict[str, dict[str, str]], dialect: str) -> Any:
    tables = {name: list(columns) for name, columns in schema.items()}
    schemas = sorted({name.rpartition(".")[0] for name in schema} - {""})
    return tables, ",".join(schemas), "postgres"  # of lists of texts it takes no other dialect but SQLite's


def answer(prepared: Any, sql: str) -> dict[str, Any]:
    tables, path, dialect = prepared
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        made = lineagex(sql=[sql], search_path_schema=path, dialect=dialect, input_table_dict=dict(tables))
    if not made.output_dict:
        raise ValueError(said.getvalue().strip().splitlines()[0] if said.getvalue().strip() else "no answer")
    found: dict[str, list[str]] = {}
    for one in made.output_dict.values():
        for name, sources in one["columns"].items():
            # Beside what contributes stands what is referenced.
            contributing = sources[0] if sources and isinstance(sources[0], list) else sources
            found[name] = [source for source in contributing if "." in source]
    return {"columns": found, "full": True}
