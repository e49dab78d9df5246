"""`ingest_bi_export`: read an export of a dashboard tool, resolve its queries, store them, retire what is gone."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import field, replace
from datetime import datetime
from pathlib import Path

from lineage.catalog import Catalog
from lineage.frozen import frozen
from lineage.model.batch import DiagnosticRecord, JobKind, LineageBatch
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.files import FileKey, beginning
from lineage.model.names import split_name
from lineage.sql.extraction import ExtractionOptions
from lineage.store.protocol import GraphStore
from lineage.store.values import AppliedChanges, JobSelection
from lineage_ingest.batch.application import apply_batch
from lineage_ingest.batch.observed_time import observed_time
from lineage_ingest.bi.connections import WITH_CATALOG, BiConnection, ConnectionMap, server_namespace
from lineage_ingest.bi.export_resolution import ExportResolution, ResolvedQuery
from lineage_ingest.bi.exported import BiExport, Board, QueryAsset
from lineage_ingest.bi.exposure_batch import ExportNames, build_batch
from lineage_ingest.live_database.catalog_annotations import Annotation, annotate

__all__ = ["BiRequest", "BiSummary", "Reader", "ingest_bi_export"]

Progress = Callable[[str, int, int | None], None]


@frozen
class BiRequest:
    """An export to ingest: the tool, its files, the server's name if it is given, and how tables are named.

    Without `is_whole_server`, the files are a part of what the server has: nothing is retired.
    """

    kind: str
    paths: tuple[Path, ...]
    connections: ConnectionMap
    options: ExtractionOptions
    server: str = ""
    is_whole_server: bool = True
    catalog: Catalog = field(default_factory=Catalog)
    observed_at: datetime | None = None


Reader = Callable[[BiRequest, Progress], BiExport]


@frozen
class BiSummary:
    """What an ingest of an export read, resolved and changed; `gone` is what the export no longer contains."""

    batch: LineageBatch = field(repr=False)
    applied: AppliedChanges
    seconds: float
    kind: str
    server: str
    gone: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    store: str = ""

    @property
    def diagnostics(self) -> tuple[DiagnosticRecord, ...]:
        """The diagnostics of the files, the queries and the dashboards."""
        return self.batch.diagnostics

    @property
    def has_errors(self) -> bool:
        """Whether some of the export could not be used."""
        return self.batch.run.counts["errors"] > 0

    def to_dict(self) -> dict[str, int | float]:
        """Return the counts and the elapsed seconds."""
        return {
            **self.batch.run.counts,
            "gone": len(self.gone),
            "edges_created": self.applied.edges_created,
            "edges_ended": self.applied.edges_ended,
            "seconds": round(self.seconds, 2),
        }


def ingest_bi_export(
    request: BiRequest, reader: Reader, store: GraphStore, progress: Progress | None = None
) -> BiSummary:
    """Read an export, resolve its queries, store their lineage, and retire what it no longer contains.

    Raises:
        OptionError: the server is not named, although the export does not say which one it is of.
        StoreError: the store could not be read or written.
    """
    began = time.perf_counter()
    notify: Progress = progress or (lambda _stage, _done, _total: None)
    export = _with_connection_problems(_without_repeated_keys(reader(request, notify)))
    names = ExportNames(request.kind, export.server)
    at, late = observed_time(store, [beginning(names.project)], request.observed_at)
    resolution = ExportResolution(export, request.options, names.location, store, request.catalog)
    resolved = resolution.resolve(lambda done, total: notify("resolving", done, total))
    export = replace(export, problems=(*export.problems, *_names_without_catalog(resolved.values())))
    is_whole = request.is_whole_server and export.is_whole and export.part is None
    gone = _gone(store, names, export, is_whole=is_whole)
    batch = build_batch(names, export, resolved, gone, at, time.perf_counter() - began)
    notify("storing", 0, None)
    applied = apply_batch(store, batch)
    annotate(store, dict(_annotations(export, names)), replace_descriptions=True)
    return BiSummary(
        batch,
        applied,
        time.perf_counter() - began,
        request.kind,
        export.server,
        tuple(FileKey.parse(key).path for key in gone),
        (*_notices(request, export, gone), *([late] if late else [])),
    )


def _without_repeated_keys(export: BiExport) -> BiExport:
    """Return the export with the last of what has the same key; others that differ from it are reported."""
    problems = list(export.problems)
    queries: dict[str, QueryAsset] = {}
    boards: dict[str, Board] = {}
    seen: dict[str, QueryAsset | Board] = {}
    for asset in export.assets:
        fold = asset.key.casefold()
        if fold in seen and replace(seen[fold], at="") != replace(asset, at=""):
            message = f"{asset.key} is there twice, in {seen[fold].at}, too: the last one is read"
            if seen[fold].title != asset.title:
                message = (
                    f"{asset.title!r} and {seen[fold].title!r} have the same key, {asset.key}: the last one is read"
                )
            problems.append((asset.at, Diagnostic(DiagnosticCode.DEFINED_TWICE, Severity.WARNING, message)))
        seen[fold] = asset
        queries.pop(fold, None)
        boards.pop(fold, None)
        if isinstance(asset, QueryAsset):
            queries[fold] = asset
        else:
            boards[fold] = asset
    return replace(export, queries=tuple(queries.values()), boards=tuple(boards.values()), problems=tuple(problems))


def _with_connection_problems(export: BiExport) -> BiExport:
    """Return the export with a diagnostic for each connection whose tables may be named otherwise elsewhere."""
    problems = list(export.problems)
    used: dict[BiConnection, str] = {}
    for query in export.queries:
        if query.sql is not None or query.reads:
            used.setdefault(query.connection, query.at)
    said: set[str] = set()
    for connection, at in used.items():
        name = connection.names[0]
        if name in said or (connection.is_known and connection.namespace):
            continue
        if not connection.is_known:
            message = f"which SQL the connection {name!r} speaks is not known: standard SQL is assumed"
            hint = f"--connection '{name}=NAMESPACE,dialect=postgres'"
        elif server_namespace(connection.dialect, ""):
            continue  # all servers of the product have one namespace
        else:
            message = f"the server of the connection {name!r} is not known: its tables are in {connection.dialect!r}"
            host, port = ("org-account", None) if connection.dialect == "snowflake" else ("host", "port")
            example = server_namespace(connection.dialect, host, port)
            hint = f"name it as other ingests do: --connection '{name}={example},database=…'"
        said.add(name)
        problems.append((at, Diagnostic(DiagnosticCode.CONNECTION_UNKNOWN, Severity.WARNING, message, hint=hint)))
    return replace(export, problems=tuple(problems))


def _names_without_catalog(resolved: Iterable[ResolvedQuery]) -> Iterator[tuple[str, Diagnostic]]:
    """Yield a diagnostic for each connection whose tables lack the first of three parts of their names."""
    said: set[str] = set()
    for resolved_query in resolved:
        connection = resolved_query.query.connection
        name = connection.names[0]
        if connection.database or connection.dialect not in WITH_CATALOG or name in said:
            continue
        table = next(
            (table for table in resolved_query.statement.sources if "://" not in table and _parts(table) == 2), None
        )
        if table is not None:
            said.add(name)
            message = f"the database of the connection {name!r} is not known: {table} is not known by three parts"
            hint = f"--connection '{name}=database=…'"
            yield (
                resolved_query.query.at,
                Diagnostic(DiagnosticCode.CONNECTION_UNKNOWN, Severity.WARNING, message, hint=hint),
            )


def _parts(table: str) -> int:
    return len(list(split_name(table)))


def _gone(store: GraphStore, names: ExportNames, export: BiExport, *, is_whole: bool) -> list[str]:
    """Return the file keys of stored queries and dashboards that the export no longer contains.

    If the export is not whole, only those that it has by another title.
    """
    here = {names.file_key(one.key) for one in export.assets}
    wanted = JobSelection(files=(beginning(names.project),), kinds=(JobKind.DASHBOARD,))
    known = [str(head.file_key) for head in store.select_jobs(wanted)]
    in_scope = [one for one in known if not export.scopes or FileKey.parse(one).path.startswith(export.scopes)]
    absent = {one: FileKey.parse(one).path for one in in_scope if one not in here}
    if is_whole:
        return [one for one, path in absent.items() if not _is_one_of(path, export.mentioned)]
    renamed = [one.identity for one in export.assets if one.identity is not None]
    return [one for one, path in absent.items() if _is_one_of(path, renamed)]


def _is_one_of(path: str, identities: Iterable[tuple[str, str]]) -> bool:
    return any(path.startswith(head) and path.endswith(tail) for head, tail in identities)


def _annotations(export: BiExport, names: ExportNames) -> Iterator[tuple[str, dict[str, Annotation]]]:
    for asset in export.assets:
        key = names.dataset_key(asset.key)
        parts = [part.strip() for part in (asset.title, asset.description, asset.url) if part and part.strip()]
        yield key, {key: Annotation("\n".join(parts), asset.owner)}


def _notices(request: BiRequest, export: BiExport, gone: Collection[str]) -> Iterator[str]:
    retired = "only what has another title now was retired" if gone else "nothing was retired"
    if request.is_whole_server and not export.is_whole:
        yield f"something could not be read, so {retired}: what is absent may still exist"
    elif request.is_whole_server and export.part is not None:
        yield f"the export is {export.part}, so {retired}: what is absent may still exist"
