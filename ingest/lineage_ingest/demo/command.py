"""`lineage demo`: ingests the demo set as `lineage ingest sql` would, and asks two questions."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer

from lineage.catalog import Catalog
from lineage.cli.ask import print_answer
from lineage.cli.listing import OutputFormat, console
from lineage.sql.extractor import options_for
from lineage.store import open_store
from lineage.store.neo4j.server import ManagedServer, start_server
from lineage.traversal import TraversalOptions, impact, resolve, root_cause
from lineage_ingest.commands import print_summary
from lineage_ingest.progress import progress_bar
from lineage_ingest.sql_files import ingest_sql_files

__all__ = ["app"]

IMPACT_OF = "mimiciv_icu.chartevents.valuenum"
ROOT_CAUSES_OF = "mimiciv_derived.sofa.sofa_24hours"
DEFAULT_STORE = Path("demo.lbug")

app = typer.Typer(help="See it work: the lineage of 65 clinical SQL scripts, and two questions to it.")


@app.callback(invoke_without_command=True)
def demo(
    neo4j: Annotated[bool, typer.Option("--neo4j", help="Into a local Neo4j, started if need be.")] = False,
    store: Annotated[str | None, typer.Option(help="Into this store instead of ./demo.lbug.")] = None,
    rows: Annotated[int, typer.Option(min=0, help="Rows of each answer to show; 0 shows all.")] = 12,
) -> None:
    """See it work: the lineage of 65 clinical SQL scripts (MIMIC-IV), and two questions to it.

    Example: lineage demo --rows 20
    """
    server = start_server(report=_report) if neo4j else None
    address = server.bolt_uri if server is not None else store or str(DEFAULT_STORE)
    options = options_for("postgres", namespace="postgres://mimic")
    with (
        as_file(files("lineage_ingest.demo").joinpath("mimic_iv")) as folder,
        open_store(address) as opened,
    ):
        catalog = Catalog.from_ddl(folder / "create.sql", "postgres")
        with progress_bar() as progress:
            summary = ingest_sql_files([folder / "concepts"], opened, options, catalog, progress=progress)
        print_summary(summary, opened.address, OutputFormat.TABLE)
        console().print()
        nearest = TraversalOptions()
        print_answer(impact(opened, resolve(opened, IMPACT_OF), nearest), OutputFormat.TABLE, rows)
        console().print()
        print_answer(root_cause(opened, resolve(opened, ROOT_CAUSES_OF), nearest), OutputFormat.TABLE, rows)
    _print_next(address, server)


def _report(text: str) -> None:
    typer.echo(text, err=True)


def _print_next(address: str, server: ManagedServer | None) -> None:
    out = console()
    out.print("\nNext:", style="bold")
    command = f"lineage path {IMPACT_OF} {ROOT_CAUSES_OF} --store {address}"
    out.print(f"  {command}", markup=False)
    if server is not None:
        out.print(
            f"  Neo4j Browser: {server.browser_uri}, user {server.user}, password {server.password}", markup=False
        )
        out.print("  and paste:", markup=False)
        query = (
            "MATCH (c:Column) WHERE c.key ENDS WITH 'mimiciv_icu.chartevents#valuenum'\n"
            "  MATCH path = (c)-[:CONTRIBUTES|REFERENCES|HAS_COLUMN*1..3]->(reached) RETURN path LIMIT 100"
        )
        out.print(f"  {query}", markup=False)
