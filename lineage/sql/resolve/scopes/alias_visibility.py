"""Where the aliases of a select list are visible in their own query block, dialect by dialect.

In every dialect, an unqualified name in ORDER BY is an output column first; this module covers all other clauses.
"""

from __future__ import annotations

from enum import Enum, auto

from lineage.frozen import frozen

__all__ = ["AliasVisibility", "Clause", "alias_visibility"]


class Clause(Enum):
    """The clause being resolved, where it matters for whether a name can be an alias."""

    SELECT = auto()
    """The select list, HAVING or ORDER BY: a name may be a column or an alias."""
    ROWS = auto()
    """WHERE or GROUP BY, which are evaluated before aggregates and window functions."""
    QUALIFY = auto()
    """QUALIFY, which filters by the results of window functions, usually by alias."""
    KEY = auto()
    """A GROUP BY key whose alias is computed from columns that are not keys, and so have no single value a group."""


@frozen
class AliasVisibility:
    """Which clauses see an alias. A column of FROM hides it there, unless `before_columns`."""

    source: str
    """The documentation page this is taken from."""
    is_known: bool = True
    """Whether this is what one dialect does; else another one may see aliases elsewhere, too."""
    select_list: bool = False
    """Later items of the select list (lateral column aliases), and the keys of their windows."""
    where: bool = False
    on: bool = False
    """The condition of a join."""
    group_by: bool = False
    """The alias alone as a key, `GROUP BY a`."""
    group_by_expression: bool = False
    """The alias inside an expression, `GROUP BY a + 1`."""
    having: bool = False
    qualify: bool = False
    order_by_expression: bool = False
    """The alias inside an ORDER BY expression; a key that is only the name is the alias in every dialect."""
    before_columns: bool = False
    """An alias hides a FROM column of the same name; otherwise the column hides the alias."""


_NONE = AliasVisibility("SQL:2016, 7.16 <query specification> and 7.17: only ORDER BY sees output columns")
_LENIENT = AliasVisibility(
    "not a single dialect: what most dialects allow in the clauses after the select list",
    is_known=False,
    group_by=True,
    group_by_expression=True,
    having=True,
    qualify=True,
    order_by_expression=True,
)
_POSTGRES = AliasVisibility("https://www.postgresql.org/docs/current/sql-select.html#SQL-GROUPBY", group_by=True)
_MYSQL = AliasVisibility(
    "https://dev.mysql.com/doc/refman/8.4/en/problems-with-alias.html",
    group_by=True,
    group_by_expression=True,
    having=True,
    order_by_expression=True,
)
_SPARK = AliasVisibility(
    "https://docs.databricks.com/sql/language-manual/sql-ref-name-resolution.html",
    select_list=True,
    group_by=True,
    group_by_expression=True,
    having=True,
    qualify=True,
    order_by_expression=True,
)
_TRINO = AliasVisibility("https://trino.io/docs/current/sql/select.html#order-by-clause", order_by_expression=True)
_CALCITE = AliasVisibility(
    "https://docs.dremio.com/current/reference/sql/commands/SELECT/",
    group_by=True,
    having=True,
    qualify=True,
    order_by_expression=True,
)

_VISIBILITY: dict[str, AliasVisibility] = {
    "ansi": _LENIENT,
    "postgres": _POSTGRES,
    "materialize": _POSTGRES,
    "risingwave": _POSTGRES,
    "redshift": AliasVisibility(
        "https://docs.aws.amazon.com/redshift/latest/dg/r_SELECT_list.html",
        select_list=True,
        group_by=True,
        qualify=True,
    ),
    "snowflake": AliasVisibility(
        "https://docs.snowflake.com/en/sql-reference/sql/select",
        select_list=True,
        where=True,
        on=True,
        group_by=True,
        group_by_expression=True,
        having=True,
        qualify=True,
        order_by_expression=True,
    ),
    "bigquery": AliasVisibility(
        "https://cloud.google.com/bigquery/docs/reference/standard-sql/query-syntax#using_aliases",
        group_by=True,
        having=True,
        qualify=True,
        order_by_expression=True,
    ),
    "duckdb": AliasVisibility(
        "https://duckdb.org/docs/stable/sql/dialect/friendly_sql.html",
        select_list=True,
        where=True,
        group_by=True,
        having=True,
        qualify=True,
        order_by_expression=True,
    ),
    "clickhouse": AliasVisibility(
        "https://clickhouse.com/docs/operations/settings/settings#prefer_column_name_to_alias",
        select_list=True,
        where=True,
        group_by=True,
        group_by_expression=True,
        having=True,
        qualify=True,
        order_by_expression=True,
        before_columns=True,
    ),
    "sqlite": AliasVisibility(
        "https://www.sqlite.org/lang_select.html",
        where=True,
        group_by=True,
        group_by_expression=True,
        having=True,
        order_by_expression=True,
    ),
    "teradata": AliasVisibility(
        "https://docs.teradata.com/r/Enterprise_IntelliFlex_VMware/SQL-Data-Manipulation-Language/SELECT-Statements",
        select_list=True,
        where=True,
        group_by=True,
        group_by_expression=True,
        having=True,
        qualify=True,
        order_by_expression=True,
    ),
    "mysql": _MYSQL,
    "doris": _MYSQL,
    "starrocks": _MYSQL,
    "spark": _SPARK,
    "databricks": _SPARK,
    "hive": AliasVisibility(
        "https://cwiki.apache.org/confluence/display/Hive/LanguageManual+GroupBy",
        having=True,
        order_by_expression=True,
    ),
    "oracle": AliasVisibility(
        "https://docs.oracle.com/en/database/oracle/oracle-database/23/sqlrf/SELECT.html",
        group_by=True,
        having=True,
    ),
    "exasol": AliasVisibility("https://docs.exasol.com/db/latest/sql/select.htm", group_by=True, having=True),
    "trino": _TRINO,
    "presto": _TRINO,
    "athena": _TRINO,
    "drill": _CALCITE,
    "dremio": _CALCITE,
    "tsql": _NONE,
    "fabric": _NONE,
}


def alias_visibility(dialect: str) -> AliasVisibility:
    """Return where the aliases of a select list are visible in a dialect, given by name."""
    return _VISIBILITY.get(dialect, _LENIENT)
