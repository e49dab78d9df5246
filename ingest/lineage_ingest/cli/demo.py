"""`lineage demo`: ingests a week of a database's log as `lineage ingest log` would, and asks two questions."""

from __future__ import annotations

import tempfile
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer

from lineage.catalog import Catalog
from lineage.cli.commands.ask import print_answer
from lineage.cli.option_groups import with_option_groups
from lineage.neo4j_server import ManagedServer, start_server
from lineage.screen.formats import OutputFormat
from lineage.screen.listing import console
from lineage.screen.progress import progress_bar
from lineage.store import GraphStore, open_store
from lineage.traversal import TraversalOptions, impact, resolve, root_cause
from lineage_ingest.cli.log import print_log_summary
from lineage_ingest.demo.history import write_history
from lineage_ingest.log_api import ingest_log
from lineage_ingest.query_log.ingest import LogSummary
from lineage_ingest.query_log.pipeline.engines.opening import EngineKind, SparkMissingError
from lineage_ingest.query_log_options import LogOptions

__all__ = ["app"]

IMPACT_OF = "mimiciv_icu.chartevents.valuenum"
ROOT_CAUSES_OF = "mimiciv_derived.sofa.sofa_24hours"
USED = "mimiciv_derived.sofa"
DEFAULT_STORE = Path("demo.db")

app = typer.Typer(add_completion=False)


@app.command()
@with_option_groups()
def demo(
    neo4j: Annotated[
        bool, typer.Option("--neo4j", help="Store it in a local Neo4j, which is started if needed.")
    ] = False,
    store: Annotated[str | None, typer.Option("--store", "-s", help="Store to use instead of ./demo.db.")] = None,
    rows: Annotated[int, typer.Option(min=0, help="Rows per answer; 0 shows all.")] = 12,
    engine: Annotated[
        EngineKind, typer.Option(help="Run in this process or on Spark; auto chooses by the log's size: it is small.")
    ] = EngineKind.AUTO,
) -> None:
    """Ingest a week of a clinical database's query log (65 scripts of MIMIC-IV), and ask two questions.

    Example: lineage demo --rows 20
    """
    server = start_server(report=_report) if neo4j else None
    address = server.bolt_uri if server is not None else store or str(DEFAULT_STORE)
    with (
        as_file(files("lineage_ingest.demo").joinpath("mimic_iv")) as folder,
        tempfile.TemporaryDirectory() as logs,
        open_store(address) as opened,
    ):
        log = Path(logs) / "postgresql.json"
        ran = write_history(folder / "concepts", log)
        _report(f"{ran:,} statements of a week in {log.stat().st_size / 1e6:.1f} MB of PostgreSQL's jsonlog")
        summary = _ingest(log, Catalog.from_ddl(folder / "create.sql", "postgres"), opened, engine)
        print_log_summary(summary, OutputFormat.TABLE)
        console().print()
        nearest = TraversalOptions()
        print_answer(opened, impact(opened, resolve(opened, IMPACT_OF), nearest), OutputFormat.TABLE, rows)
        console().print()
        print_answer(opened, root_cause(opened, resolve(opened, ROOT_CAUSES_OF), nearest), OutputFormat.TABLE, rows)
    _print_next(address, server)


def _ingest(log: Path, catalog: Catalog, store: GraphStore, engine: EngineKind) -> LogSummary:
    options = LogOptions(namespace="postgres://mimic", catalog=catalog, engine=engine)
    with progress_bar() as progress:
        try:
            return ingest_log(log, source="postgres_json", store=store, progress=progress, options=options)
        except SparkMissingError as error:
            raise typer.BadParameter(str(error), param_hint="--engine") from error


def _report(text: str) -> None:
    typer.echo(text, err=True)


def _print_next(address: str, server: ManagedServer | None) -> None:
    out = console()
    out.print("\nNext:", style="bold")
    command = f"lineage path {IMPACT_OF} {ROOT_CAUSES_OF} --store {address}"
    out.print(f"  {command}", markup=False)
    out.print(f"  lineage usage {USED} --store {address}", markup=False)
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
