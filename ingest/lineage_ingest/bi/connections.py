"""Connections of a dashboard tool to databases, and how their tables are named in the graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace

from lineage.frozen import frozen
from lineage.model.dialects import DIALECTS, UnknownDialectError, dialect_named
from lineage.model.names import Naming
from lineage_ingest.options import OptionError

__all__ = ["WITH_CATALOG", "BiConnection", "ConnectionMap", "default_schema", "dialect_of_engine", "naming_of",
           "server_namespace"]  # fmt: skip

_ENGINES = {
    "postgresql": "postgres", "cockroachdb": "postgres", "alloydb_postgres": "postgres", "greenplum": "postgres",
    "sqlserver": "tsql", "mssql": "tsql", "azure-sql-dw": "tsql", "mysql": "mysql", "mariadb": "mysql",
    "bigquery-cloud-sdk": "bigquery", "bigquery_standard_sql": "bigquery", "google-bigquery": "bigquery",
    "sparksql": "spark", "hive": "hive", "presto-jdbc": "presto", "prestodb": "presto", "starburst": "trino",
    "awsathena": "athena", "amazon-athena": "athena", "clickhousedb": "clickhouse", "h2": "ansi",
    "databricks_sql": "databricks", "spark-sql": "spark", "teradatasql": "teradata",
    "motherduck": "duckdb", "exa": "exasol",
}  # fmt: skip
"""Names by which tools call a database whose dialect has another name here."""
WITH_CATALOG = frozenset(("snowflake", "databricks", "trino", "presto", "athena", "bigquery", "tsql"))
"""Dialects of servers in which a schema is in one of several databases: names of tables have three parts."""


def dialect_of_engine(engine: str | None) -> str | None:
    """Return the dialect of a database by the name that a tool gives it; None if it is not known.

    >>> dialect_of_engine("bigquery-cloud-sdk"), dialect_of_engine("postgresql+psycopg2"), dialect_of_engine("mongo")
    ('bigquery', 'postgres', None)
    """
    plain = (engine or "").lower().partition("+")[0].strip()
    name = _ENGINES.get(plain, plain)
    try:
        return dialect_named(name).name if name else None
    except UnknownDialectError:
        return None


def server_namespace(dialect: str | None, host: str, port: object = None) -> str:
    """Return the namespace of a server's datasets, as OpenLineage names it; an empty one if it is not known.

    >>> server_namespace("tsql", "db", 1433), server_namespace("snowflake", "acme.snowflakecomputing.com")
    ('mssql://db:1433', 'snowflake://acme')
    >>> server_namespace("bigquery", ""), server_namespace("ansi", "db"), server_namespace("tsql", "tcp:db,1444")
    ('bigquery', '', 'mssql://db:1444')
    """
    if dialect == "bigquery":
        return "bigquery"
    if not host or dialect in (None, "ansi"):
        return ""
    if dialect == "snowflake":
        return f"snowflake://{host.removesuffix('.snowflakecomputing.com')}"
    if dialect == "tsql":  # its clients write the port behind a comma
        host, comma, own_port = host.removeprefix("tcp:").partition(",")
        port = own_port.strip() if comma else port
    scheme = "mssql" if dialect == "tsql" else dialect
    return f"{scheme}://{host}:{port}" if port else f"{scheme}://{host}"


def default_schema(dialect: str | None) -> str | None:
    """Return the schema of names without one, where a connection of this dialect names none."""
    return DIALECTS[dialect].default_schema if dialect in DIALECTS else None


@frozen
class BiConnection:
    """A database as the tool knows it: by its name or id, with what the export says of it.

    `names` are all its names, the first for messages. `namespace` is that of its datasets.
    """

    names: tuple[str, ...]
    dialect: str = "ansi"
    namespace: str = ""
    database: str | None = None
    schema: str | None = None
    is_known: bool = True
    """The export or an option says which SQL it speaks."""


def naming_of(connection: BiConnection) -> Naming:
    """Return how names in SQL of the connection are completed."""
    dialect = dialect_named(connection.dialect)
    database, schema = (
        str(dialect.fold_table(part)) if part else None for part in (connection.database, connection.schema)
    )
    return Naming(dialect, connection.namespace, database, schema)


@frozen
class ConnectionMap:
    """What options say of connections: by name, and for all others."""

    by_name: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    default: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, given: Iterable[str], default: Mapping[str, str | None]) -> ConnectionMap:
        """Return the map of texts `NAME=NAMESPACE[,dialect=…][,database=…][,schema=…]`.

        >>> ConnectionMap.parse(["2=postgres://db:5432,schema=mart"], {}).by_name
        {'2': {'namespace': 'postgres://db:5432', 'schema': 'mart'}}

        Raises:
            OptionError: one has another form.
        """
        found: dict[str, Mapping[str, str]] = {}
        for text in given:
            name, equals, rest = text.partition("=")
            if not name.strip() or not equals:
                raise OptionError(f"expected NAME=NAMESPACE[,KEY=VALUE…], got {text!r}", "connection")
            found[name.strip().casefold()] = _parse_facts(rest)
        return cls(found, {key: value for key, value in default.items() if value})

    def apply(self, connection: BiConnection) -> BiConnection:
        """Return the connection with what the options say of it; they override the export."""
        own = next((self.by_name[name.casefold()] for name in connection.names if name.casefold() in self.by_name), {})
        facts = {**self.default, **own}
        if not facts:
            return connection
        return replace(
            connection,
            dialect=facts.get("dialect", connection.dialect),
            namespace=facts.get("namespace", connection.namespace),
            database=facts.get("database", connection.database),
            schema=facts.get("schema", connection.schema),
            is_known=connection.is_known or "dialect" in facts,
        )


def _parse_facts(text: str) -> Mapping[str, str]:
    facts: dict[str, str] = {}
    for number, part in enumerate(text.split(",")):
        key, equals, value = (one.strip() for one in part.partition("="))
        if number == 0 and key not in _FACTS:
            if part.strip():
                facts["namespace"] = part.strip()
        elif key in _FACTS and equals and value:
            facts[key] = value
        else:
            raise OptionError(f"expected one of {', '.join(_FACTS)} with a value, got {part!r}", "connection")
    if "dialect" in facts:
        try:
            facts["dialect"] = dialect_named(facts["dialect"]).name
        except UnknownDialectError as error:
            raise OptionError(str(error), "connection") from error
    return facts


_FACTS = ("namespace", "dialect", "database", "schema")
