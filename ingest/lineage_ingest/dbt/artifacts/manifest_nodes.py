"""What a manifest has of each node, test, exposure and metric: the fields that lineage needs.

Format: https://docs.getdbt.com/reference/artifacts/manifest-json
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import CoreSchema
from pydantic_core.core_schema import with_default_schema

__all__ = [
    "Config",
    "Consumer",
    "DbtNode",
    "DeclaredConstraint",
    "DescribedColumn",
    "ManifestValue",
    "MetricAggregation",
    "MetricInput",
    "NodeGroup",
    "QueryExport",
    "ResourceType",
    "SemanticElement",
    "TestNode",
    "or_empty",
]


class ResourceType(StrEnum):
    """The kinds of nodes that are read."""

    MODEL = "model"
    SNAPSHOT = "snapshot"
    SEED = "seed"
    SOURCE = "source"
    TEST = "test"
    OPERATION = "operation"
    FUNCTION = "function"
    EXPOSURE = "exposure"
    METRIC = "metric"
    SEMANTIC_MODEL = "semantic_model"
    SAVED_QUERY = "saved_query"


class _OrEmpty:
    """Says that what differs from a type counts as an empty value. Nothing of Python is called for each of many."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return with_default_schema(handler(source), default_factory=self._make, on_error="default")


def or_empty(value: Any) -> Any:
    """Return the value, an empty one for null: dbt writes both for what is not set."""
    return {} if value is None else value


def _as_list(value: Any) -> Any:
    if type(value) is list:
        return value
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else value


def _hook_texts(value: Any) -> Any:
    """Return the statements of hooks: dbt writes objects, older versions texts."""
    listed = _as_list(value)
    return [one.get("sql", "") if isinstance(one, Mapping) else one for one in listed]


_Meta = Annotated[dict[str, Any], _OrEmpty(dict)]
"""Metadata; what is no mapping counts as none, rather than costing the node."""
_Texts = Annotated[tuple[str, ...], BeforeValidator(_as_list)]
_Hooks = Annotated[tuple[str, ...], BeforeValidator(_hook_texts)]


class ManifestValue(BaseModel):
    """A part of the manifest: unknown fields are ignored, numbers are accepted for texts."""

    model_config = ConfigDict(extra="ignore", frozen=True, coerce_numbers_to_str=True)


class DeclaredConstraint(ManifestValue):
    """A constraint of a contract; those of a table name their columns."""

    type: str = "custom"
    columns: _Texts = ()
    expression: str | None = None


_Constraints = Annotated[tuple[DeclaredConstraint, ...], BeforeValidator(_as_list)]


class _Labels(ManifestValue):
    """The part of a configuration that since dbt 1.10 holds metadata and tags."""

    meta: _Meta = Field(default_factory=dict)
    tags: _Texts = ()


_NO_LABELS = _Labels()


class DescribedColumn(ManifestValue):
    """A column that a properties file describes."""

    name: str
    data_type: str | None = None
    quote: bool | None = None
    description: str | None = None
    meta: _Meta = Field(default_factory=dict)
    tags: _Texts = ()
    constraints: _Constraints = ()
    config: Annotated[_Labels, BeforeValidator(or_empty)] = _NO_LABELS


def _unless_unread(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    """Return columns as they are if they are read when they are asked for."""
    return value if isinstance(value, Mapping) and not isinstance(value, dict) else handler(or_empty(value))


class _Contract(ManifestValue):
    enforced: bool = False


_NO_CONTRACT = _Contract()


class Config(ManifestValue):
    """The resolved configuration of a node."""

    materialized: str | None = None
    schema_: str | None = Field(default=None, alias="schema")
    database: str | None = None
    quote_columns: bool | None = None
    column_types: Annotated[dict[str, str], BeforeValidator(or_empty)] = Field(default_factory=dict)
    delimiter: str | None = None
    pre_hook: _Hooks = Field(default=(), alias="pre-hook")
    post_hook: _Hooks = Field(default=(), alias="post-hook")
    sql_header: Any = None
    # Incremental models
    incremental_strategy: str | None = None
    on_schema_change: str | None = None
    full_refresh: bool | None = None
    unique_key: str | tuple[str, ...] | None = None
    incremental_predicates: Any = None
    predicates: Any = None
    partition_by: Any = None
    event_time: str | None = None
    # Merges of some adapters
    target_alias: Any = None
    source_alias: Any = None
    merge_on_using_columns: Any = None
    merge_update_condition: Any = None
    merge_insert_condition: Any = None
    merge_update_set_expressions: Any = None
    merge_clauses: Any = None
    matched_condition: Any = None
    not_matched_condition: Any = None
    not_matched_by_source_condition: Any = None
    not_matched_by_source_action: Any = None
    update_condition: Any = None
    insert_condition: Any = None
    delete_condition: Any = None
    # Snapshots
    strategy: str | None = None
    check_cols: Any = None
    updated_at: str | None = None
    hard_deletes: str | None = None
    target_schema: str | None = None
    target_database: str | None = None
    snapshot_meta_column_names: Annotated[dict[str, str | None], BeforeValidator(or_empty)] = Field(
        default_factory=dict
    )
    # Tests
    severity: str | None = None
    where: str | None = None
    store_failures_as: str | None = None
    # Labels
    meta: _Meta = Field(default_factory=dict)
    tags: _Texts = ()
    group: str | None = None
    contract: Annotated[_Contract, BeforeValidator(or_empty)] = _NO_CONTRACT

    @property
    def custom_schema(self) -> str | None:
        """The schema that the node's settings ask for; snapshots have a setting of their own for it."""
        return self.schema_ or self.target_schema

    @property
    def custom_database(self) -> str | None:
        """The database that the node's settings ask for."""
        return self.database or self.target_database


class _DependsOn(ManifestValue):
    nodes: _Texts = ()
    macros: _Texts = ()


_NOTHING_NEEDED = _DependsOn()


class _Checksum(ManifestValue):
    """How dbt recognizes a file: by a hash of its content, or by its path if it is large."""

    name: str = "none"
    checksum: str = ""


class FunctionArgument(ManifestValue):
    """A parameter of a function."""

    name: str


class DbtNode(ManifestValue):
    """A model, snapshot, seed, source, test or function."""

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
    checksum: Annotated[_Checksum, _OrEmpty(_Checksum)]
    config: Annotated[Config, BeforeValidator(or_empty)] = Config()
    columns: Annotated[Mapping[str, DescribedColumn], WrapValidator(_unless_unread)] = Field(default_factory=dict)
    depends_on: Annotated[_DependsOn, BeforeValidator(or_empty)] = _NOTHING_NEEDED
    version: str | None = None
    latest_version: str | None = None
    arguments: Annotated[tuple[FunctionArgument, ...], BeforeValidator(_as_list)] = ()
    # What it says of its table
    description: str | None = None
    meta: _Meta = Field(default_factory=dict)
    tags: _Texts = ()
    constraints: _Constraints = ()
    patch_path: str | None = None
    # Hooks of the project
    index: int | None = None

    @property
    def is_python(self) -> bool:
        """Whether it is a Python model."""
        return self.language == "python" or self.original_file_path.endswith(".py")

    @property
    def is_of_another_project(self) -> bool:
        """Whether another project builds it, which has its SQL: here it is only referred to."""
        return not (self.original_file_path or self.raw_code or self.compiled_code)

    @property
    def is_ephemeral(self) -> bool:
        """Whether it has no relation: its SQL is a CTE of the models that read it."""
        return self.config.materialized == "ephemeral"


class _TestMetadata(ManifestValue):
    name: str = ""
    namespace: str | None = None
    kwargs: _Meta = Field(default_factory=dict)


_NO_METADATA = _TestMetadata()


class TestNode(ManifestValue):
    """A data test, generic or singular, or a unit test."""

    __test__: ClassVar[bool] = False  # no test of pytest

    unique_id: str
    resource_type: str
    name: str
    original_file_path: str = ""
    column_name: str | None = None
    attached_node: str | None = None
    test_metadata: Annotated[_TestMetadata, BeforeValidator(or_empty)] = _NO_METADATA
    config: Annotated[Config, BeforeValidator(or_empty)] = Config()
    depends_on: Annotated[_DependsOn, BeforeValidator(or_empty)] = _NOTHING_NEEDED
    tested_node_unique_id: str | None = None
    relation_name: str | None = None


class _NonAdditive(ManifestValue):
    name: str = ""
    window_choice: str = "min"
    window_groupings: _Texts = ()


class _TimeParams(ManifestValue):
    time_granularity: str | None = None


_NO_TIME = _TimeParams()


class SemanticElement(ManifestValue):
    """An entity, dimension or measure of a semantic model: its name, and its expression over the model's columns."""

    name: str
    type: str | None = None
    expr: str | None = None
    agg: str | None = None
    agg_time_dimension: str | None = None
    non_additive_dimension: _NonAdditive | None = None
    type_params: Annotated[_TimeParams, BeforeValidator(or_empty)] = _NO_TIME


class MetricInput(ManifestValue):
    """A measure or metric that a metric is made of, and what narrows, fills or moves it."""

    name: str
    alias: str | None = None
    filter: Any = None
    offset_window: Any = None
    offset_to_grain: Any = None
    join_to_timespine: bool = False
    fill_nulls_with: Any = None

    @property
    def is_plain(self) -> bool:
        """Whether all of it is taken, as of the same time."""
        return not (self.filter or self.offset_window or self.offset_to_grain or self.join_to_timespine)


class MetricAggregation(ManifestValue):
    """What a metric aggregates of a semantic model itself, in place of a measure of the model."""

    semantic_model: str
    agg: str | None = None
    expr: str | None = None
    agg_time_dimension: str | None = None
    non_additive_dimension: _NonAdditive | None = None


class _ConversionParams(ManifestValue):
    entity: str | None = None
    base_measure: MetricInput | None = None
    conversion_measure: MetricInput | None = None
    base_metric: MetricInput | None = None
    conversion_metric: MetricInput | None = None


class _CumulativeParams(ManifestValue):
    metric: MetricInput | None = None


_NO_CONVERSION, _NO_CUMULATION = _ConversionParams(), _CumulativeParams()


class _TypeParams(ManifestValue):
    expr: str | None = None
    metric_aggregation_params: MetricAggregation | None = None
    measure: MetricInput | None = None
    numerator: MetricInput | None = None
    denominator: MetricInput | None = None
    metrics: Annotated[tuple[MetricInput, ...], BeforeValidator(_as_list)] = ()
    conversion_type_params: Annotated[_ConversionParams, BeforeValidator(or_empty)] = _NO_CONVERSION
    cumulative_type_params: Annotated[_CumulativeParams, BeforeValidator(or_empty)] = _NO_CUMULATION

    def inputs(self) -> tuple[MetricInput, ...]:
        """Return the measures and metrics that the metric is made of."""
        conversion = self.conversion_type_params
        listed = (
            self.measure, self.numerator, self.denominator, *self.metrics,
            conversion.base_measure, conversion.conversion_measure, conversion.base_metric,
            conversion.conversion_metric, self.cumulative_type_params.metric,
        )  # fmt: skip
        return tuple(one for one in listed if one is not None)


class _QueryParams(ManifestValue):
    metrics: _Texts = ()
    group_by: _Texts = ()
    where: Any = None
    order_by: _Texts = ()
    limit: int | None = None


class _ExportConfig(ManifestValue):
    export_as: str = "table"
    schema_name: str | None = None
    alias: str | None = None
    database: str | None = None


class QueryExport(ManifestValue):
    """A table or view into which a saved query is written."""

    name: str
    config: Annotated[_ExportConfig, BeforeValidator(or_empty)] = _ExportConfig()


class _Defaults(ManifestValue):
    agg_time_dimension: str | None = None


_NO_DEFAULTS = _Defaults()


class _NodeRelation(ManifestValue):
    relation_name: str | None = None


_NO_TYPE_PARAMS, _NO_QUERY, _NO_RELATION = _TypeParams(), _QueryParams(), _NodeRelation()
_Elements = Annotated[tuple[SemanticElement, ...], BeforeValidator(_as_list)]


class _Owner(ManifestValue):
    name: str | None = None
    email: str | None = None


_NOBODY = _Owner()


class NodeGroup(ManifestValue):
    """A group of nodes, with its owner."""

    name: str
    owner: Annotated[_Owner, BeforeValidator(or_empty)] = _NOBODY


class Consumer(ManifestValue):
    """What reads models: an exposure, metric, semantic model or saved query."""

    unique_id: str
    resource_type: str
    name: str
    original_file_path: str = ""
    depends_on: Annotated[_DependsOn, BeforeValidator(or_empty)] = _NOTHING_NEEDED
    # What it says of itself
    description: str | None = None
    meta: _Meta = Field(default_factory=dict)
    tags: _Texts = ()
    config: Annotated[Config, BeforeValidator(or_empty)] = Config()
    group: str | None = None
    owner: Annotated[_Owner, BeforeValidator(or_empty)] = _NOBODY
    # Semantic models
    node_relation: Annotated[_NodeRelation, BeforeValidator(or_empty)] = _NO_RELATION
    entities: _Elements = ()
    dimensions: _Elements = ()
    measures: _Elements = ()
    primary_entity: str | None = None
    defaults: Annotated[_Defaults, BeforeValidator(or_empty)] = _NO_DEFAULTS
    # Metrics
    type: str | None = None
    type_params: Annotated[_TypeParams, BeforeValidator(or_empty)] = _NO_TYPE_PARAMS
    filter: Any = None
    time_granularity: str | None = None
    # Saved queries
    query_params: Annotated[_QueryParams, BeforeValidator(or_empty)] = _NO_QUERY
    exports: Annotated[tuple[QueryExport, ...], BeforeValidator(_as_list)] = ()
