"""Validators compiled from OpenLineage's published JSON schemas: one per kind of event, one per facet that is read."""

from __future__ import annotations

import json
from functools import cache
from importlib import import_module, resources
from typing import Any

__all__ = [
    "CORE",
    "CORE_FILE",
    "FACETS_WITH_SCHEMA",
    "FACET_FILES",
    "SchemasMissingError",
    "core_validator",
    "facet_validator",
    "schema_texts",
]

CORE = "https://openlineage.io/spec/2-0-2/OpenLineage.json"

CORE_FILE = "OpenLineage.json"
_FACETS = {
    ("dataset", "schema"): ("SchemaDatasetFacet.json", "SchemaDatasetFacet"),
    ("dataset", "columnLineage"): ("ColumnLineageDatasetFacet.json", "ColumnLineageDatasetFacet"),
    ("dataset", "lineage"): ("LineageFacet.json", "LineageDatasetFacet"),
    ("dataset", "symlinks"): ("SymlinksDatasetFacet.json", "SymlinksDatasetFacet"),
    ("dataset", "lifecycleStateChange"): ("LifecycleStateChangeDatasetFacet.json", "LifecycleStateChangeDatasetFacet"),
    ("dataset", "datasetType"): ("DatasetTypeDatasetFacet.json", "DatasetTypeDatasetFacet"),
    ("job", "sql"): ("SQLJobFacet.json", "SQLJobFacet"),
    ("job", "jobType"): ("JobTypeJobFacet.json", "JobTypeJobFacet"),
    ("job", "lineage"): ("LineageFacet.json", "LineageJobFacet"),
    ("run", "parent"): ("ParentRunFacet.json", "ParentRunFacet"),
    ("run", "processing_engine"): ("ProcessingEngineRunFacet.json", "ProcessingEngineRunFacet"),
}
"""The facets that are read, by what they belong to and their name: the file and the definition in it."""
FACETS_WITH_SCHEMA = tuple(_FACETS)
FACET_FILES = tuple(file for file, _ in _FACETS.values())


class SchemasMissingError(RuntimeError):
    """jsonschema-rs is not installed; the message says how to install it."""


def schema_texts() -> dict[str, Any]:
    """Return the schemas by their `$id`."""
    return {schema["$id"]: schema for schema in _schemas().values()}


@cache
def core_validator(event: str) -> Any:
    """Return the validator of a kind of event: RunEvent, DatasetEvent or JobEvent.

    Raises:
        SchemasMissingError: jsonschema-rs is not installed.
    """
    return _compile(f"{CORE}#/$defs/{event}")


@cache
def facet_validator(of: str, name: str) -> Any:
    """Return the validator of a facet of a `run`, `job` or `dataset`; an unknown facet is checked as a base facet.

    Raises:
        SchemasMissingError: jsonschema-rs is not installed.
    """
    if (of, name) not in _FACETS:
        return _compile(f"{CORE}#/$defs/{of.capitalize()}Facet")
    file, definition = _FACETS[of, name]
    return _compile(f"{_schemas()[file]['$id']}#/$defs/{definition}")


@cache
def _schemas() -> dict[str, Any]:
    """Return the schemas by file name."""
    folder = resources.files("lineage_ingest.openlineage").joinpath("schemas")
    names = sorted({CORE_FILE, *FACET_FILES})
    return {name: json.loads(folder.joinpath(name).read_text(encoding="utf-8")) for name in names}


def _compile(reference: str) -> Any:
    library, registry = _library()
    return library.Draft202012Validator({"$ref": reference}, registry=registry, validate_formats=True, mask="the value")


@cache
def _library() -> tuple[Any, Any]:
    try:
        library = import_module("jsonschema_rs")
    except ImportError as error:
        raise SchemasMissingError(
            "OpenLineage events are checked with jsonschema-rs, which is not installed: "
            "pip install '.[openlineage]' in a checkout of lineage"
        ) from error
    return library, library.Registry(list(schema_texts().items()))
