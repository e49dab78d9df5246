"""The manifest of a dbt project: the fields that lineage needs, of versions 10 to 12 and later minor versions.

Each node is validated alone, so that one that differs from the format is reported and the others are kept. Unknown
fields are ignored. Format: https://docs.getdbt.com/reference/artifacts/manifest-json
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from lineage.frozen import frozen
from lineage_ingest.dbt.manifest_nodes import (
    Consumer,
    DbtNode,
    ManifestValue,
    NodeGroup,
    ResourceType,
    TestNode,
    or_empty,
)

__all__ = ["Manifest", "Metadata", "parse_manifest"]


class Metadata(ManifestValue):
    """Who wrote the manifest, and when."""

    dbt_schema_version: str = ""
    generated_at: datetime | None = None
    project_name: str | None = None
    invocation_id: str | None = None
    adapter_type: str | None = None


@frozen
class Manifest:
    """A manifest. `invalid` are the nodes that differ from the format, with reasons."""

    metadata: Metadata
    nodes: dict[str, DbtNode]
    sources: dict[str, DbtNode]
    consumers: dict[str, Consumer]
    tests: dict[str, TestNode]
    operations: dict[str, DbtNode]
    """The hooks of the project: on-run-start and on-run-end."""
    owners: dict[str, str]
    """Owners of groups, by the group's name."""
    stated: dict[str, str]
    """Digests of what nodes and tests state, apart from their code and from what each run of dbt writes anew."""
    invalid: tuple[tuple[str, str], ...]

    @property
    def models(self) -> Iterator[DbtNode]:
        """The nodes that SQL or Python builds: models and snapshots."""
        built = (ResourceType.MODEL, ResourceType.SNAPSHOT)
        return (node for node in self.nodes.values() if node.resource_type in built)


_NODE, _CONSUMER, _TEST = TypeAdapter(DbtNode), TypeAdapter(Consumer), TypeAdapter(TestNode)
_GROUP = TypeAdapter(NodeGroup)
_NOT_STATED = frozenset(
    ("raw_code", "compiled_code", "compiled_path", "build_path", "created_at", "checksum", "extra_ctes", "deferred")
)
_READ = frozenset((ResourceType.MODEL, ResourceType.SNAPSHOT, ResourceType.SEED))
_TESTS = frozenset((ResourceType.TEST,))
_OPERATIONS = frozenset((ResourceType.OPERATION,))
_CONSUMERS = {
    "exposures": ResourceType.EXPOSURE,
    "metrics": ResourceType.METRIC,
    "semantic_models": ResourceType.SEMANTIC_MODEL,
    "saved_queries": ResourceType.SAVED_QUERY,
}
T = TypeVar("T")


def parse_manifest(data: Mapping[str, Any]) -> Manifest:
    """Return the manifest in a JSON object, without what differs from the format."""
    invalid: list[tuple[str, str]] = []
    try:
        metadata = Metadata.model_validate(or_empty(data.get("metadata")))
    except ValidationError as error:
        metadata = Metadata()
        invalid.append(("metadata", _reason(error)))

    stated: dict[str, str] = {}

    def valid(found: Any, adapter: TypeAdapter[T], kinds: frozenset[str] | None = None) -> dict[str, T]:
        read: dict[str, T] = {}
        for key, value in found.items() if isinstance(found, Mapping) else ():
            kind = value.get("resource_type") if isinstance(value, Mapping) else None
            if kinds is not None and isinstance(kind, str) and kind not in kinds:
                continue
            try:
                read[str(key)] = adapter.validate_python(value)
            except ValidationError as error:
                invalid.append((str(key), _reason(error)))
                continue
            if adapter is not _GROUP:
                stated[str(key)] = _digest_stated(value)
        return read

    consumers: dict[str, Consumer] = {}
    for name, kind in _CONSUMERS.items():
        found = data.get(name)
        typed = {key: {"resource_type": kind, **value} if isinstance(value, dict) else value
                 for key, value in found.items()} if isinstance(found, dict) else {}  # fmt: skip
        consumers |= valid(typed, _CONSUMER)
    found = data.get("unit_tests")
    unit_tests = {
        key: {"resource_type": "unit_test", **value} if isinstance(value, dict) else value
        for key, value in (found.items() if isinstance(found, dict) else ())
    }
    return Manifest(
        metadata=metadata,
        nodes=valid(data.get("nodes"), _NODE, _READ),
        sources=valid(data.get("sources"), _NODE),
        consumers=consumers,
        operations=valid(data.get("nodes"), _NODE, _OPERATIONS),
        tests=valid(data.get("nodes"), _TEST, _TESTS) | valid(unit_tests, _TEST),
        owners={
            one.name: owner
            for one in valid(data.get("groups"), _GROUP).values()
            if (owner := one.owner.name or one.owner.email) is not None
        },
        stated=stated,
        invalid=tuple(invalid),
    )


def _digest_stated(value: Mapping[str, Any]) -> str:
    said = to_json({name: one for name, one in value.items() if name not in _NOT_STATED})
    return hashlib.blake2b(said, digest_size=12).hexdigest()


def _reason(error: ValidationError) -> str:
    """Return where the first error is, and what it is; without the value, which may be SQL."""
    first = error.errors(include_input=False, include_url=False)[0]
    return f"{'.'.join(map(str, first['loc'])) or 'value'}: {first['msg']}"
