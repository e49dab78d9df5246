"""Lineage that no SQL text states: partitions, inheritance, and foreign tables in another PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lineage.frozen import frozen
from lineage.model.batch import ColumnRecord, DatasetRecord, EdgeRecord, JobKind, JobRecord, file_job_key
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.influence.transformations import EdgeKind, Subtype
from lineage.model.names import column_key, column_text, format_name
from lineage.model.namespaces import normal_namespace
from lineage.model.statement import Completeness
from lineage_ingest.live_database.objects import LiveDatabase, LiveRelation, RelationKind, quoted

__all__ = ["TableLink", "foreign_table_diagnostic", "link_jobs", "table_links"]

_DEFAULT_PORT = "5432"


@frozen
class TableLink:
    """Rows of `source` are rows of `target`: pairs of columns, and the SQL that made it so."""

    source: str
    target: LiveRelation
    columns: tuple[tuple[str, str], ...]
    operation: str
    sql: str
    remote: DatasetRecord | None = None
    """The table of another database, if the source is one."""


def table_links(database: LiveDatabase, key_of: Callable[[LiveRelation], str]) -> Iterator[TableLink]:
    """Yield the links of a database.

    Whoever reads a table reads the tables that inherit from it. A partition also has the rows that are written to its
    table.
    """
    relations = {one.oid: one for one in (*database.relations, *database.outside)}
    for one in database.inheritance:
        child, parent = relations.get(one.child), relations.get(one.parent)
        if child is None or parent is None:
            continue
        names = {column.name for column in child.columns}
        columns = tuple((column.name, column.name) for column in parent.columns if column.name in names)
        sides = f"{_name(child)} {{}} {_name(parent)}"
        if one.is_partition:
            sql = f"CREATE TABLE {sides.format('PARTITION OF')}"
            yield TableLink(key_of(child), parent, columns, "PARTITION", sql)
            yield TableLink(key_of(parent), child, columns, "PARTITION", sql)
        else:
            yield TableLink(key_of(child), parent, columns, "INHERIT", f"ALTER TABLE {sides.format('INHERIT')}")
    for relation in database.relations:
        if relation.server is not None and (remote := _remote_table(relation)) is not None:
            columns = tuple((column.remote or column.name, column.name) for column in relation.columns)
            sql = f"CREATE FOREIGN TABLE {_name(relation)} SERVER {quoted(relation.server.name)}"
            yield TableLink(remote.key, relation, columns, "FOREIGN_TABLE", sql, remote)


def link_jobs(
    links: list[TableLink],
    database: LiveDatabase,
    key_of: Callable[[LiveRelation], str],
    file_key: Callable[[str], str],
) -> Iterator[tuple[JobRecord, list[EdgeRecord]]]:
    """Yield a job with its edges for each table that has the rows of others; `file_key` takes a full name."""
    by_target: dict[int, list[TableLink]] = {}
    for link in links:
        by_target.setdefault(link.target.oid, []).append(link)
    for listed in by_target.values():
        target = listed[0].target
        output, own = key_of(target), file_key(database.full_name(target))
        key = file_job_key(f"{own}#rows", output)
        edges = [
            EdgeRecord(
                column_key(link.source, column_text(source)),
                column_key(output, column_text(column)),
                EdgeKind.CONTRIBUTES,
                key,
                output,
                (Subtype.IDENTITY,),
            )
            for link in listed
            for source, column in link.columns
        ]
        job = JobRecord(
            key=key,
            kind=JobKind.SQL_FILE,
            first_seen=database.at,
            last_seen=database.at,
            reads=tuple(dict.fromkeys(link.source for link in listed)),
            writes=(output,),
            sql=";\n".join(dict.fromkeys(link.sql for link in listed)),
            dialect="postgres",
            source=target.local_name,
            operation=" ".join(dict.fromkeys(link.operation for link in listed)),
            completeness=Completeness.FULL,
            file_key=own,
        )
        yield job, edges


def foreign_table_diagnostic(relation: LiveRelation) -> Diagnostic | None:
    """Return the diagnostic of a foreign table whose source is not known."""
    if relation.kind is not RelationKind.FOREIGN or _remote_table(relation) is not None:
        return None
    server = relation.server
    where = f"the server {server.name} ({server.wrapper})" if server is not None else "an unknown server"
    return Diagnostic(
        DiagnosticCode.NOT_FOLLOWED,
        Severity.WARNING,
        f"{relation.local_name} is a foreign table: its data is on {where}, and is not followed",
        hint="lineage into it can be stated by OpenLineage events, or by hand",
    )


def _remote_table(relation: LiveRelation) -> DatasetRecord | None:
    """Return the table of another PostgreSQL that postgres_fdw reads; None if it is not known.

    https://www.postgresql.org/docs/current/postgres-fdw.html
    """
    server = relation.server
    if server is None or server.wrapper != "postgres_fdw":
        return None
    options = server.options
    host, database = options.get("host"), options.get("dbname")
    if not host or not database or "," in host or host.startswith("/"):
        return None
    namespace = normal_namespace(f"postgres://{host}:{options.get('port', _DEFAULT_PORT)}")
    schema, name = options.get("schema_name", relation.schema), options.get("table_name", relation.name)
    columns = (column_text(column.remote or column.name) for column in relation.columns)
    return DatasetRecord(
        namespace,
        format_name([database, schema, name]),
        dialect="postgres",
        columns=tuple(ColumnRecord(str(path), None, None, inferred=True) for path in columns),
    )


def _name(relation: LiveRelation) -> str:
    return f"{quoted(relation.schema)}.{quoted(relation.name)}"
