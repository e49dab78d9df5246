"""The public names are those in `__all__`: the same in this test, the reference and the package."""

from __future__ import annotations

from importlib import import_module

import pytest

from docs.python_reference import PACKAGES, PAGE, page

PUBLIC = {
    "lineage": """
        Answer Budget Catalog ColumnRef ColumnSchema Completeness Diagnostic DiagnosticCode Edge EdgeKind PathStep
        Reached RowReference Severity Span StatementLineage Subtype TableRef TableTrace UnresolvedReference extract
        extract_script trace_tables
    """,
    "lineage_ingest": """
        BiOptions BiSummary CompareOptions Comparison DatabaseFileOptions DatabaseOptions DatabaseSummary DbtOptions
        DbtSummary EngineKind EventSummary FollowOptions FollowSummary IngestSummary Jdbc Kafka LogOptions LogSummary
        OptionError ProjectDiff RevisionOptions SparkOptions SqlOptions compare_lineage diff_revisions follow_log
        ingest_bi ingest_dbt ingest_duckdb ingest_log ingest_openlineage ingest_postgres ingest_sql ingest_sqlite
        plan_log
    """,
    "lineage.sql": "Budget TableTrace extract extract_script mask_for_parsing mask_literals trace_tables",
    "lineage.model": """
        ColumnRef ColumnSchema Completeness DatasetKind Diagnostic DiagnosticCode Edge EdgeKind RowReference
        Severity Span StatementLineage Subtype TableChange TableRef UnresolvedReference
    """,
    "lineage.catalog": "Catalog CatalogError SchemaSource TableSchema",
    "lineage.store": """
        GraphStore StoreAccessError StoreDamagedError StoreError StoreFullError StoreLockedError StoreSchemaError
        StoreTimeoutError StoreUnreachableError StoreWriteError open_store
    """,
    "lineage.traversal": """
        AmbiguousNameError Answer BrokenRead Difference FormerHolder GoneSource NameLookupError Namesake Outline
        PathStep PossiblyAffected Reached Route Target TraversalOptions UnknownNameError UsageTotal broken_reads
        difference former_holders gone_sources impact namesakes resolve resolve_column resolve_table root_cause
        shortest_paths total_usage
    """,
    "lineage.export": "openlineage_events",
    "lineage_graphql": "Settings make_app",
}
"""An added name must stay supported; removing one breaks users' programs."""


@pytest.mark.parametrize("package", PUBLIC)
def test_the_public_names(package: str) -> None:
    module = import_module(package)
    assert sorted(module.__all__) == sorted(PUBLIC[package].split())
    for name in module.__all__:
        assert getattr(module, name).__doc__, name
        assert name in dir(module)
    if package in ("lineage", "lineage.sql"):
        assert {name for name in dir(module) if not name.startswith("_")} == set(module.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        _ = module.no_such_name


def test_the_reference_is_up_to_date() -> None:
    assert set(PACKAGES) == set(PUBLIC)
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make docs`"
