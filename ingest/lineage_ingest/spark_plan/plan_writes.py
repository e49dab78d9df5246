"""What the command at the root of a plan writes: the dataset, how, and which query it comes from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from lineage.frozen import frozen
from lineage.model.statement import ChangeKind
from lineage_ingest.spark_plan.extensions import Extensions
from lineage_ingest.spark_plan.plan_tree import PlanNode
from lineage_ingest.spark_plan.row_changes.rewritten_changes import is_merge
from lineage_ingest.spark_plan.tables.datasets import Catalogs, Dataset, of_path, of_topic, schema_of
from lineage_ingest.spark_plan.tables.jdbc_names import jdbc_dataset
from lineage_ingest.spark_plan.tables.sources import table_of

__all__ = ["DropOrRename", "TargetedWrite", "change_of", "commands_of", "is_silent", "targets_of"]

_CHANGES_ROWS = frozenset({"MERGE", "UPDATE", "DELETE"})
"""Operations after which the rows that they do not touch are there as before."""
_CREATES = frozenset(
    {
        "CreateDataSourceTableAsSelectCommand", "CreateTableAsSelect", "ReplaceTableAsSelect", "SaveAsV1TableCommand",
        "CreateHiveTableAsSelectCommand", "OptimizedCreateHiveTableAsSelectCommand", "CreateDeltaTableCommand",
    }
)  # fmt: skip
_WRITES = frozenset({"LoadDataCommand"})
"""Commands that write what they have no query for."""
_APPENDS = frozenset({"AppendData", "LoadDataCommand"})
_OPERATIONS = {
    "CreateViewCommand": "CREATE_VIEW",
    "AlterViewAsCommand": "CREATE_VIEW",
    "CreateView": "CREATE_VIEW",
    "MergeIntoTable": "MERGE",
    "UpdateTable": "UPDATE",
    "DeleteFromTable": "DELETE",
    "MergeIntoCommand": "MERGE",
    "UpdateCommand": "UPDATE",
    "DeleteCommand": "DELETE",
    "CreateDeltaTableCommand": "CREATE_TABLE_CLONE",
}
_SILENT_SINKS = frozenset(
    {"ForeachBatchSink", "MemorySink", "ConsoleTable", "MemoryPlan", "NoopDataSource", "NoopTable"}
)
_NAMES_ONLY = frozenset({"CreateViewCommand", "CacheTableAsSelect", "CacheTable", "CreateTempViewUsing", "SetVariable"})
"""Commands that give a query a name within the session."""


@frozen
class TargetedWrite:
    """One dataset that a command writes.

    `names` are the columns that are written, in the order of the query's output. `appends` is whether the rows that
    were there stay.
    """

    target: Dataset
    query: PlanNode | None
    operation: str
    names: tuple[str, ...] = ()
    appends: bool = False
    creates: bool = False


@frozen
class DropOrRename:
    """A dataset that a command drops, or renames to `other`."""

    kind: ChangeKind
    dataset: Dataset
    other: Dataset | None = None


def commands_of(root: PlanNode) -> list[PlanNode]:
    """Return the commands of a plan: several, if a query is inserted into several tables."""
    children = root.list("children") if root.name == "Union" else []
    several = [one for one in children if one.properties.get("writes")]
    return several if several and len(several) == len(children) else [root]


def targets_of(
    root: PlanNode, catalogs: Catalogs, extensions: Extensions, path: str | None = None
) -> list[TargetedWrite]:
    """Return what a command writes; none if it writes nothing that lasts, or is not known.

    `path` is where a table that the command creates is stored, if that was seen.
    """
    query = root.node("query", "plan", "inputQuery", "child")
    if (rule := extensions.writes.get(root.name)) is not None:
        columns = schema_of(root.properties.get("columns"))
        return [
            TargetedWrite(Dataset(*name, columns=columns), query, "WRITE", tuple(one.name for one in columns))
            for name in rule(root)
        ]
    found = _Targets(root, catalogs, path).find()
    names = tuple(map(str, root.properties.get("outputColumnNames") or ())) or tuple(
        str(one[1]) for one in root.properties.get("columns") or ()
    )
    if root.properties.get("userSpecifiedColumns"):
        names = tuple(map(str, root.properties["userSpecifiedColumns"]))
    columns = _schema(root, names)
    creates = root.name in _CREATES
    operation = (
        str(root.properties.get("command") or "")
        or _OPERATIONS.get(root.name)
        or ("CREATE_TABLE_AS" if creates else "MERGE" if is_merge(root) else "INSERT")
    )
    appends = operation in _CHANGES_ROWS or _appends(root)
    return [TargetedWrite(replace(one, columns=columns), query, operation, names, appends, creates) for one in found]


def change_of(root: PlanNode, catalogs: Catalogs) -> DropOrRename | None:
    """Return the dataset that a command drops or renames, if it is such a command."""
    properties = root.properties
    match root.name:
        case "DropTable" | "DropView":
            child = root.node("child")
            dataset = _identified(child, catalogs) if child is not None else None
            return DropOrRename(ChangeKind.DROP, dataset) if dataset is not None else None
        case "DropTableCommand" if isinstance(properties.get("tableName"), list):
            return DropOrRename(ChangeKind.DROP, catalogs.catalog_table({"table": properties["tableName"]}))
        case "AlterTableRenameCommand":
            old, new = properties.get("oldName"), properties.get("newName")
            if isinstance(old, list) and isinstance(new, list):
                merged = [mine or before for mine, before in zip(new, old, strict=False)]
                tables = [catalogs.catalog_table({"table": one}) for one in (old, merged)]
                return DropOrRename(ChangeKind.RENAME, tables[0], tables[1])
        case "RenameTable":
            child, new = root.node("child"), properties.get("newName")
            dataset = _identified(child, catalogs) if child is not None else None
            if child is not None and dataset is not None and isinstance(new, list):
                old = [child.properties.get("catalog"), *child.properties["identifier"]]
                other = catalogs.catalog_table({"table": [*old[: -len(new)], *new] if len(new) < len(old) else new})
                before = catalogs.catalog_table({"table": old})
                return DropOrRename(ChangeKind.RENAME, before, other)
    return None


def is_silent(root: PlanNode) -> bool:
    """Return whether a command stores nothing itself: its sink is memory, the console or code of the job, or a name."""
    sink = root.properties.get("sink") or {}
    table = root.node("table", "relation")
    written = (table.properties.get("v2") or {}) if table is not None else {}
    classes = (sink.get("class"), written.get("class"), root.properties.get("dataSource"))
    return root.name in _NAMES_ONLY or any(str(one).rpartition(".")[2] in _SILENT_SINKS for one in classes)


@dataclass(slots=True)
class _Targets:
    root: PlanNode
    catalogs: Catalogs
    path: str | None
    properties: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.properties = self.root.properties

    def find(self) -> list[Dataset]:
        """Return the datasets that the command writes."""
        if not self.properties.get("writes") and self.root.name not in _OPERATIONS and self.root.name not in _WRITES:
            return []  # it reads, describes or alters a table
        finder = _FINDERS.get(self.root.name)
        if finder is not None:
            return finder(self)
        table = self.root.node("originalTable", "table", "relation", "logicalRelation", "targetTable", "target")
        while table is not None and table.name in ("SubqueryAlias", "View"):
            table = table.node("child")
        return table_of(self.catalogs, table) if table is not None else []

    def of_files(self) -> list[Dataset]:
        """`InsertIntoHadoopFsRelationCommand`: a catalog's table, or a path."""
        table = self.properties.get("catalogTable")
        if isinstance(table, Mapping):
            return [self.catalogs.catalog_table(table, str(self.properties.get("outputPath")))]
        return [of_path(str(self.properties["outputPath"]))] if self.properties.get("outputPath") else []

    def of_catalog_table(self) -> list[Dataset]:
        """A table by its description in the catalog."""
        for name in ("table", "tableDesc", "tableMeta", "catalogTable"):
            if isinstance(table := self.properties.get(name), Mapping):
                return [self.catalogs.catalog_table(table, self.path)]
        for name in ("tableIdent", "tableIdentifier", "identifier", "table"):
            if isinstance(table := self.properties.get(name), list):
                return [self.catalogs.catalog_table({"table": table}, self.path)]
        return []

    def of_directory(self) -> list[Dataset]:
        """`INSERT OVERWRITE DIRECTORY`."""
        storage = self.properties.get("storage")
        return [of_path(str(storage))] if storage else []

    def of_source(self) -> list[Dataset]:
        """`df.write.format(…).save()` of a source of the first API: by its options."""
        options = self.properties.get("options") or {}
        if options.get("url") and options.get("dbtable"):
            return [Dataset(*jdbc_dataset(str(options["url"]), str(options["dbtable"])))]
        if options.get("topic") and options.get("kafka.bootstrap.servers"):
            return [of_topic(str(options["kafka.bootstrap.servers"]), str(options["topic"]))]
        return [of_path(str(options["path"]))] if options.get("path") else []

    def of_view(self) -> list[Dataset]:
        """`CREATE VIEW`; none for a temporary one."""
        name = self.properties.get("name")
        if "Persisted" not in str(self.properties.get("viewType", "PersistedView")):
            return []
        return [self.catalogs.catalog_table({"table": name, "type": "VIEW"})] if isinstance(name, list) else []

    def of_identifier(self) -> list[Dataset]:
        """`CREATE TABLE … AS` of a catalog of the second API."""
        name = self.root.node("name")
        found = _identified(name, self.catalogs, self.path) if name is not None else None
        return [found] if found is not None else []

    def of_stream(self) -> list[Dataset]:
        """The sink of a stream: a table, files, a topic."""
        if is_silent(self.root):
            return []
        if isinstance(table := self.properties.get("catalogTable"), Mapping):
            return [self.catalogs.catalog_table(table)]
        sink, options = self.properties.get("sink") or {}, self.properties.get("options") or {}
        topic = options.get("topic") or sink.get("topic")
        if topic and options.get("kafka.bootstrap.servers"):
            return [of_topic(str(options["kafka.bootstrap.servers"]), str(topic))]
        if path := sink.get("path") or options.get("path"):
            return [of_path(str(path))]
        relation = self.root.node("relation", "table")
        return table_of(self.catalogs, relation) if relation is not None else []


_FINDERS: dict[str, Callable[[_Targets], list[Dataset]]] = {
    "InsertIntoHadoopFsRelationCommand": _Targets.of_files,
    "SaveIntoDataSourceCommand": _Targets.of_source,
    "CreateViewCommand": _Targets.of_view,
    "AlterViewAsCommand": _Targets.of_view,
    "CreateTableAsSelect": _Targets.of_identifier,
    "ReplaceTableAsSelect": _Targets.of_identifier,
    "WriteToMicroBatchDataSourceV1": _Targets.of_stream,
    "WriteToMicroBatchDataSource": _Targets.of_stream,
    "WriteToContinuousDataSource": _Targets.of_stream,
    **dict.fromkeys(("InsertIntoDataSourceDirCommand", "InsertIntoHiveDirCommand"), _Targets.of_directory),
    **dict.fromkeys(
        (
            "CreateDataSourceTableAsSelectCommand", "CreateHiveTableAsSelectCommand", "SaveAsV1TableCommand",
            "OptimizedCreateHiveTableAsSelectCommand", "InsertIntoHiveTable", "LoadDataCommand",
            "CreateDeltaTableCommand",
        ),
        _Targets.of_catalog_table,
    ),
}  # fmt: skip


def _identified(node: PlanNode, catalogs: Catalogs, path: str | None = None) -> Dataset | None:
    """Return the table that a resolved name stands for."""
    identifier = node.properties.get("identifier") or node.properties.get("ident")
    if not isinstance(identifier, list):
        return None
    location = (node.properties.get("v2") or {}).get("location") or path
    return catalogs.catalog_table({"table": [node.properties.get("catalog"), *identifier], "location": location})


def _appends(root: PlanNode) -> bool:
    if root.name in _APPENDS or root.name.startswith("WriteTo") or root.properties.get("isPartial"):
        return True
    if root.name in ("InsertIntoHiveTable", "InsertIntoDataSourceCommand"):
        return not root.properties.get("overwrite")
    return root.properties.get("mode") == "Append"


def _schema(root: PlanNode, names: tuple[str, ...]) -> Any:
    columns = schema_of(root.properties.get("columns"))
    if len(columns) != len(names):
        return columns
    return tuple(replace(one, name=name) for one, name in zip(columns, names, strict=True))
