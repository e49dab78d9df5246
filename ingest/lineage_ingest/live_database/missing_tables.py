"""Tables that a view reads and its database does not have, where the database lets views outlive their tables."""

from __future__ import annotations

from collections.abc import Iterator

from lineage.model.dialects import dialect_named
from lineage.model.names import plain_name, split_name
from lineage.model.statement import StatementLineage
from lineage_ingest.live_database.objects import LiveDatabase

__all__ = ["missing_tables"]


def missing_tables(database: LiveDatabase, statement: StatementLineage) -> Iterator[str]:
    """Yield the names, with their schemas, of tables of the database's own schemas that it does not have.

    Nothing for a database whose system tables are not known.
    """
    if not database.system_tables:
        return
    fold = dialect_named(database.product).fold_table
    schemas = {str(fold(name, quoted=True)) for name in database.schemas}
    known = {str(database.full_name(one)) for one in database.relations}
    for source in statement.sources:
        parts = [part for part, _ in split_name(plain_name(source))]
        if len(parts) != len((database.name, "schema", "table")) or parts[0] != str(fold(database.name, quoted=True)):
            continue
        if parts[1] in schemas and parts[2] not in database.system_tables and source not in known:
            yield ".".join(parts[1:])
