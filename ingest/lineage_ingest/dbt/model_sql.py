"""The SQL of a model: compiled if dbt compiled it, else rendered from its raw code; of a snapshot, what dbt runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage_ingest.dbt.manifest import Config, DbtNode, Manifest, ResourceType
from lineage_ingest.dbt.raw_sql import RawSqlRenderer, RenderingMissingError

__all__ = ["ModelSql", "ModelTexts"]


class ModelSql(NamedTuple):
    """The SQL that defines a model; `source` is the file whose text it is, `doubts` what is not known about it."""

    text: str
    source: str
    doubts: tuple[Diagnostic, ...] = ()


class ModelTexts:
    """Returns the SQL of the models of one manifest."""

    def __init__(self, manifest: Manifest, macros: Mapping[str, Any]) -> None:
        self._manifest = manifest
        self._macros = macros
        self._renderer: RawSqlRenderer | None = None

    def sql_of(self, node: DbtNode) -> ModelSql:
        """Return the SQL of a model or snapshot."""
        if node.compiled_code:
            found = ModelSql(node.compiled_code, node.compiled_path or node.original_file_path)
        else:
            found = self._rendered(node)
        if node.resource_type == ResourceType.SNAPSHOT:
            return found._replace(text=_snapshot_sql(found.text, node.config))
        return found

    def _rendered(self, node: DbtNode) -> ModelSql:
        if self._renderer is None:
            try:
                self._renderer = RawSqlRenderer(self._manifest, self._macros, _relation)
            except RenderingMissingError as error:
                problem = Diagnostic(DiagnosticCode.NOT_COMPILED, Severity.WARNING, str(error), hint=_HINT)
                return ModelSql(node.raw_code or "", node.original_file_path, (problem,))
        rendered = self._renderer.render(node)
        message = (
            "dbt has not compiled this model: its raw SQL is read, with references and the project's macros resolved"
        )
        note = Diagnostic(DiagnosticCode.NOT_COMPILED, Severity.INFO, message, hint=_HINT)
        return ModelSql(rendered.text, node.original_file_path, (note, *rendered.doubts))


_HINT = "run `dbt compile`, and ingest again"


def _relation(node: DbtNode) -> str:
    if node.relation_name:
        return node.relation_name
    last = node.identifier or node.alias or node.name
    return ".".join(part for part in (node.database, node.schema_, last) if part)


def _snapshot_sql(query: str, config: Config) -> str:
    """Return the SELECT that creates a snapshot's table: the query's columns, and when and under which key a row held.

    https://docs.getdbt.com/docs/build/snapshots#snapshot-meta-fields
    """
    names = config.snapshot_meta_column_names
    keys = (config.unique_key,) if isinstance(config.unique_key, str) else config.unique_key or ()
    since = config.updated_at or "current_timestamp"
    scd_id = " || ".join((*keys, f"cast({since} as varchar)"))
    meta = {
        "dbt_scd_id": f"md5({scd_id})",
        "dbt_updated_at": since,
        "dbt_valid_from": since,
        "dbt_valid_to": f"nullif({since}, {since})",
    }
    if config.hard_deletes == "new_record":
        meta["dbt_is_deleted"] = "'False'"
    listed = ",\n    ".join(f"{value} as {names.get(name) or name}" for name, value in meta.items())
    return f"select *,\n    {listed}\nfrom (\n{query}\n) sbq"
