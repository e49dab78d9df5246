"""The manifest of a dbt project: the fields that lineage needs, of versions 10 to 12 and later minor versions.

Each node is validated alone, so that one that differs from the format is reported and the others are kept. Unknown
fields are ignored. Format: https://docs.getdbt.com/reference/artifacts/manifest-json
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cache
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.json import Decoder
from pydantic import ValidationError

from lineage.frozen import frozen
from lineage_ingest.dbt.artifacts.json_parts import FieldReader, Part, parts_of, value_of
from lineage_ingest.dbt.artifacts.manifest_nodes import (
    Consumer,
    DbtNode,
    ManifestValue,
    NodeGroup,
    ResourceType,
    TestNode,
    or_empty,
)
from lineage_ingest.dbt.artifacts.unread_columns import columns_in

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
    failures: dict[str, DbtNode]
    """The tests whose failing rows are stored, as what builds a table."""
    operations: dict[str, DbtNode]
    """The hooks of the project: on-run-start and on-run-end."""
    functions: dict[str, DbtNode]
    """The functions that models call."""
    disabled: tuple[DbtNode, ...]
    """Nodes that are not enabled; read only if none is: they show the target."""
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


_NOT_STATED = frozenset(
    ("raw_code", "compiled_code", "compiled_path", "build_path", "created_at", "checksum", "extra_ctes", "deferred")
)
_CONSUMERS = {
    "exposures": ResourceType.EXPOSURE,
    "metrics": ResourceType.METRIC,
    "semantic_models": ResourceType.SEMANTIC_MODEL,
    "saved_queries": ResourceType.SAVED_QUERY,
}
V = TypeVar("V", bound=ManifestValue)


def parse_manifest(parts: Mapping[str, Part]) -> Manifest:
    """Return the manifest whose members these are, without what differs from the format."""
    reader = _ManifestReader()
    metadata = reader.read("metadata", parts.get("metadata"), Metadata)
    nodes: dict[str, DbtNode] = {}
    operations: dict[str, DbtNode] = {}
    tests: dict[str, TestNode] = {}
    failures: dict[str, DbtNode] = {}
    for key, part in reader.members(parts, "nodes"):
        match reader.kind_of(part):
            case ResourceType.TEST:
                reader.add(tests, key, part, TestNode)
                if key in tests and tests[key].relation_name:
                    reader.add(failures, key, part, DbtNode)
            case ResourceType.OPERATION:
                reader.add(operations, key, part, DbtNode)
            case ResourceType.MODEL | ResourceType.SNAPSHOT | ResourceType.SEED | None:
                reader.add(nodes, key, part, DbtNode)
    sources: dict[str, DbtNode] = {}
    for key, part in reader.members(parts, "sources"):
        reader.add(sources, key, part, DbtNode)
    functions: dict[str, DbtNode] = {}
    for key, part in reader.members(parts, "functions"):
        reader.add(functions, key, part, DbtNode, ResourceType.FUNCTION)
    consumers: dict[str, Consumer] = {}
    for section, kind in _CONSUMERS.items():
        for key, part in reader.members(parts, section):
            reader.add(consumers, key, part, Consumer, kind)
    for key, part in reader.members(parts, "unit_tests"):
        reader.add(tests, key, part, TestNode, "unit_test")
    listed = (reader.disabled(part) for _, part in reader.members(parts, "disabled")) if not nodes else ()
    groups = [reader.read(key, part, NodeGroup) for key, part in reader.members(parts, "groups")]
    return Manifest(
        metadata=metadata or Metadata(),
        nodes=nodes,
        sources=sources,
        consumers=consumers,
        operations=operations,
        functions=functions,
        tests=tests,
        failures=failures,
        disabled=tuple(node for found in listed for node in found),
        owners={one.name: owner for one in groups if one is not None and (owner := one.owner.name or one.owner.email)},
        stated=reader.stated,
        invalid=tuple(reader.invalid),
    )


class _ManifestReader:
    """Reads the values of a manifest; what differs from the format is noted and left out."""

    def __init__(self) -> None:
        self.stated: dict[str, str] = {}
        self.invalid: list[tuple[str, str]] = []

    def members(self, parts: Mapping[str, Part], section: str) -> Iterator[tuple[str, Part]]:
        """Yield the members of a section; none if it is missing or no object."""
        try:
            yield from (parts_of(parts[section]) or {}).items() if section in parts else ()
        except ValueError as error:
            self.invalid.append((section, _reason(error)))

    def kind_of(self, part: Part) -> str | None:
        """Return the resource type of a node; None if it states none, and differs from the format."""
        try:
            kind = _KIND.decode(part).resource_type
        except ValueError:
            return None
        return kind if isinstance(kind, str) else None

    def add(self, found: dict[str, V], key: str, part: Part, of: type[V], kind: str | None = None) -> None:
        """Read a node, of a kind that it need not state, into `found`, and note what it states."""
        value = self.read(key, part, of, kind)
        if value is not None:
            found[key] = value
            self.stated[key] = _digest_stated(parts_of(part) or {}, kind)

    def disabled(self, part: Part) -> Iterator[DbtNode]:
        """Yield the nodes with one unique id that are not enabled, as far as they have the format."""
        with contextlib.suppress(ValueError):
            listed = value_of(part)
            for value in listed if isinstance(listed, list) else ():
                yield DbtNode.model_validate(value)

    def read(self, key: str, part: Part | None, of: type[V], kind: str | None = None) -> V | None:
        """Return the value, of a kind that it need not state; None if it differs from the format."""
        try:
            return of.model_validate(_fields(part, of, kind) if part is not None else {})
        except ValueError as error:
            self.invalid.append((key, _reason(error)))
            return None


def _fields(part: Part, of: type[ManifestValue], kind: str | None) -> Any:
    """Return the fields that are read of a value, and its kind."""
    fields = _reader_of(of).read(part)
    if fields is None:
        return or_empty(value_of(part))
    if kind is not None:
        fields.setdefault("resource_type", kind)
    if of is DbtNode and "columns" in fields:
        fields["columns"] = columns_in(fields["columns"])
    return fields


@cache
def _reader_of(of: type[ManifestValue]) -> FieldReader:
    names = [one.alias or name for name, one in of.model_fields.items()]
    return FieldReader(names, parts=("columns",) if of is DbtNode else ())


class _Kind(Struct):
    resource_type: Any = None


_KIND = Decoder(_Kind)


def _digest_stated(parts: Mapping[str, Part], kind: str | None) -> str:
    said = [(kind or "").encode()]
    for name, part in parts.items():
        if name not in _NOT_STATED:
            said += (name.encode(), part)
    return hashlib.blake2b(b"\0".join(said), digest_size=12).hexdigest()


def _reason(error: ValueError) -> str:
    """Return where the first error is, and what it is; without the value, which may be SQL."""
    if not isinstance(error, ValidationError):
        return "its text is damaged"
    first = error.errors(include_input=False, include_url=False)[0]
    return f"{'.'.join(map(str, first['loc'])) or 'value'}: {first['msg']}"
