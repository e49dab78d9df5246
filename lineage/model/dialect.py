"""What a SQL dialect is: its name, and the differences between dialects that affect lineage.

Lexical facts (quotes, comments, strings) are in `lineage/sql/scan/facts.txt`, which the native scanner reads too;
parsing is sqlglot's.
"""

from __future__ import annotations

from enum import StrEnum

from lineage.frozen import frozen
from lineage.model.spelling import Spelled

__all__ = ["Dialect", "ExpressionText", "Folding"]

_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


class Folding(StrEnum):
    """How a dialect folds the case of a name before it compares it."""

    LOWER = "lower"
    LOWER_ASCII = "lower_ascii"
    """The letters A to Z only: `Ä` stays `Ä`."""
    UPPER = "upper"
    KEEP = "keep"

    def apply(self, text: str) -> str:
        """Return `text` as the dialect would compare it.

        >>> Folding.UPPER.apply("Amount"), Folding.LOWER_ASCII.apply("Änderung"), Folding.LOWER.apply("Änderung")
        ('AMOUNT', 'Änderung', 'änderung')
        """
        if self is Folding.LOWER or (self is Folding.LOWER_ASCII and text.isascii()):
            return text.lower()
        if self is Folding.LOWER_ASCII:
            return text.translate(_ASCII_LOWER)
        return text.upper() if self is Folding.UPPER else text


class ExpressionText(StrEnum):
    """Whose text of an expression is the name of a column without an alias."""

    CLICKHOUSE = "clickhouse"
    """`plus(a, 1)`, `count()`: the names of columns in a result."""
    DUCKDB = "duckdb"
    """`(a + 1)`, `count_star()`, `CAST(a AS INTEGER)`."""
    MYSQL = "mysql"
    """The text as written; of a string its value; NULL, TRUE and FALSE in upper case.
    https://mariadb.com/kb/en/identifier-names/"""
    SNOWFLAKE = "snowflake"
    """The text as written, in upper case: https://docs.snowflake.com/en/sql-reference/functions/concat"""
    SPARK = "spark"
    """`(a + 1)`, `count(1)`, `sum(CAST(a AS INT))`."""
    SQLITE = "sqlite"
    """The text as written: https://www.sqlite.org/c3ref/column_name.html"""


@frozen
class Dialect:
    """A dialect's name, its rules for the case of identifiers, and the facts in which it differs from others.

    Sources for the case of identifiers: the vendors' pages on them. PostgreSQL folds unquoted names to lower case and
    keeps quoted ones; Snowflake and Oracle fold to upper case; BigQuery's tables keep their case, its columns do not;
    MySQL's tables keep their case on Linux, its columns do not; the others compare without case, quoted or not.
    PostgreSQL (downcase_identifier in scansup.c), DuckDB and SQLite (https://www.sqlite.org/c3ref/stricmp.html) fold
    the letters A to Z only.
    """

    name: str
    table: Folding = Folding.LOWER
    column: Folding = Folding.LOWER
    quoted_table: Folding = Folding.LOWER
    quoted_column: Folding = Folding.LOWER
    aliases: tuple[str, ...] = ()

    # Names of tables
    shows_tables: bool = False
    """The product displays a table's name as written, though it compares names without case (T-SQL, DuckDB).
    PostgreSQL, Snowflake, Hive and Trino display the folded name."""
    shows_columns: bool = False
    """The same for columns: T-SQL, BigQuery, MySQL, DuckDB; the catalogs of Spark and Databricks."""
    default_schema: str | None = None
    """The schema of names without one, where a connection names none."""
    may_omit_schema: bool = False
    """`db..t` is in the default schema (T-SQL: names of objects; Snowflake: resolving them)."""
    schema_of_attached: str | None = None
    """The schema of `db.t`, where db is an attached database (DuckDB)."""
    temporary_schema: str | None = None
    """A regular expression for the qualifiers of the session's temporary tables: PostgreSQL's `pg_temp` (20.11,
    search_path), DuckDB's and SQLite's database `temp`, BigQuery's `_SESSION`."""
    quotes_whole_paths: bool = False
    """One pair of quotes may enclose all parts of a name: `` `project.dataset.table` ``."""
    has_table_decorators: bool = False
    """`t$20230101` and `t@-3600000` are a partition and a snapshot of t, `t_*` a wildcard over its date shards."""
    reads_files_by_string: bool = False
    """`FROM 'a.parquet'` reads a file: https://duckdb.org/docs/stable/data/overview"""
    reads_files_by_format: bool = False
    """`` FROM parquet.`/a` `` reads a file: https://spark.apache.org/docs/latest/sql-data-sources-load-save-functions.html"""
    names_in_strings: bool = False
    """`IDENTIFIER('t')` and `TABLE('t')` name a table by a string."""

    one_row_tables: tuple[str, ...] = ()
    """Tables of one row without data, as the dialect folds their names; `*` is any schema."""
    one_row_table_is_keyword: bool = False
    """Such a name is a keyword; in quotes, it is another table (MySQL)."""

    has_two_grammars: bool = False
    """DDL is Hive's, the rest Trino's, so that quotes differ between statements (Athena)."""

    # Names of columns in a query
    nearest_alias_only: bool = False
    """An alias hides an outer one of the same name, also for columns that its own table does not have."""
    fields_by_dot: bool = False
    """`a.b` is the field b of a column a where no table or alias is called a."""
    fields_by_call: bool = False
    """`b(t)` is the column t.b: https://www.postgresql.org/docs/current/rowtypes.html#ROWTYPES-USAGE"""
    sequences_by_column: bool = False
    """`s.nextval` is the next number of the sequence s, so it has no source column."""
    rows_by_alias: bool = False
    """A table's alias without a column is its row as a value."""
    arrow_reads_json: bool = False
    """`a -> 'k'` reads a JSON document a, also as an argument: https://www.postgresql.org/docs/current/functions-json.html"""
    has_lambdas: bool = True
    """`x -> x + 1` as an argument is a function."""
    has_lambda_keyword: bool = False
    """`lambda x: x + 1` as an argument is a function (DuckDB)."""
    has_absolute_operator: bool = False
    """`@ x` is the absolute value of x: https://www.postgresql.org/docs/current/functions-math.html"""
    unknown_quoted_names_are_strings: bool = False
    """A name in double quotes that is not a column is a string (https://sqlite.org/quirks.html, 8)."""
    order_by_prefers_input: bool = False
    """A name inside an expression of ORDER BY refers to a column of FROM before one of the select list."""
    bare_keys_hide_aliases: bool = False
    """In HAVING, n in `n + 0` is the alias even with `GROUP BY n + 0`; only a bare `GROUP BY n` hides it (DuckDB)."""
    integer_key_is_row_id: bool = False
    """A column declared `INTEGER PRIMARY KEY` is another name of the row's number (SQLite)."""
    in_names_tables: bool = False
    """`x IN t` reads the table t: https://sqlite.org/lang_expr.html#the_in_and_not_in_operators,
    https://clickhouse.com/docs/sql-reference/operators/in"""
    bare_columns_follow_extremes: bool = False
    """Beside `max(x)`, a column that is neither aggregated nor a key of GROUP BY is of the row with the largest x."""
    repeated_column_mark: str | None = None
    """Repeated column names in a derived table or a stored query get this mark and a number from the second on:
    DuckDB's `a_1`, SQLite's `a:1` (sqlite3ColumnsFromExprList)."""
    using_keeps_positions: bool = False
    """`*` returns the columns merged by USING at their position in the left side (DuckDB, SQLite); SQL:2016 7.10 puts
    them first."""
    qualified_star_shows_merged_first: bool = False
    """`t.*` returns the columns that USING compares before the others (Spark)."""
    unnamed_column_prefix: str | None = None
    """An expression without an alias is named by this prefix and its position in the output, from 0: Trino's `_col0`
    (LogicalPlanner.createOutputPlan)."""
    stars_count_once: bool = False
    """That position is the one in the select list, where a star is one place: Hive's `_c0`
    (SemanticAnalyzer.getColAlias)."""
    values_columns: tuple[str, int] = ("column", 1)
    """The columns of VALUES without an alias: a prefix, and the first number. DuckDB and MySQL count from 0, Spark's
    are `col1` (AstBuilder.visitInlineTable), Trino's `_col0`."""
    created_column_prefix: str | None = None
    """That prefix in a table made by CREATE TABLE AS from other tables (Hive: `c0`)."""
    exploded_columns: tuple[str, str] | None = None
    """Names of `posexplode(a)` in a select list without aliases; `explode(a)` has only the second of Spark's, `col`."""
    casts_keep_names: bool = False
    """`CAST(a AS INT)` without an alias is called a (PostgreSQL: FigureColname; Spark: ResolveAliases)."""
    casts_keep_table_names: bool = False
    """Likewise, if a is a column of the only table in FROM, and no column before it has the name (Hive:
    SemanticAnalyzer.recommendName; columns of joins, groups and sub-queries have internal names there)."""
    unnamed_columns_are_counted: bool = False
    """Expressions without an alias are called `f0_`, `f1_` and so on, others not counted (BigQuery)."""
    describes_unnamed_columns: bool = False
    """An expression without an alias is named after its function or type (PostgreSQL: `case`, `coalesce`, `max`)."""

    unnamed_column_text: ExpressionText | None = None
    """An expression without an alias is named by its text, as this engine writes it. In the names here, literals are
    masked: `(a + ?)`."""

    # Queries
    has_transform_scripts: bool = False
    """`MAP a USING 'x' AS k`, REDUCE and TRANSFORM run a script over the rows (Hive, Spark)."""
    implicit_lateral: bool = False
    """A derived table sees the items before it without LATERAL: https://duckdb.org/docs/stable/sql/query_syntax/from"""
    implicit_recursive: bool = False
    """A CTE may read itself without RECURSIVE; in other dialects its name then refers to the table outside."""
    with_names_values: bool = False
    """`WITH expression AS name` names a value: https://clickhouse.com/docs/sql-reference/statements/select/with"""
    pivot_names_quote_strings: bool = False
    """PIVOT calls the column of `'a'` without an alias `'a'`, with the quotes (Oracle)."""
    pivots_whole_joins: bool = False
    """PIVOT behind `a NATURAL JOIN b` or `a CROSS JOIN b` pivots the join, not b."""
    makes_rows_in_list: bool = False
    """Functions that return several rows may be in the select list, and make rows there."""
    unnests_rows: bool = False
    """`UNNEST(array)` in FROM returns the fields of the array's structs, and its alias is the element (BigQuery)."""
    unnests_structs: bool = False
    """`SELECT unnest(struct)` returns a column for each field (DuckDB)."""
    unnests_fields: bool = False
    """`UNNEST(array of rows)` in FROM returns a column for each field (Trino)."""
    flattens_to_six_columns: bool = False
    """FLATTEN returns SEQ, KEY, PATH, INDEX, VALUE and THIS: https://docs.snowflake.com/en/sql-reference/functions/flatten"""
    functions_read_tables: bool = False
    """`remote(…)`, `cluster(…)`, `mysql(…)` and the like in FROM name a table: https://clickhouse.com/docs/sql-reference/table-functions"""
    chains_functions: bool = False
    """`name.upper()` calls a function on the column: DuckDB, Function Chaining via the Dot Operator."""
    has_column_patterns: bool = False
    """`COLUMNS('pattern')` selects several columns (ClickHouse)."""
    tuples_have_fields: bool = False
    """A tuple's fields have names or numbers: `(a, b).2` is b (ClickHouse)."""
    excludes_from_list: bool = False
    """EXCLUDE stands after the select list, and applies to all of it: https://docs.aws.amazon.com/redshift/latest/dg/r_EXCLUDE_list.html"""
    strings_name_columns: bool = False
    """`SELECT 'a' = b` names the column: https://learn.microsoft.com/en-us/sql/t-sql/queries/select-clause-transact-sql"""
    has_type_methods: bool = False
    """Values of xml, hierarchyid and geography have methods: `t.doc.value('…', 'int')` (T-SQL)."""
    has_column_phrases: bool = False
    """`a (TITLE 'x')` and `a (NAMED b)` say how a column is shown and called (Teradata)."""
    truncates_by_date_part: bool = False
    """The last argument of TRUNC is the scale of a number, or a part of a date (Snowflake)."""

    # Statements that write
    replace_is_insert: bool = False
    """`REPLACE INTO t` is an INSERT for lineage."""
    has_table_hints: bool = False
    """`INSERT INTO t WITH (TABLOCK)`: https://learn.microsoft.com/en-us/sql/t-sql/queries/hints-transact-sql-table"""
    has_output_clause: bool = False
    """`OUTPUT inserted.a INTO t` is a part of INSERT, UPDATE, DELETE and MERGE (T-SQL)."""
    has_compound_assignment: bool = False
    """`SET a += b` is `SET a = a + b`."""
    defaults_read_columns: bool = False
    """`c INT DEFAULT a + b` is computed from other columns of the row: https://clickhouse.com/docs/sql-reference/statements/create/table#default_values"""
    inserts_into_functions: bool = False
    """`INSERT INTO FUNCTION remote(…)`, with FORMAT or FROM INFILE: https://clickhouse.com/docs/sql-reference/statements/insert-into"""
    exchange_moves_partition: bool = False
    """EXCHANGE PARTITION moves the partition out of the other table and returns none (Hive)."""
    targets_by_alias: bool = False
    """The target of UPDATE and DELETE may be the alias or name of a table in FROM."""
    aliases_target_in_from: bool = False
    """FROM may give the target an alias: `UPDATE t SET a = e.b FROM t AS e` (T-SQL)."""
    targets_by_query: bool = False
    """The target of UPDATE and DELETE may be the alias of a derived table in FROM; they change its base table."""
    views_prefer_own_schema: bool = False
    """An unqualified name in a view refers first to a table in the view's schema. DuckDB does this (tested with 2.0;
    CREATE TABLE AS does not). Snowflake: https://docs.snowflake.com/en/sql-reference/name-resolution"""
    views_follow_renames: bool = False
    """A view continues to read a table after it is renamed."""
    create_as_adds_columns: bool = False
    """CREATE TABLE … AS adds the query's columns to those that it defines; columns of the same name are one column:
    https://dev.mysql.com/doc/refman/8.4/en/create-table-select.html"""
    explain_never_runs: bool = False
    """`EXPLAIN ANALYZE` does not execute a write."""

    # Programs
    needs_no_semicolon: bool = False
    """Statements end without a semicolon; GO ends a batch (T-SQL)."""
    ends_units_by_slash: bool = False
    """A line `/` ends a block for the client (Oracle)."""
    has_backslash_commands: bool = False
    r"""A line `\command` is a command of the client, psql."""
    execute_calls_procedures: bool = False
    """EXEC and EXECUTE call a procedure; elsewhere they run a prepared statement (T-SQL, Oracle's SQL*Plus)."""
    calls_procedures_by_name: bool = False
    """A call is a statement of its own, `p(1);`, without CALL (PL/SQL)."""
    has_at_variables: bool = False
    """`@name` is a variable, also where the name is a keyword."""
    runs_comments: bool = False
    """`/*! … */` is SQL: https://dev.mysql.com/doc/refman/8.4/en/comments.html"""
    has_ampersand_variables: bool = False
    """`&name` is a variable that the client substitutes (SQL*Plus)."""
    has_backslash_escapes: bool = False
    r"""`\n` in a plain string is a line feed."""
    loops_show_columns: bool = False
    """In `FOR r AS query DO`, the columns are read with or without `r`, which may be left out (Spark, Databricks):
    https://spark.apache.org/docs/latest/sql-ref-scripting.html"""
    set_assigns_variables: bool = False
    """SET assigns variables, not only settings."""
    select_into_variables: bool = False
    """SELECT … INTO names variables, never a table."""
    has_declare_sections: bool = False
    """Declarations, each ended by a semicolon, are between DECLARE and BEGIN."""
    routines_begin_with_declarations: bool = False
    """Declarations directly follow a routine's AS or IS, without DECLARE (Oracle, Exasol)."""
    declares_behind_as: bool = False
    """DECLARE may follow a routine's AS, and a variable may be a RESULTSET (Snowflake Scripting)."""
    functions_are_macros: bool = False
    """CREATE FUNCTION defines a macro, an expression or query (DuckDB)."""
    triggers_prefix_rows: bool = False
    """A trigger's rows are `:new` and `:old`, which are variables (Oracle)."""

    # Sessions and transactions
    use_names_database: bool = False
    """`USE x` selects a database that contains schemas, not a schema."""
    search_path_in_string: bool = False
    """One string is the whole search path."""
    search_path_string_is_name: bool = False
    """A string is the exact name of one schema: https://www.postgresql.org/docs/current/sql-set.html"""
    resets_search_path: bool = False
    """RESET, DISCARD and SET … TO DEFAULT restore the session's initial search path."""
    search_path_has_variables: bool = False
    """`$current` and `$public` are schemas in a search path (Snowflake)."""
    settings_in_transactions: bool = False
    """A setting is part of the transaction: ROLLBACK reverts it, and SET LOCAL ends with the transaction."""
    implicit_transactions: bool = False
    """A transaction begins implicitly with the first statement that writes."""
    ddl_commits: bool = False
    """DDL commits the open transaction. MySQL 15.3.3, Oracle SQL Language Reference (COMMIT), Snowflake (DDL)."""
    begins_nest: bool = False
    """BEGIN within a transaction is ended by a COMMIT of its own, which lasts only if the outer one commits."""
    begin_commits: bool = False
    """BEGIN commits the open transaction; elsewhere, it changes nothing within one. MySQL 15.3.3."""
    drops_full_schemas: bool = False
    """DROP SCHEMA or DATABASE drops the tables in it without CASCADE, too."""
    truncate_commits: bool = False
    """https://docs.aws.amazon.com/redshift/latest/dg/r_TRUNCATE.html"""
    temp_ddl_stays: bool = False
    """ROLLBACK does not undo CREATE or DROP TEMPORARY TABLE. MySQL 15.3.3."""
    temp_tables_in_schemas: bool = False
    """Temporary tables belong to a schema; after USE they are looked up in the new one."""
    temp_tables_without_schema: bool = False
    """A schema-qualified name never refers to a temporary table."""

    def __hash__(self) -> int:
        """Return the hash of the name; hashing all fields is too slow for lookups by naming options."""
        return hash(self.name)

    @property
    def parser_name(self) -> str | None:
        """The name of sqlglot's dialect; None for its default dialect."""
        return None if self.name == "ansi" else self.name

    def fold_table(self, name: str, *, quoted: bool = False) -> str:
        """Return a catalog, schema or table name as this dialect compares it.

        >>> from lineage.model.dialects import dialect_named
        >>> snowflake = dialect_named("snowflake")
        >>> snowflake.fold_table("Orders"), snowflake.fold_table("Orders", quoted=True)
        ('ORDERS', 'Orders')

        If the product displays names as written, the result has its spelling (`Spelled`).
        """
        folded = (self.quoted_table if quoted else self.table).apply(name)
        return Spelled(folded, name) if self.shows_tables and folded != name else folded

    def fold_column(self, name: str, *, quoted: bool = False) -> str:
        """Return a column name as this dialect compares it.

        >>> from lineage.model.dialects import dialect_named
        >>> dialect_named("bigquery").fold_column("Id"), dialect_named("bigquery").fold_table("Id")
        ('id', 'Id')

        If the product displays names as written, the result has its spelling (`Spelled`).
        """
        folded = (self.quoted_column if quoted else self.column).apply(name)
        return Spelled(folded, name) if self.shows_columns and folded != name else folded
