"""Names, columns and changes (DROP, RENAME) of a dataset from its facets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from lineage.export.openlineage import DATASET_FACET
from lineage.model.batch import (
    ColumnRecord,
    DatasetChange,
    DatasetRecord,
)
from lineage.model.dialects import UnknownDialectError, dialect_named
from lineage.model.names import ColumnPath, column_text, split_dataset_key
from lineage.model.namespaces import normal_namespace
from lineage.model.spelling import own_spelling, spelling_of
from lineage.model.statement import ChangeKind, DatasetKind
from lineage_ingest.openlineage.dataset_ids import DatasetId, dataset_id_of
from lineage_ingest.openlineage.facets.schemas_known import Schemas, is_whole
from lineage_ingest.openlineage.facets.sql_text import Listed
from lineage_ingest.openlineage.run_state import Facets, RunState, facet_of

__all__ = ["change_of", "listed_of", "quoted_names", "record_of", "symlinks_of"]

_KINDS = {kind.value.upper(): kind for kind in DatasetKind} | {"MODEL": DatasetKind.TABLE}


def change_of(dataset_id: DatasetId, facets: Facets, at: datetime, *, exact: bool) -> DatasetChange | None:
    """Return the DROP or RENAME in a dataset's facets, if any."""
    facet = facet_of(facets, "lifecycleStateChange")
    state = facet.get("lifecycleStateChange")
    if state == "DROP":
        return DatasetChange(ChangeKind.DROP, dataset_id.key, at)
    previous = facet.get("previousIdentifier")
    if state == "RENAME" and previous:
        before = dataset_id_of(previous["namespace"], previous["name"], exact=exact)
        if before.key != dataset_id.key:
            spelling = own_spelling(dataset_id.name)
            return DatasetChange(ChangeKind.RENAME, before.key, at, dataset_id.key, spelling=spelling)
    return None


def record_of(dataset_id: DatasetId, facets: Facets, at: datetime, aliases: Iterable[tuple[str, str]]) -> DatasetRecord:
    """Return the record of a dataset from its facets; `aliases` are pairs of keys that name one dataset."""
    fields = facet_of(facets, "schema").get("fields") or ()
    ours = facet_of(facets, DATASET_FACET)
    inferred = set(ours.get("inferred") or ())
    if is_whole(facets) or "schemaKnown" in ours:
        written = ours.get("spellings") if dataset_id.exact else None
        spellings = written if isinstance(written, dict) else {}
        columns = [
            ColumnRecord(
                path,
                data_type,
                ordinal,
                path in inferred,
                spelling=spelling_of(path, text) if isinstance(text := spellings.get(path), str) else spelling,
            )
            for path, data_type, ordinal, spelling in _columns(fields, (), dataset_id)
        ]
    else:
        columns = [
            ColumnRecord(path, data_type, None, True, spelling=spelling)
            for path, data_type, _, spelling in _columns(fields, (), dataset_id)
        ]
    kind = _KINDS.get(str(facet_of(facets, "datasetType").get("datasetType", "")).upper())
    dialect = ours.get("dialect")
    try:
        named = dialect_named(str(dialect)).name if dialect else None
    except UnknownDialectError:
        named = None
    spelling, is_spelled = own_spelling(dataset_id.name), False
    if dataset_id.exact and isinstance(ours.get("spelling"), str):
        spelling, is_spelled = ours["spelling"], True
    return DatasetRecord(
        namespace=dataset_id.namespace,
        name=str(dataset_id.name),
        kind=kind or dataset_id.kind,
        dialect=named or (dataset_id.dialect.name if dataset_id.dialect else None),
        columns=tuple(columns),
        schema_known=is_whole(facets),
        at=at,
        aliases=_further_names(dataset_id, facets, aliases),
        spelling=spelling_of(dataset_id.name, spelling),
        is_spelled=is_spelled,
    )


def symlinks_of(facets: Facets) -> Sequence[Mapping[str, Any]]:
    """Return the identifiers in a dataset's facet `symlinks`."""
    return facet_of(facets, "symlinks").get("identifiers") or ()


def _further_names(dataset_id: DatasetId, facets: Facets, aliases: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return the other names of a dataset: from our own export unchanged, else from its alias keys."""
    others = {other for key, other in aliases if key == dataset_id.key}
    if others or not dataset_id.exact:
        return tuple(sorted("/".join(split_dataset_key(other)) for other in others))
    names = ((normal_namespace(one["namespace"]), str(one["name"])) for one in symlinks_of(facets))
    return tuple(dict.fromkeys(f"{namespace}/{name}" if namespace else name for namespace, name in names))


def quoted_names(state: RunState) -> dict[tuple[str, str], frozenset[str]]:
    """Return, by dataset, the columns whose names would be parsed as paths of nested fields."""
    found: dict[tuple[str, str], frozenset[str]] = {}
    for named, facets in (*state.inputs.items(), *state.outputs.items()):
        fields = (str(one["name"]) for one in facet_of(facets, "schema").get("fields") or ())
        if quoted := {name for name in fields if column_text(name) != name}:
            found[named] = found.get(named, frozenset()) | quoted
    return found


def _columns(
    fields: Iterable[Mapping[str, Any]], above: tuple[str, ...], dataset_id: DatasetId
) -> Iterator[tuple[str, str | None, int | None, str | None]]:
    """Yield the path, type, ordinal and spelling of each column, and of the fields in it."""
    for position, field in enumerate(fields):
        parts = (*above, dataset_id.fold(str(field["name"])))
        state = field.get("ordinal_position")
        ordinal = state - 1 if isinstance(state, int) and state > 0 else (None if dataset_id.exact else position)
        path = ColumnPath(parts)
        yield str(path), field.get("type"), ordinal, path.spelling
        yield from _columns(field.get("fields") or (), parts, dataset_id)


def listed_of(dataset_id: DatasetId, facets: Facets, schemas: Schemas, named: Iterable[str]) -> Listed:
    """Return a dataset with the names that SQL may use, and its columns: from its facet, else from `schemas`."""
    names = (*(str(one["name"]) for one in symlinks_of(facets)), *sorted(named))
    if not is_whole(facets):
        return Listed(dataset_id, names, schemas.get(dataset_id.key, ()))
    fields = facet_of(facets, "schema")["fields"]
    return Listed(dataset_id, names, tuple((dataset_id.fold(str(one["name"])), one.get("type")) for one in fields))
