"""Compare the graph with the column lineage that a product states: the Python API of `lineage compare`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from lineage.frozen import frozen
from lineage.model.dialects import UnknownDialectError
from lineage.store import GraphStore
from lineage_ingest.api import opened_store
from lineage_ingest.compare.edge_comparison import compare_stated
from lineage_ingest.compare.opinions import OpinionLineage
from lineage_ingest.compare.product_names import ProductNames
from lineage_ingest.compare.products import OpinionKind, naming_for, product_of
from lineage_ingest.compare.verdicts import Comparison
from lineage_ingest.options import OptionError, Paths, in_utc, listed_paths

__all__ = ["CompareOptions", "compare_lineage"]

_PROGRESS_EVERY = 10_000


@frozen(kw_only=True)
class CompareOptions:
    """Options of `compare_lineage`. Names must be made as in the ingest: give the same namespace and defaults."""

    namespace: str = ""
    """OpenLineage namespace of the datasets; by default the dialect's name, and any other if a name is unique."""
    default_database: str | None = None
    """Database of names that have a schema and no database."""
    default_schema: str | None = None
    """Schema of names that have none."""
    dialect: str | None = None
    """SQL dialect of the names; by default the product's, for dbt that of its adapter."""
    as_of: datetime | None = None
    """Compare with the graph as of this time, and with what the export states up to it."""
    every: bool = False
    """Load the statements that prove edges that agree, too: not only those of differences."""


def compare_lineage(
    kind: OpinionKind | str,
    paths: Paths,
    *,
    store: GraphStore | str | Path | None = None,
    options: CompareOptions | None = None,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> Comparison:
    """Compare the graph with the export of a product that states column lineage itself. Nothing is stored.

    Compared are the tables that both know: edge by edge, with a verdict, a reason, and both proofs.

    Args:
        kind: the product: snowflake, databricks, bigquery, trino, hive, dbt or openlineage.
        paths: the files of the export, folders and patterns of them; for dbt its target folder.
        store: an open store, or the address of one (a path, `bolt://…` or `http://…`); by default `LINEAGE_STORE`,
            else `./lineage.db`.
        options: names, and the time of the graph.
        progress: called with the name of each stage, the amount done, and the total (None if unknown).

    Raises:
        OptionError: an option has a wrong value.
        NoLogFilesError: a path has no file, for query logs and Databricks.
        NoEventFilesError: a path has no file, for BigQuery and OpenLineage.
        NoManifestError: a path has no lineage of dbt, or no manifest.
        ColumnsMissingError: no file is an export of this product.
        StoreError: the store could not be read.
    """
    options = options or CompareOptions()
    notify = progress or (lambda _stage, _done, _total: None)
    try:
        known = OpinionKind(kind)
    except ValueError as error:
        raise OptionError(f"it must be one of {', '.join(OpinionKind)}", "kind") from error
    listed = listed_paths(paths)
    product = product_of(known)
    try:
        naming = naming_for(
            known,
            listed,
            dialect=options.dialect,
            namespace=options.namespace,
            default_database=options.default_database,
            default_schema=options.default_schema,
        )
    except UnknownDialectError as error:
        raise OptionError(str(error), "dialect") from error
    as_of = in_utc(options.as_of)
    stated = OpinionLineage()
    for count, row in enumerate(product.read(listed, ProductNames(naming)), 1):
        stated.add(row, as_of)
        if count % _PROGRESS_EVERY == 0:
            notify("rows", count, None)
    into = Comparison(
        str(known),
        product.title,
        rows=stated.rows,
        unread=stated.unread,
        unread_count=stated.unread_count,
        notices=[f"{reason}: {count:,}" if count > 1 else reason for reason, count in sorted(stated.notices.items())],
        first_at=stated.first_at,
        last_at=stated.last_at,
        as_of=as_of,
    )
    if not into.rows and not into.unread_count and not into.notices:
        into.notices.append("the export states no edge")
    with opened_store(store, read_only=True) as opened:
        into.store = opened.address
        return compare_stated(
            stated,
            opened,
            into,
            as_of=as_of,
            states_influence=product.states_influence,
            any_namespace=not options.namespace,
            progress=notify,
            every=options.every,
        )
