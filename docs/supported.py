"""Write docs/supported.md, which lists the supported SQL, from the cases in tests/cases: `make docs`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from tests.sql.case_files import Case, read_cases

PAGE = Path(__file__).with_name("supported.md")

DIALECTS = {
    "postgres": "PostgreSQL",
    "snowflake": "Snowflake",
    "bigquery": "BigQuery",
    "spark": "Spark",
    "databricks": "Databricks",
    "redshift": "Redshift",
    "tsql": "T-SQL",
    "mysql": "MySQL",
    "oracle": "Oracle",
    "duckdb": "DuckDB",
    "trino": "Trino",
    "athena": "Athena",
    "clickhouse": "ClickHouse",
    "hive": "Hive",
    "sqlite": "SQLite",
    "teradata": "Teradata",
}

FEATURES = {
    "projection": ("Select lists", "Expressions, aliases, the names of columns without one."),
    "names": ("Names", "Case and quotes by dialect, defaults, names with several parts, system columns."),
    "joins": ("Joins", "ON, USING, NATURAL, outer, semi, ASOF and nested joins; which columns they merge."),
    "relations": (
        "Relations in FROM",
        "LATERAL and APPLY, table functions, UNNEST, FLATTEN, EXPLODE and ARRAY JOIN, JSON_TABLE, OPENJSON and "
        "XMLTABLE, VALUES, files and stages, time travel, shards.",
    ),
    "subqueries": ("Sub-queries", "Scalar, EXISTS, IN and ANY, correlated at any depth."),
    "rows": (
        "Rows",
        "The rows of a table decide the rows of what reads it, whichever columns are used; in a scalar sub-query they "
        "decide only its own column.",
    ),
    "ctes": ("CTEs", "Nested, recursive with SEARCH and CYCLE, data-modifying, ClickHouse's named values."),
    "stars": (
        "Stars",
        "EXCEPT, EXCLUDE, REPLACE, RENAME, ILIKE and LIKE, COLUMNS(…), whole rows, the fields of a struct.",
    ),
    "aggregates": ("Aggregates", "FILTER, WITHIN GROUP, ROLLUP, CUBE and GROUPING SETS, GROUP BY ALL."),
    "conditional": (
        "Conditions",
        "The tests of CASE, IF, COALESCE and the like only influence; the values they choose between flow.",
    ),
    "windows": ("Windows", "PARTITION BY and ORDER BY of a window, named windows, QUALIFY."),
    "sorting": ("Sorting", "ORDER BY, by name, position and expression; whether a LIMIT makes it matter."),
    "set_operations": ("Set operations", "UNION, INTERSECT and EXCEPT, by position and by name."),
    "nested": (
        "Nested data",
        "Structs, arrays, maps and JSON: fields are traced to the values that they were built from.",
    ),
    "pivot": ("PIVOT and UNPIVOT", "Each dialect's clause, and DuckDB's statements."),
    "pipes": ("Pipe syntax", "`|>` and its operators."),
    "writes": (
        "Statements that write",
        "INSERT, UPDATE, DELETE, CREATE … AS, COPY, LOAD, UNLOAD and EXPORT, OUTPUT, moved partitions, ALTER.",
    ),
    "merge": ("MERGE", "Every branch; the match influences columns where it updates, and rows where it inserts."),
    "masking": (
        "Masking",
        "Functions that hide a value (hashes, encryption, masks, counts), also one that only has an influence.",
    ),
    "scripts": ("Scripts", "Statements resolved against each other, temporary tables composed away, transactions."),
    "programs": ("Programs", "Bodies of procedures and functions, control flow, variables, dynamic SQL."),
    "functions": ("Functions", "Functions and macros with a known body are inlined where they are called."),
    "templates": ("Templates", "Placeholders of Jinja, shells, drivers and SQL tools."),
    "diagnostics": ("Diagnostics", "What cannot be resolved is reported, with a position and a hint."),
}

LIMITS = (
    "Oracle's MODEL clause, and Hive's MAP … USING 'script': tables only.",
    "Polymorphic table functions with `TABLE(t) PARTITION BY a` as an argument are not read.",
    "BigQuery's `|> CALL f()`, and `FROM t, t.items WITH OFFSET` without UNNEST: tables only.",
    "BigQuery's field names that contain a dot (`` s.`a.b` ``) are read as two fields: the parser splits them.",
    "ClickHouse's `t.COLUMNS('regex')`, and a lambda in APPLY.",
    "Columns that depend on the data (PIVOT without a list of values) are one column `*`.",
    "A field of PostgreSQL's `ROW(a, b)::composite_type` and `jsonb || jsonb`, and of what `map_filter`, "
    "`transform_values` and other lambdas over maps return, comes from the whole of their operands.",
    "Hive's and Spark's json_tuple: each column comes from the whole document; in a select list, name its columns.",
    "Spark's `document:a.b` is read in the dialect databricks only. GROUPING__ID, and grouping_id() without arguments, "
    "have no sources.",
    "COPY and LOAD link a file as a whole: only the file says which of its columns fills which column of the table.",
)


def page() -> str:
    """Return the text of the page.

    Raises:
        KeyError: the cases have a feature or a dialect that this file does not list.
    """
    cases_by_feature: dict[str, dict[str, list[Case]]] = defaultdict(lambda: defaultdict(list))
    for case in read_cases():
        cases_by_feature[case.name.split("/")[0]][case.dialect].append(case)
    for feature, dialects in cases_by_feature.items():
        if unknown := {feature} - FEATURES.keys() or dialects.keys() - DIALECTS.keys():
            raise KeyError(f"{unknown.pop()}: describe it in docs/supported.py")
    total = sum(len(cases) for dialects in cases_by_feature.values() for cases in dialects.values())
    lines = [
        "# Supported SQL",
        "",
        f"{total} cases in {len(DIALECTS)} dialects prove it. Each case is a piece of SQL with its *complete* lineage,",
        "and the test suite runs all of them. A number links to the cases. Where there is none, the dialect has no",
        "syntax of its own for that feature. The other dialects of sqlglot (Presto, Doris,",
        "StarRocks, Materialize, RisingWave, Fabric, …) are read by the same rules.",
        "",
        "`make docs` writes this page from [tests/cases](../tests/cases).",
        "",
        *_table(cases_by_feature),
        "",
        *_limits(cases_by_feature),
    ]
    for feature, (title, about) in FEATURES.items():
        if feature in cases_by_feature:
            lines += [
                "",
                f"## {title}",
                "",
                about,
                "",
                *_example(cases_by_feature[feature]),
                "",
                *_titles(feature, cases_by_feature[feature]),
            ]
    return "\n".join(lines) + "\n"


def _table(cases_by_feature: dict[str, dict[str, list[Case]]]) -> Iterable[str]:
    yield "| | " + " | ".join(DIALECTS.values()) + " |"
    yield "|---|" + "--:|" * len(DIALECTS)
    for feature, (title, _) in FEATURES.items():
        if feature not in cases_by_feature:
            continue
        cells = [
            f"[{len(cases_by_feature[feature][d])}](../tests/cases/{feature}/{d}.case)"
            if cases_by_feature[feature].get(d)
            else ""
            for d in DIALECTS
        ]
        yield f"| [{title}](#{_anchor(title)}) | " + " | ".join(cells) + " |"
    totals = [sum(len(dialects.get(d, ())) for dialects in cases_by_feature.values()) for d in DIALECTS]
    yield "| **all** | " + " | ".join(f"**{count}**" for count in totals) + " |"


def _limits(found: dict[str, dict[str, list[Case]]]) -> Iterable[str]:
    partial = sum(
        case.expected.get("completeness", "full") != "full"
        for dialects in found.values()
        for cases in dialects.values()
        for case in cases
    )
    yield "## Limits"
    yield ""
    yield "Nothing is dropped silently: what cannot be resolved has a diagnostic, and its lineage between tables is"
    yield f"kept ({partial} of the cases show that). Known limits:"
    yield ""
    yield from (f"- {limit}" for limit in LIMITS)


def _example(dialects: dict[str, list[Case]]) -> Iterable[str]:
    """Yield one case in full: the shortest with three to eight edges, if there is one."""
    cases = [case for cases in dialects.values() for case in cases]
    shown = min(cases, key=lambda case: (len(case.edges) < 3 or len(case.edges) > 8, len(case.sql), case.name))
    yield f"For example ({DIALECTS[shown.dialect]}):"
    yield ""
    yield "```sql"
    yield shown.sql
    yield "```"
    yield ""
    yield "```text"
    yield from shown.edges
    yield "```"


def _titles(feature: str, dialects: dict[str, list[Case]]) -> Iterable[str]:
    for dialect, name in DIALECTS.items():
        if cases := dialects.get(dialect):
            titles = "; ".join(case.name.partition(": ")[2] for case in cases)
            yield f"- [{name}](../tests/cases/{feature}/{dialect}.case): {titles}"


def _anchor(title: str) -> str:
    return "".join(c for c in title.lower().replace(" ", "-") if c.isalnum() or c == "-")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
