"""The least that a first ingest of a dbt project has to do: read the manifest, parse its SQL, copy in the rows.

`save_rows` takes the rows from a store that an ingest has filled. The module, run as a command, does these three things
in a process of its own, and nothing in between: it resolves no column and knows the rows before it parses.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import ladybug
import pyarrow as pa
import pyarrow.feather

from lineage.model.dialects import dialect_named
from lineage.sql.budget import Budget
from lineage.sql.parse.statements import parse_statements
from lineage.store.cypher.schema import LABELS, RELATIONSHIPS
from lineage.store.cypher.statements import scripts
from lineage.store.embedded.arrow_tables import without_pandas

__all__ = ["save_rows"]


def save_rows(store: Path, folder: Path) -> int:
    """Write the rows of a store's labels and relationship types as files; return how many rows there are."""
    folder.mkdir()
    rows = 0
    with ladybug.Database(store, read_only=True) as database, ladybug.Connection(database) as connection:
        reads = {
            f"COPY `{label}` FROM $rows": f"MATCH (n:`{label}`) RETURN {_properties('n', ['key', *types])}"
            for label, types in LABELS.items()
        }
        for name, kind in RELATIONSHIPS.items():
            for start, end in kind.ends:
                values = "".join(f", {_properties('e', [one])}" for one in kind.properties)
                reads[f"COPY `{name}` FROM $rows (from = '{start}', to = '{end}')"] = (
                    f"MATCH (a:`{start}`)-[e:`{name}`]->(b:`{end}`) RETURN a.key AS source, b.key AS target{values}"
                )
        for number, (copy, read) in enumerate(reads.items()):
            with without_pandas():
                table = connection.execute(read).get_as_arrow()
            if table.num_rows:
                table = table.replace_schema_metadata({"copy": copy})
                pyarrow.feather.write_feather(table, folder / f"{number:02}.arrow", compression="uncompressed")
                rows += table.num_rows
    return rows


def _properties(of: str, names: list[str]) -> str:
    return ", ".join(f"{of}.`{name}` AS `{name}`" for name in names)


def _run(manifest: Path, rows: Path, store: Path) -> None:
    began = time.process_time()
    nodes = json.loads(manifest.read_bytes())["nodes"]
    dialect = dialect_named("postgres")
    for node in nodes.values():
        list(parse_statements(node.get("compiled_code") or "", dialect, Budget()))
    parsed = time.process_time()
    with ladybug.Database(store) as database, ladybug.Connection(database) as connection:
        for statements in scripts("embedded").values():
            for statement in statements:
                connection.execute(statement)
        connection.execute("BEGIN TRANSACTION")
        for path in sorted(rows.iterdir()):
            table: pa.Table = pyarrow.feather.read_table(path)
            with without_pandas():
                connection.execute((table.schema.metadata or {})[b"copy"].decode(), {"rows": table})
        connection.execute("COMMIT")
    print(json.dumps({"reading_and_parsing": parsed - began, "copying": time.process_time() - parsed}))


if __name__ == "__main__":
    _run(*map(Path, sys.argv[1:]))
