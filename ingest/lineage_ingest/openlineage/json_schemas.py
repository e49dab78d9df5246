"""The schemas beside this module, compiled: one judge of whole events, and one of each facet that is read."""

from __future__ import annotations

import json
from functools import cache
from importlib import import_module, resources
from typing import Any

__all__ = ["CORE", "SchemasMissingError", "core_validator", "facet_validator", "schema_texts"]

CORE = "https://openlineage.io/spec/2-0-2/OpenLineage.json"

_FACETS = {
    "schema": "SchemaDatasetFacet",
    "columnLineage": "ColumnLineageDatasetFacet",
    "symlinks": "SymlinksDatasetFacet",
    "lifecycleStateChange": "LifecycleStateChangeDatasetFacet",
    "datasetType": "DatasetTypeDatasetFacet",
    "sql": "SQLJobFacet",
    "jobType": "JobTypeJobFacet",
    "parent": "ParentRunFacet",
    "processing_engine": "ProcessingEngineRunFacet",
}


class SchemasMissingError(RuntimeError):
    """The library that checks events against schemas is not installed; the message says how to install it."""


def schema_texts() -> dict[str, Any]:
    """Return the schemas by their `$id`."""
    folder = resources.files("lineage_ingest.openlineage").joinpath("schemas")
    files = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".json"))
    read = (json.loads(folder.joinpath(name).read_text(encoding="utf-8")) for name in files)
    return {schema["$id"]: schema for schema in read}


@cache
def core_validator(event: str) -> Any:
    """Return what checks an event of a kind (RunEvent, DatasetEvent, JobEvent).

    Raises:
        SchemasMissingError: jsonschema-rs is not installed.
    """
    return _compiled(f"{CORE}#/$defs/{event}")


@cache
def facet_validator(of: str, name: str) -> Any:
    """Return what checks a facet of a `run`, `job` or `dataset`; of one that is not read, only what all must have.

    Raises:
        SchemasMissingError: jsonschema-rs is not installed.
    """
    if name == "lineage" and of != "run":
        definition = "LineageJobFacet" if of == "job" else "LineageDatasetFacet"
        return _compiled(f"{_facet_ids()['LineageFacet']}#/$defs/{definition}")
    file = _FACETS.get(name)
    if file is None:
        return _compiled(f"{CORE}#/$defs/{of.capitalize()}Facet")
    return _compiled(f"{_facet_ids()[file]}#/$defs/{file}")


@cache
def _facet_ids() -> dict[str, str]:
    return {identifier.rpartition("/")[2].removesuffix(".json"): identifier for identifier in schema_texts()}


def _compiled(reference: str) -> Any:
    library, registry = _library()
    return library.Draft202012Validator({"$ref": reference}, registry=registry, validate_formats=True, mask="the value")


@cache
def _library() -> tuple[Any, Any]:
    # An optional extra, and all that is asked of it stands in this module.
    try:
        library = import_module("jsonschema_rs")
    except ImportError as error:
        raise SchemasMissingError(
            "OpenLineage events are checked with jsonschema-rs, which is not installed: "
            "pip install 'lineage-graph[openlineage]'"
        ) from error
    return library, library.Registry(list(schema_texts().items()))
