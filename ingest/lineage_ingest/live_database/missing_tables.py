"""Tables that views, functions and triggers name and their database does not have: some outlive their tables."""

from __future__ import annotations

from collections.abc import Iterator

from lineage.model.dialects import dialect_named
from lineage.model.names import plain_name, split_name
from lineage.model.statement import DatasetKind, StatementLineage
from lineage_ingest.live_database.objects import LiveDatabase

__all__ = ["missing_tables"]

_OF_SYSTEM = ("information_schema", "pg_")
"""What the names of the system's schemas begin with."""


def missing_tables(database: LiveDatabase, statement: StatementLineage) -> Iterator[str]:
    """Yield the names, with their schemas, of the tables of a statement that the database does not have."""
    known = {str(database.full_name(one)) for one in (*database.relations, *database.outside)}
    own = str(dialect_named(database.product).fold_table(database.name, quoted=True))
    named = list(statement.sources)
    if statement.target is not None and not statement.defines and statement.target_kind is DatasetKind.TABLE:
        named.append(statement.target)
    for name in dict.fromkeys(named):
        *place, table = (part for part, _ in split_name(plain_name(name)))
        if name in known or table in database.system_tables:
            continue
        if not place and not own:  # SQLite
            yield table
        elif len(place) == len((own, "schema")) and place[0] == own and not place[1].startswith(_OF_SYSTEM):
            yield f"{place[1]}.{table}"
