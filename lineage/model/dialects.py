"""The SQL dialects, by name."""

from __future__ import annotations

import difflib
from dataclasses import replace

from lineage.model.dialect import Dialect, ExpressionText, Folding

__all__ = ["DIALECTS", "UnknownDialectError", "dialect_named"]

_LOWER, _LOWER_ASCII, _UPPER, _KEEP = Folding.LOWER, Folding.LOWER_ASCII, Folding.UPPER, Folding.KEEP


class UnknownDialectError(ValueError):
    """An unknown dialect; the message suggests the nearest name."""


_ANSI = Dialect(
    "ansi",
    one_row_tables=("sysibm.sysdummy1", "sysibm.dual"),  # Db2
    quoted_table=_KEEP,
    quoted_column=_KEEP,
    aliases=("",),
    rows_by_alias=True,
    arrow_reads_json=True,
    targets_by_alias=True,
    has_declare_sections=True,
)
_POSTGRES = Dialect(
    "postgres",
    default_schema="public",
    makes_rows_in_list=True,
    table=_LOWER_ASCII,
    column=_LOWER_ASCII,
    quoted_table=_KEEP,
    quoted_column=_KEEP,
    aliases=("postgresql",),
    temporary_schema=r"(?:.*\.)?pg_temp(?:_\d+)?",
    has_absolute_operator=True,
    nearest_alias_only=True,
    fields_by_call=True,
    rows_by_alias=True,
    arrow_reads_json=True,
    has_lambdas=False,
    order_by_prefers_input=True,
    describes_unnamed_columns=True,
    casts_keep_names=True,
    views_follow_renames=True,
    has_backslash_commands=True,
    has_declare_sections=True,
    search_path_string_is_name=True,
    resets_search_path=True,
    settings_in_transactions=True,
    temp_tables_without_schema=True,
)
_MATERIALIZE = replace(
    _POSTGRES,
    name="materialize",
    aliases=(),
    table=_LOWER,
    column=_LOWER,
    temporary_schema=None,
    has_backslash_commands=False,
)
_REDSHIFT = replace(
    _POSTGRES,
    name="redshift",
    aliases=(),
    table=_LOWER,
    column=_LOWER,
    quoted_table=_LOWER,
    quoted_column=_LOWER,
    order_by_prefers_input=False,
    targets_by_alias=True,
    explain_never_runs=True,
    has_backslash_escapes=True,
    use_names_database=True,
    truncate_commits=True,
    excludes_from_list=True,
)
_SNOWFLAKE = Dialect(
    "snowflake",
    one_row_tables=("DUAL",),
    drops_full_schemas=True,
    unnamed_column_text=ExpressionText.SNOWFLAKE,
    table=_UPPER,
    column=_UPPER,
    quoted_table=_KEEP,
    quoted_column=_KEEP,
    default_schema="PUBLIC",
    may_omit_schema=True,
    names_in_strings=True,
    sequences_by_column=True,
    implicit_recursive=True,
    flattens_to_six_columns=True,
    truncates_by_date_part=True,
    views_prefer_own_schema=True,
    explain_never_runs=True,
    has_backslash_escapes=True,
    set_assigns_variables=True,
    has_declare_sections=True,
    declares_behind_as=True,
    use_names_database=True,
    search_path_in_string=True,
    search_path_has_variables=True,
    ddl_commits=True,
    temp_tables_in_schemas=True,
)
_ORACLE = Dialect(
    "oracle",
    one_row_tables=("DUAL", "*.DUAL"),  # the synonym of each schema
    pivot_names_quote_strings=True,
    table=_UPPER,
    column=_UPPER,
    quoted_table=_KEEP,
    quoted_column=_KEEP,
    sequences_by_column=True,
    implicit_recursive=True,
    ends_units_by_slash=True,
    execute_calls_procedures=True,
    calls_procedures_by_name=True,
    has_ampersand_variables=True,
    set_assigns_variables=True,
    has_declare_sections=True,
    routines_begin_with_declarations=True,
    triggers_prefix_rows=True,
    implicit_transactions=True,
    ddl_commits=True,
)
_EXASOL = Dialect(
    "exasol",
    one_row_tables=("DUAL", "SYS.DUAL"),
    table=_UPPER,
    column=_UPPER,
    quoted_table=_KEEP,
    quoted_column=_KEEP,
    sequences_by_column=True,
    has_declare_sections=True,
    routines_begin_with_declarations=True,
    implicit_transactions=True,
    ddl_commits=True,
)
_TERADATA = Dialect(
    "teradata",
    has_column_phrases=True,
    begins_nest=True,
    table=_UPPER,
    column=_UPPER,
    quoted_table=_KEEP,
    quoted_column=_KEEP,
    targets_by_alias=True,
)
_BIGQUERY = Dialect(
    "bigquery",
    temporary_schema="_session",
    unnamed_columns_are_counted=True,
    table=_KEEP,
    quoted_table=_KEEP,
    shows_columns=True,
    quotes_whole_paths=True,
    has_table_decorators=True,
    fields_by_dot=True,
    rows_by_alias=True,
    unnests_rows=True,
    has_backslash_escapes=True,
    set_assigns_variables=True,
    temp_tables_without_schema=True,
)
_MYSQL = Dialect(
    "mysql",
    one_row_tables=("DUAL",),
    one_row_table_is_keyword=True,
    drops_full_schemas=True,
    unnamed_column_text=ExpressionText.MYSQL,
    table=_KEEP,
    quoted_table=_KEEP,
    aliases=("mariadb", "singlestore", "memsql"),
    shows_columns=True,
    arrow_reads_json=True,
    has_lambdas=False,
    replace_is_insert=True,
    targets_by_alias=True,
    create_as_adds_columns=True,
    has_at_variables=True,
    has_backslash_escapes=True,
    set_assigns_variables=True,
    select_into_variables=True,
    ddl_commits=True,
    begin_commits=True,
    temp_ddl_stays=True,
    temp_tables_in_schemas=True,
    runs_comments=True,
)
_DORIS = replace(
    _MYSQL,
    name="doris",
    aliases=(),
    runs_comments=False,
    unnamed_column_text=None,
    has_lambdas=True,
    create_as_adds_columns=False,
    has_at_variables=False,
    temp_tables_in_schemas=False,
)
_CLICKHOUSE = Dialect(
    "clickhouse",
    one_row_tables=("system.one",),
    drops_full_schemas=True,
    unnamed_column_text=ExpressionText.CLICKHOUSE,
    table=_KEEP,
    column=_KEEP,
    quoted_table=_KEEP,
    quoted_column=_KEEP,
    fields_by_dot=True,
    with_names_values=True,
    in_names_tables=True,
    functions_read_tables=True,
    has_column_patterns=True,
    tuples_have_fields=True,
    inserts_into_functions=True,
    defaults_read_columns=True,
    explain_never_runs=True,
    has_backslash_escapes=True,
    temp_tables_without_schema=True,
)
_HIVE = Dialect(
    "hive",
    has_transform_scripts=True,
    fields_by_dot=True,
    unnamed_column_prefix="_c",
    stars_count_once=True,
    casts_keep_table_names=True,
    values_columns=("col", 1),
    exploded_columns=("pos", "val"),
    created_column_prefix="c",
    exchange_moves_partition=True,
    explain_never_runs=True,
    has_backslash_escapes=True,
    temp_tables_in_schemas=True,
)
_SPARK = Dialect(
    "spark",
    values_columns=("col", 1),
    unnamed_column_text=ExpressionText.SPARK,
    has_transform_scripts=True,
    aliases=("sparksql", "spark2", "spark3"),
    casts_keep_names=True,
    exploded_columns=("pos", "col"),
    shows_columns=True,
    reads_files_by_format=True,
    names_in_strings=True,
    fields_by_dot=True,
    pivots_whole_joins=True,
    qualified_star_shows_merged_first=True,
    explain_never_runs=True,
    has_backslash_escapes=True,
    loops_show_columns=True,
    set_assigns_variables=True,
    temp_tables_without_schema=True,
)
_DUCKDB = Dialect(
    "duckdb",
    temporary_schema=r"temp(?:\.main)?",
    table=_LOWER_ASCII,
    column=_LOWER_ASCII,
    quoted_table=_LOWER_ASCII,
    quoted_column=_LOWER_ASCII,
    unnamed_column_text=ExpressionText.DUCKDB,
    unnests_structs=True,
    shows_tables=True,
    shows_columns=True,
    reads_files_by_string=True,
    has_lambda_keyword=True,
    functions_are_macros=True,
    schema_of_attached="main",
    fields_by_dot=True,
    rows_by_alias=True,
    arrow_reads_json=True,
    order_by_prefers_input=True,
    bare_keys_hide_aliases=True,
    chains_functions=True,
    repeated_column_mark="_",
    values_columns=("col", 0),
    using_keeps_positions=True,
    implicit_lateral=True,
    pivots_whole_joins=True,
    views_prefer_own_schema=True,
    set_assigns_variables=True,
    search_path_in_string=True,
    resets_search_path=True,
    temp_tables_without_schema=True,
)
_TRINO = Dialect(
    "trino",
    aliases=("dune",),
    fields_by_dot=True,
    unnests_fields=True,
    set_assigns_variables=True,
    unnamed_column_prefix="_col",
    values_columns=("_col", 0),
)
_PRESTO = Dialect(
    "presto",
    fields_by_dot=True,
    unnests_fields=True,
    unnamed_column_prefix="_col",
    values_columns=("_col", 0),
)
_SQLITE = Dialect(
    "sqlite",
    temporary_schema="temp",
    table=_LOWER_ASCII,
    column=_LOWER_ASCII,
    quoted_table=_LOWER_ASCII,
    quoted_column=_LOWER_ASCII,
    unnamed_column_text=ExpressionText.SQLITE,
    shows_tables=True,
    shows_columns=True,
    arrow_reads_json=True,
    has_lambdas=False,
    unknown_quoted_names_are_strings=True,
    order_by_prefers_input=True,
    using_keeps_positions=True,
    repeated_column_mark=":",
    integer_key_is_row_id=True,
    bare_columns_follow_extremes=True,
    in_names_tables=True,
    implicit_recursive=True,
    replace_is_insert=True,
    explain_never_runs=True,
    temp_tables_without_schema=True,
)
_TSQL = Dialect(
    "tsql",
    begins_nest=True,
    aliases=("mssql", "sqlserver", "synapse"),
    shows_tables=True,
    shows_columns=True,
    default_schema="dbo",
    may_omit_schema=True,
    order_by_prefers_input=True,
    implicit_recursive=True,
    strings_name_columns=True,
    has_type_methods=True,
    has_table_hints=True,
    has_output_clause=True,
    has_compound_assignment=True,
    targets_by_alias=True,
    aliases_target_in_from=True,
    targets_by_query=True,
    needs_no_semicolon=True,
    execute_calls_procedures=True,
    has_at_variables=True,
    use_names_database=True,
)
_DRILL = Dialect("drill", shows_tables=True, shows_columns=True, fields_by_dot=True)

DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        _ANSI,
        _POSTGRES,
        _MATERIALIZE,
        replace(_MATERIALIZE, name="risingwave"),
        _REDSHIFT,
        _SNOWFLAKE,
        _ORACLE,
        _EXASOL,
        _TERADATA,
        _BIGQUERY,
        _MYSQL,
        _DORIS,
        replace(_DORIS, name="starrocks"),
        _CLICKHOUSE,
        _HIVE,
        _SPARK,
        replace(_SPARK, name="databricks", aliases=()),
        _DUCKDB,
        _TRINO,
        _PRESTO,
        replace(_PRESTO, name="athena", has_two_grammars=True),
        _SQLITE,
        _TSQL,
        replace(_TSQL, name="fabric", aliases=()),
        _DRILL,
        Dialect("dremio", shows_tables=True, shows_columns=True),
    )
}

_BY_NAME = {alias: dialect for dialect in DIALECTS.values() for alias in (dialect.name, *dialect.aliases)}


def dialect_named(name: str | Dialect) -> Dialect:
    """Return the dialect with this name or alias, ignoring case.

    >>> dialect_named("PostgreSQL").name
    'postgres'
    >>> dialect_named("postgras")
    Traceback (most recent call last):
    ...
    lineage.model.dialects.UnknownDialectError: unknown dialect 'postgras'; did you mean 'postgres'?

    Raises:
        UnknownDialectError: no dialect has that name.
    """
    if isinstance(name, Dialect):
        return name
    found = _BY_NAME.get(name.strip().lower())
    if found is not None:
        return found
    near = difflib.get_close_matches(name.lower(), _BY_NAME, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "known are " + ", ".join(sorted(DIALECTS))
    raise UnknownDialectError(f"unknown dialect {name!r}; {hint}")
