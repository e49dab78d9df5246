"""What an M query reads: a table of a database, or SQL that it sends there.

https://learn.microsoft.com/en-us/powerquery-m/accessing-data-functions
"""

from __future__ import annotations

from lineage.frozen import frozen
from lineage_ingest.bi.powerbi.m_steps import MSteps, called, navigation_of
from lineage_ingest.bi.powerbi.m_text import record_fields

__all__ = ["DATABASES", "MSource", "source_of"]

DATABASES = {
    "Sql.Database": "tsql", "Sql.Databases": "tsql", "PostgreSQL.Database": "postgres", "MySQL.Database": "mysql",
    "Oracle.Database": "oracle", "Snowflake.Databases": "snowflake", "GoogleBigQuery.Database": "bigquery",
    "AmazonRedshift.Database": "redshift", "Databricks.Catalogs": "databricks", "Databricks.Query": "databricks",
    "DatabricksMultiCloud.Catalogs": "databricks", "DatabricksMultiCloud.Query": "databricks",
    "Teradata.Database": "teradata", "DB2.Database": "ansi", "Odbc.DataSource": "ansi", "Odbc.Query": "ansi",
    "OleDb.Query": "ansi", "AzureDataExplorer.Contents": "ansi", "AmazonAthena.Databases": "athena",
}  # fmt: skip
"""Dialects of databases, by the functions that open them."""
_WITH_SQL = ("Odbc.Query", "OleDb.Query", "Databricks.Query", "DatabricksMultiCloud.Query")
"""Functions whose second argument is SQL, and not a database."""
_WITHOUT_DATABASE = (
    "Snowflake.Databases", "Databricks.Catalogs", "Sql.Databases", "AmazonAthena.Databases", "GoogleBigQuery.Database",
    "DatabricksMultiCloud.Catalogs",
)  # fmt: skip
"""Functions whose second argument is no database: it is chosen among what they return."""
_MAX_DEPTH = 200


@frozen
class MSource:
    """What a query reads: the dialect and address of a database, and a table's name or SQL."""

    dialect: str
    server: str = ""
    database: str = ""
    parts: tuple[str, ...] = ()
    sql: str = ""

    def is_beside(self, other: MSource) -> bool:
        """Return whether one query of SQL can read both."""
        return (self.dialect, self.server, self.database) == (other.dialect, other.server, other.database)


def source_of(steps: MSteps, query: str, expression: str) -> MSource | None:
    """Return what an expression of a query reads; None if that is no database."""
    names: list[str] = []
    sql = ""
    for _ in range(_MAX_DEPTH):
        while (navigation := navigation_of(expression)) is not None:
            keys = record_fields(f"[{navigation.keys}]")
            own = [steps.value(query, keys[key]) for key in ("Schema", "Item", "Name") if key in keys]
            names = [one for one in own if one] + names
            expression = navigation.source
        function, arguments = called(expression)
        if function == "Value.NativeQuery" and len(arguments) > 1:
            sql = sql or steps.sql_text(query, arguments[1])
        if function in DATABASES:
            return _database(steps, query, function, arguments, names, sql)
        following = steps.previous(query, expression)
        if following is None:
            return None
        query, expression = following
    return None


def _database(steps: MSteps, query: str, function: str, arguments: list[str], names: list[str], sql: str) -> MSource:
    plain = [one for one in arguments if not one.strip().startswith("[")]
    holds_sql = function in _WITH_SQL
    values = [
        steps.sql_text(query, one) if number == 1 and holds_sql else steps.value(query, one)
        for number, one in enumerate(plain)
    ]
    for one in arguments:
        if one.strip().startswith("["):
            sql = sql or steps.sql_text(query, record_fields(one).get("Query", ""))
    server, database = [*values, "", ""][:2]
    if holds_sql:
        sql, database = sql or database, ""
    if function in _WITHOUT_DATABASE:  # SQL is sent to the one that is chosen
        database = names[0] if sql and names else ""
    return MSource(DATABASES[function], server, database, tuple(names), sql)
