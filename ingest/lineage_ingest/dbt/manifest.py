"""The manifest of a dbt project: the fields that lineage needs, of versions 10 to 12 and later minor versions.

Each node is validated alone, so that one that differs from the format is reported and the others are kept. Unknown
fields are ignored. Format: https://docs.getdbt.com/reference/artifacts/manifest-json
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import to_json

__all__ = [
    "DescribedColumn",
    "Config",
    "Consumer",
    "Manifest",
    "Metadata",
    "DbtNode",
    "MetricInput",
    "ResourceType",
    "SemanticElement",
    "TestNode",
    "parse_manifest",
]


class ResourceType(StrEnum):
    """The kinds of nodes that are read."""

    MODEL = "model"
    SNAPSHOT = "snapshot"
    SEED = "seed"
    SOURCE = "source"
    TEST = "test"
    OPERATION = "operation"
    EXPOSURE = "exposure"
    METRIC = "metric"
    SEMANTIC_MODEL = "semantic_model"
    SAVED_QUERY = "saved_query"


def _or_empty(value: Any) -> Any:
    """Return the value, an empty one for null: dbt writes both for what is not set."""
    return {} if value is None else value


def _mapping_or_empty(value: Any) -> Any:
    """Return metadata; what is no mapping counts as none, rather than costing the node."""
    return value if isinstance(value, Mapping) else {}


def _as_list(value: Any) -> Any:
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else value


def _hook_texts(value: Any) -> Any:
    """Return the statements of hooks: dbt writes objects, older versions texts."""
    listed = _as_list(value)
    return [one.get("sql", "") if isinstance(one, Mapping) else one for one in listed]


_Meta = Annotated[dict[str, Any], BeforeValidator(_mapping_or_empty)]
_Texts = Annotated[tuple[str, ...], BeforeValidator(_as_list)]
_Hooks = Annotated[tuple[str, ...], BeforeValidator(_hook_texts)]


class _Tolerant(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, coerce_numbers_to_str=True)


class DeclaredConstraint(_Tolerant):
    """A constraint of a contract; those of a table name their columns."""

    type: str = "custom"
    columns: _Texts = ()
    expression: str | None = None


_Constraints = Annotated[tuple[DeclaredConstraint, ...], BeforeValidator(_as_list)]


class _Labels(_Tolerant):
    """The part of a configuration that since dbt 1.10 holds metadata and tags."""

    meta: _Meta = {}
    tags: _Texts = ()


_NO_LABELS = _Labels()


class DescribedColumn(_Tolerant):
    """A column that a properties file describes."""

    name: str
    data_type: str | None = None
    quote: bool | None = None
    description: str | None = None
    meta: _Meta = {}
    tags: _Texts = ()
    constraints: _Constraints = ()
    config: Annotated[_Labels, BeforeValidator(_or_empty)] = _NO_LABELS


class _Contract(_Tolerant):
    enforced: bool = False


_NO_CONTRACT = _Contract()


class Config(_Tolerant):
    """The resolved configuration of a node."""

    materialized: str | None = None
    schema_: str | None = Field(default=None, alias="schema")
    database: str | None = None
    quote_columns: bool | None = None
    column_types: Annotated[dict[str, str], BeforeValidator(_or_empty)] = {}
    delimiter: str | None = None
    pre_hook: _Hooks = Field(default=(), alias="pre-hook")
    post_hook: _Hooks = Field(default=(), alias="post-hook")
    # Snapshots
    unique_key: str | tuple[str, ...] | None = None
    strategy: str | None = None
    updated_at: str | None = None
    hard_deletes: str | None = None
    snapshot_meta_column_names: Annotated[dict[str, str | None], BeforeValidator(_or_empty)] = {}
    # Labels
    meta: _Meta = {}
    tags: _Texts = ()
    group: str | None = None
    severity: str | None = None
    contract: Annotated[_Contract, BeforeValidator(_or_empty)] = _NO_CONTRACT


class _DependsOn(_Tolerant):
    nodes: _Texts = ()


_NOTHING_NEEDED = _DependsOn()


class DbtNode(_Tolerant):
    """A model, snapshot, seed, source or test."""

    unique_id: str
    resource_type: str
    name: str
    package_name: str = ""
    database: str | None = None
    schema_: str | None = Field(default=None, alias="schema")
    alias: str | None = None
    identifier: str | None = None
    relation_name: str | None = None
    original_file_path: str = ""
    root_path: str | None = None
    language: str | None = None
    raw_code: str | None = None
    compiled_code: str | None = None
    compiled_path: str | None = None
    config: Annotated[Config, BeforeValidator(_or_empty)] = Config()
    columns: Annotated[dict[str, DescribedColumn], BeforeValidator(_or_empty)] = {}
    depends_on: Annotated[_DependsOn, BeforeValidator(_or_empty)] = _NOTHING_NEEDED
    version: str | None = None
    latest_version: str | None = None
    # What it says of its table
    description: str | None = None
    meta: _Meta = {}
    tags: _Texts = ()
    constraints: _Constraints = ()
    patch_path: str | None = None

    @property
    def is_python(self) -> bool:
        """Whether it is a Python model."""
        return self.language == "python" or self.original_file_path.endswith(".py")

    @property
    def is_ephemeral(self) -> bool:
        """Whether it has no relation: its SQL is a CTE of the models that read it."""
        return self.config.materialized == "ephemeral"


class _TestMetadata(_Tolerant):
    name: str = ""
    namespace: str | None = None
    kwargs: _Meta = {}


_NO_METADATA = _TestMetadata()


class TestNode(_Tolerant):
    """A data test, generic or singular, or a unit test."""

    __test__: ClassVar[bool] = False  # no test of pytest

    unique_id: str
    resource_type: str
    name: str
    original_file_path: str = ""
    column_name: str | None = None
    attached_node: str | None = None
    test_metadata: Annotated[_TestMetadata, BeforeValidator(_or_empty)] = _NO_METADATA
    config: Annotated[Config, BeforeValidator(_or_empty)] = Config()
    depends_on: Annotated[_DependsOn, BeforeValidator(_or_empty)] = _NOTHING_NEEDED
    tested_node_unique_id: str | None = None


class SemanticElement(_Tolerant):
    """An entity, dimension or measure of a semantic model: its name, and its expression over the model's columns."""

    name: str
    expr: str | None = None
    agg: str | None = None


class MetricInput(_Tolerant):
    """A measure or metric that a metric is made of, and what narrows or moves it."""

    name: str
    filter: Any = None
    offset_window: Any = None
    offset_to_grain: Any = None

    @property
    def is_plain(self) -> bool:
        """Whether all of it is taken, as of the same time."""
        return not (self.filter or self.offset_window or self.offset_to_grain)


class _ConversionParams(_Tolerant):
    base_measure: MetricInput | None = None
    conversion_measure: MetricInput | None = None
    base_metric: MetricInput | None = None
    conversion_metric: MetricInput | None = None


class _CumulativeParams(_Tolerant):
    metric: MetricInput | None = None


_NO_CONVERSION, _NO_CUMULATION = _ConversionParams(), _CumulativeParams()


class _TypeParams(_Tolerant):
    measure: MetricInput | None = None
    numerator: MetricInput | None = None
    denominator: MetricInput | None = None
    metrics: Annotated[tuple[MetricInput, ...], BeforeValidator(_as_list)] = ()
    conversion_type_params: Annotated[_ConversionParams, BeforeValidator(_or_empty)] = _NO_CONVERSION
    cumulative_type_params: Annotated[_CumulativeParams, BeforeValidator(_or_empty)] = _NO_CUMULATION

    def inputs(self) -> tuple[MetricInput, ...]:
        """Return the measures and metrics that the metric is made of."""
        conversion = self.conversion_type_params
        listed = (
            self.measure, self.numerator, self.denominator, *self.metrics,
            conversion.base_measure, conversion.conversion_measure, conversion.base_metric,
            conversion.conversion_metric, self.cumulative_type_params.metric,
        )  # fmt: skip
        return tuple(one for one in listed if one is not None)


class _QueryParams(_Tolerant):
    metrics: _Texts = ()


class _NodeRelation(_Tolerant):
    relation_name: str | None = None


_NO_TYPE_PARAMS, _NO_QUERY, _NO_RELATION = _TypeParams(), _QueryParams(), _NodeRelation()
_Elements = Annotated[tuple[SemanticElement, ...], BeforeValidator(_as_list)]


class _Owner(_Tolerant):
    name: str | None = None
    email: str | None = None


_NOBODY = _Owner()


class _Group(_Tolerant):
    name: str
    owner: Annotated[_Owner, BeforeValidator(_or_empty)] = _NOBODY


class Consumer(_Tolerant):
    """What reads models: an exposure, metric, semantic model or saved query."""

    unique_id: str
    resource_type: str
    name: str
    original_file_path: str = ""
    depends_on: Annotated[_DependsOn, BeforeValidator(_or_empty)] = _NOTHING_NEEDED
    # What it says of itself
    description: str | None = None
    meta: _Meta = {}
    tags: _Texts = ()
    config: Annotated[Config, BeforeValidator(_or_empty)] = Config()
    group: str | None = None
    owner: Annotated[_Owner, BeforeValidator(_or_empty)] = _NOBODY
    # Semantic models
    node_relation: Annotated[_NodeRelation, BeforeValidator(_or_empty)] = _NO_RELATION
    entities: _Elements = ()
    dimensions: _Elements = ()
    measures: _Elements = ()
    # Metrics
    type: str | None = None
    type_params: Annotated[_TypeParams, BeforeValidator(_or_empty)] = _NO_TYPE_PARAMS
    filter: Any = None
    # Saved queries
    query_params: Annotated[_QueryParams, BeforeValidator(_or_empty)] = _NO_QUERY


class Metadata(_Tolerant):
    """Who wrote the manifest, and when."""

    dbt_schema_version: str = ""
    generated_at: datetime | None = None
    project_name: str | None = None
    invocation_id: str | None = None
    adapter_type: str | None = None


class Manifest(_Tolerant):
    """A manifest; `macros` are kept as they are. `invalid` are the nodes that differ from the format, with reasons."""

    metadata: Metadata = Metadata()
    nodes: dict[str, DbtNode] = {}
    sources: dict[str, DbtNode] = {}
    consumers: dict[str, Consumer] = {}
    tests: dict[str, TestNode] = {}
    operations: dict[str, DbtNode] = {}
    """The hooks of the project: on-run-start and on-run-end."""
    owners: dict[str, str] = {}
    """Owners of groups, by the group's name."""
    stated: dict[str, str] = {}
    """Digests of what nodes and tests state, apart from their code and from what each run of dbt writes anew."""
    invalid: tuple[tuple[str, str], ...] = ()

    @property
    def models(self) -> Iterator[DbtNode]:
        """The nodes that SQL or Python builds: models and snapshots."""
        built = (ResourceType.MODEL, ResourceType.SNAPSHOT)
        return (node for node in self.nodes.values() if node.resource_type in built)


_NODE, _CONSUMER, _TEST = TypeAdapter(DbtNode), TypeAdapter(Consumer), TypeAdapter(TestNode)
_GROUP = TypeAdapter(_Group)
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
        metadata = Metadata.model_validate(_or_empty(data.get("metadata")))
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
    return Manifest.model_construct(
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
