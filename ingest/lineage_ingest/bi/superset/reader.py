"""Read Superset's export: https://superset.apache.org/docs/configuration/importing-exporting-datasources"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage_ingest.bi.connections import (
    BiConnection,
    ConnectionMap,
    default_schema,
    dialect_of_engine,
    server_namespace,
)
from lineage_ingest.bi.exported import BiExport, Board, BoardFilter, QueryAsset, not_read, slug
from lineage_ingest.bi.files import ExportFile, UnreadableExportError, yaml_of
from lineage_ingest.bi.json_objects import objects_in, text_or_none
from lineage_ingest.bi.superset.chart_query import ChartQuery
from lineage_ingest.bi.superset.dataset_query import dataset_sql, names_of, schema_of_queries, with_datasets
from lineage_ingest.bi.templates.written_sql import asset_reference

__all__ = ["SUFFIXES", "connection_of_uri", "read_superset"]

SUFFIXES = frozenset((".yaml", ".yml"))
_CUT = Diagnostic(
    DiagnosticCode.ARTIFACT_DAMAGED,
    Severity.ERROR,
    "the file ends early: it lacks `version`, which Superset writes at the end of each file",
    hint="export it again",
)
_TIME_FILTERS = ("filter_time", "filter_timecolumn", "filter_timegrain")
"""Filters of a dashboard that change by which time, and how, each chart selects or groups."""
_MAX_DEPTH = 5
"""How deep datasets may be made of each other."""
_SEARCH_PATH = re.compile(r"search_path\s*=\s*\"?(\w+)")
_SCHEMA_IS_DATABASE = frozenset(("mysql", "clickhouse", "hive", "spark", "doris", "starrocks"))


def read_superset(
    files: Iterable[ExportFile], connections: ConnectionMap, server: str, progress: Callable[[int], None]
) -> BiExport:
    """Return what the files of an export say."""
    return _SupersetReader(connections, server).read(files, progress)


class _SupersetReader:
    def __init__(self, connections: ConnectionMap, server: str) -> None:
        self.map = connections
        self.server = server
        self.databases: dict[str, BiConnection] = {}
        self.datasets: dict[str, tuple[str, Mapping[str, Any]]] = {}
        self.charts: dict[str, tuple[str, Mapping[str, Any]]] = {}
        self.dashboards: dict[str, tuple[str, Mapping[str, Any]]] = {}
        self.problems: list[tuple[str, Diagnostic]] = []
        self.is_whole = True
        self.part: str | None = None
        self.mentioned: set[tuple[str, str]] = set()
        self._short_uuids: dict[str, str] = {}

    def read(self, files: Iterable[ExportFile], progress: Callable[[int], None]) -> BiExport:
        """Return the export: datasets are known before charts, charts before dashboards."""
        for number, file in enumerate(files):
            progress(number + 1)
            try:
                if file.problem is not None:
                    self._unreadable(file.name, file.problem)
                    continue
                value = yaml_of(file)
                if isinstance(value, Mapping):
                    self._add(value, file)
                else:
                    self.is_whole = False
                    message = "nothing of Superset is recognized in the file"
                    self._unreadable(file.name, Diagnostic(DiagnosticCode.UNREADABLE_FILE, Severity.WARNING, message))
            except UnreadableExportError as error:
                self._unreadable(file.name, error.diagnostic)
        self._short_uuids = _distinct_beginnings(
            uuid for known in (self.charts, self.dashboards, self.datasets) for uuid in known
        )
        queries = [self._dataset(at, one) for at, one in self.datasets.values()]
        queries += [self._chart(at, one) for at, one in self.charts.values()]
        boards = [self._board(at, one) for at, one in self.dashboards.values()]
        return BiExport(
            self.server,
            tuple(queries),
            tuple(boards),
            (),
            tuple(self.problems),
            self.is_whole,
            (),
            frozenset(self.mentioned),
            self.part,
        )

    def _unreadable(self, at: str, problem: Diagnostic) -> None:
        self.is_whole = self.is_whole and problem.severity is not Severity.ERROR
        self.problems.append((at, problem))

    def _add(self, document: Mapping[str, Any], file: ExportFile) -> None:
        uuid = str(document.get("uuid") or file.path)
        if "version" not in document:
            self.is_whole = False
        for known in (self.charts, self.dashboards, self.datasets):
            before = known.get(uuid)
            if before is not None and before[1] != document:
                message = f"the object {uuid} is in {before[0]}, too, and differs there: the last one is read"
                self.problems.append((file.name, Diagnostic(DiagnosticCode.DEFINED_TWICE, Severity.WARNING, message)))
        if "sqlalchemy_uri" in document or "database_name" in document:
            if "version" not in document:
                self._unreadable(file.name, _CUT)
            self.databases[uuid] = connection_of_uri(
                str(document.get("sqlalchemy_uri") or ""), (str(document.get("database_name") or uuid), uuid), self.map
            )
        elif "slice_name" in document:
            self.charts[uuid] = (file.name, document)
        elif "dashboard_title" in document:
            self.dashboards[uuid] = (file.name, document)
        elif "table_name" in document:
            self.datasets[uuid] = (file.name, document)
        elif {"version", "timestamp"} & set(document):
            if str(document.get("type") or "assets") != "assets":
                self.part = "of some objects of the server only (GET /api/v1/assets/export/ has all)"
        else:
            self.is_whole = False  # it may be another product's
            message = "nothing of Superset is recognized in the file"
            self._unreadable(file.name, Diagnostic(DiagnosticCode.UNREADABLE_FILE, Severity.WARNING, message))

    # Datasets

    def _connection(self, dataset: Mapping[str, Any]) -> BiConnection:
        uuid = str(dataset.get("database_uuid") or "")
        if uuid not in self.databases:
            self.databases[uuid] = self.map.apply(BiConnection((uuid or "(none)",), is_known=False))
        return self.databases[uuid]

    def _dataset(self, at: str, dataset: Mapping[str, Any]) -> QueryAsset:
        connection = schema_of_queries(dataset, self._connection(dataset))
        name = str(dataset.get("table_name") or "")
        sql, problems = dataset_sql(self._with_datasets(dataset, connection.dialect), connection.dialect)
        return QueryAsset(
            self._dataset_key(dataset),
            name,
            at,
            connection,
            sql,
            problems=(*_doubts(dataset), *problems),
            description=text_or_none(dataset.get("description")),
            owner=_owner(dataset),
            operation="SUPERSET_DATASET",
            identity=self._identity("dataset", dataset),
        )

    def _with_datasets(self, dataset: Mapping[str, Any], dialect: str, depth: int = 0) -> Mapping[str, Any]:
        """Return a dataset with the queries of those that its SQL names as `{{ dataset(42) }}`, if they are known."""

        def query(number: str) -> str | None:
            found = self.datasets.get(self._uuids_by_id.get(number, ""))
            if found is None or depth > _MAX_DEPTH:
                return None
            inner = self._with_datasets({**found[1], "metrics": []}, dialect, depth + 1)
            return dataset_sql(inner, dialect)[0]

        text = dataset.get("sql")
        return {**dataset, "sql": with_datasets(text, query)} if isinstance(text, str) and text else dataset

    @cached_property
    def _uuids_by_id(self) -> Mapping[str, str]:
        """The datasets by the numbers that they have in their server: only charts say them."""
        found = {}
        for _, chart in self.charts.values():
            params = chart.get("params")
            source = str(params.get("datasource") or "") if isinstance(params, Mapping) else ""
            if source.endswith("__table"):
                found[source.removesuffix("__table")] = str(chart.get("dataset_uuid") or "")
        return found

    def _dataset_key(self, dataset: Mapping[str, Any]) -> str:
        parts = [str(part) for part in (dataset.get("schema"), dataset.get("table_name")) if part]
        return f"dataset/{slug('-'.join(parts))}-{self._short(dataset)}"

    def _short(self, one: Mapping[str, Any]) -> str:
        uuid = str(one.get("uuid") or "")
        return self._short_uuids.get(uuid) or _beginning(uuid)

    def _identity(self, kind: str, one: Mapping[str, Any]) -> tuple[str, str] | None:
        """Return how keys of an object begin and end whatever its title is; None if it has no uuid."""
        return (f"{kind}/", f"-{self._short(one)}") if one.get("uuid") else None

    # Charts

    def _chart(self, at: str, chart: Mapping[str, Any]) -> QueryAsset:
        entry = self.datasets.get(str(chart.get("dataset_uuid") or ""))
        dataset: Mapping[str, Any] = entry[1] if entry is not None else {}
        connection = self._connection(dataset) if entry is not None else self.map.apply(BiConnection(("(none)",)))
        columns, metrics = objects_in(dataset.get("columns")), objects_in(dataset.get("metrics"))
        needs: tuple[str, ...] = ()
        problems = _doubts(chart)
        sql = None
        if entry is None:
            self.mentioned.add(("dataset/", f"-{_beginning(str(chart.get('dataset_uuid') or ''))}"))
            problems.append(not_read("the chart's dataset is not in the export"))
        else:
            needs = (self._dataset_key(dataset),)
            time_column = text_or_none(dataset.get("main_dttm_col"))
            query = ChartQuery(
                asset_reference(needs[0], connection.dialect),
                connection.dialect,
                names_of(columns, "column_name"),
                names_of(metrics, "metric_name"),
                time_column,
                time_column if dataset.get("always_filter_main_dttm") else None,
            )
            sql = query.write(chart)
            problems += query.problems
            if sql is None:
                problems.append(not_read(f"what a chart of type {chart.get('viz_type')!r} selects is not known"))
        return QueryAsset(
            f"chart/{slug(str(chart.get('slice_name') or ''))}-{self._short(chart)}",
            str(chart.get("slice_name") or ""),
            at,
            connection,
            sql,
            needs=needs,
            problems=tuple(dict.fromkeys(problems)),
            description=text_or_none(chart.get("description")),
            owner=_owner(chart),
            operation="SUPERSET_CHART",
            identity=self._identity("chart", chart),
        )

    # Dashboards

    def _board(self, at: str, board: Mapping[str, Any]) -> Board:
        shows: list[str] = []
        problems = _doubts(board)
        position = board.get("position")
        for one in position.values() if isinstance(position, Mapping) else ():
            meta = one.get("meta") if isinstance(one, Mapping) else None
            if not isinstance(meta, Mapping) or one.get("type") != "CHART":
                continue
            uuid = str(meta.get("uuid") or "")
            if uuid in self.charts:
                chart = self.charts[uuid][1]
                shows.append(f"chart/{slug(str(chart.get('slice_name') or ''))}-{self._short(chart)}")
            else:
                self.mentioned.add(("chart/", f"-{_beginning(uuid)}"))
                problems.append(not_read(f"the chart {meta.get('sliceName') or uuid!r} is not in the export"))
        title = str(board.get("dashboard_title") or "")
        own = str(board.get("slug") or "")
        url = f"https://{self.server}/superset/dashboard/{own}/" if own and self.server else None
        filters = tuple(dict.fromkeys(self._filters(board, problems)))
        return Board(
            f"dashboard/{slug(title)}-{self._short(board)}",
            title,
            at,
            tuple(dict.fromkeys(shows)),
            tuple(dict.fromkeys(problems)),
            text_or_none(board.get("description")),
            _owner(board),
            url,
            "SUPERSET_DASHBOARD",
            filters=filters,
            identity=self._identity("dashboard", board),
        )

    def _filters(self, board: Mapping[str, Any], problems: list[Diagnostic]) -> Iterator[BoardFilter]:
        """Yield the columns of the dashboard's filters; a filter by time has none of its own."""
        metadata = board.get("metadata")
        for native_filter in objects_in(
            metadata.get("native_filter_configuration") if isinstance(metadata, Mapping) else None
        ):
            if native_filter.get("filterType") in _TIME_FILTERS:
                message = (
                    f"the filter {native_filter.get('name')!r} decides by the time of each chart: that is not followed"
                )
                problems.append(Diagnostic(DiagnosticCode.NOT_FOLLOWED, Severity.INFO, message))
            for target in objects_in(native_filter.get("targets")):
                column = target.get("column")
                name = column.get("name") if isinstance(column, Mapping) else None
                if not isinstance(name, str):
                    continue
                found = self.datasets.get(str(target.get("datasetUuid") or ""))
                if found is None:
                    problems.append(not_read(f"the dataset of the filter by {name!r} is not in the export"))
                else:
                    yield BoardFilter(name, self._dataset_key(found[1]))


def connection_of_uri(uri: str, names: tuple[str, ...], connections: ConnectionMap) -> BiConnection:
    """Return the connection of a SQLAlchemy address, with what the options say of it; its password is not kept.

    >>> connection_of_uri("postgresql+psycopg2://me:XXX@db:5432/shop", ("w",), ConnectionMap()).namespace
    'postgres://db:5432'
    """
    scheme, mark, rest = uri.partition("://")
    try:
        parts = urlsplit(f"x://{rest}")  # drivers have names that no scheme may have: `oracle+cx_oracle`
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return connections.apply(BiConnection(names, is_known=False))
    dialect = dialect_of_engine(scheme) if mark else None
    path = [unquote(part) for part in parts.path.split("/") if part]
    database, schema = (path[0] if path else None), (path[1] if len(path) > 1 else None)
    namespace = server_namespace(dialect, host, port) if dialect not in ("sqlite", "duckdb") else ""
    given = {key: values[-1] for key, values in parse_qs(parts.query).items()}
    if dialect == "bigquery":
        database, schema = host or None, (path[0] if path else None)
    elif dialect in ("databricks", "athena"):  # the path is a schema
        database, schema = given.get("catalog") or given.get("catalog_name"), given.get("schema") or database
    elif dialect in ("sqlite", "duckdb") or dialect is None:
        database = None
    elif dialect in ("postgres", "redshift") and (search_path := _SEARCH_PATH.search(given.get("options", ""))):
        schema = search_path[1]
    if dialect in _SCHEMA_IS_DATABASE and schema is None:
        database, schema = None, (database or "").rpartition(".")[2] or None  # behind a catalog
    schema = schema or default_schema(dialect)
    found = BiConnection(names, dialect or "ansi", namespace, database, schema, is_known=dialect is not None)
    return connections.apply(found)


def _distinct_beginnings(uuids: Iterable[str]) -> dict[str, str]:
    """Return the beginnings of uuids, which titles get as they need not be unique; of equal beginnings the whole uuid.

    >>> _distinct_beginnings(["a-1", "b-1", "b-2"])
    {'a-1': 'a', 'b-1': 'b-1', 'b-2': 'b-2'}
    """
    found: dict[str, list[str]] = {}
    for uuid in dict.fromkeys(uuids):
        found.setdefault(_beginning(uuid), []).append(uuid)
    return {uuid: short if len(same) == 1 else slug(uuid) for short, same in found.items() for uuid in same}


def _beginning(uuid: str) -> str:
    return slug(uuid.partition("-")[0]) if uuid else "none"


def _doubts(one: Mapping[str, Any]) -> list[Diagnostic]:
    """Return what is in doubt of an object before it is read: its file may have been cut."""
    return [_CUT] if "version" not in one else []


def _owner(one: Mapping[str, Any]) -> str | None:
    owners = one.get("owners")
    first = owners[0] if isinstance(owners, list) and owners else None
    if isinstance(first, Mapping):
        return text_or_none(first.get("email") or first.get("username"))
    return text_or_none(first) or text_or_none(one.get("certified_by"))
