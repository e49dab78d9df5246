"""The semantic layer: what semantic models, metrics and saved queries make of columns.

A semantic model is a query: its entities and dimensions are columns, its measures aggregate
(https://docs.getdbt.com/docs/build/semantic-models). A metric has one column, made of measures or of other metrics.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lineage.model.influence.transformations import Subtype
from lineage_ingest.dbt.artifacts.manifest_nodes import Consumer, MetricInput, ResourceType, SemanticElement

__all__ = ["inputs_of", "is_read_in_full", "metrics_of", "semantic_sql", "subtype_of", "with_metric_measures"]

_AGGREGATES = {"sum_boolean": "sum", "average": "avg", "count_distinct": "count", "median": "avg", "percentile": "avg"}
"""Aggregations that SQL calls otherwise; the stand-in has the same kind of edge."""


def semantic_sql(consumer: Consumer) -> str | None:
    """Return a query that states the columns of a semantic model; None if it has none, or no relation.

    >>> measure = SemanticElement(name="total", expr="amount / 100", agg="sum")
    >>> data = {"unique_id": "s", "resource_type": "semantic_model", "name": "s", "measures": [measure]}
    >>> print(semantic_sql(Consumer.model_validate({**data, "node_relation": {"relation_name": "wh.main.orders"}})))
    select
        sum(amount / 100) as total
    from wh.main.orders
    """
    relation = consumer.node_relation.relation_name
    columns: dict[str, str] = {}
    for element in (*consumer.entities, *consumer.dimensions):
        columns.setdefault(element.name, element.expr or element.name)
    elements = dict(columns)
    for measure in consumer.measures:
        columns.setdefault(measure.name, _aggregate(measure, elements))
    if relation is None or not columns:
        return None
    listed = ",\n    ".join(f"{value} as {name}" for name, value in columns.items())
    return f"select\n    {listed}\nfrom {relation}"


def _aggregate(measure: SemanticElement, columns: Mapping[str, str]) -> str:
    agg = (measure.agg or "sum").lower()
    value = measure.expr or measure.name
    latest = measure.non_additive_dimension
    if latest is not None:  # only rows of the first or last time are taken, in all or for each group
        time = columns.get(latest.name, latest.name)
        groups = ", ".join(columns.get(one, one) for one in latest.window_groupings)
        window = f"{latest.window_choice}({time}) over ({f'partition by {groups}' if groups else ''})"
        value = f"case when {time} = {window} then {value} end"
    return f"{_AGGREGATES.get(agg, agg)}({'distinct ' if agg == 'count_distinct' else ''}{value})"


def with_metric_measures(consumers: Mapping[str, Consumer]) -> dict[str, Consumer]:
    """Return the consumers; what a metric aggregates itself is a measure of its name in the semantic model."""
    new_consumers = dict(consumers)
    models = {one.name: key for key, one in consumers.items() if one.resource_type == ResourceType.SEMANTIC_MODEL}
    for key, metric in consumers.items():
        own = metric.type_params.metric_aggregation_params
        model = models.get(own.semantic_model) if own is not None else None
        if own is None or model is None or metric.type_params.measure is not None:
            continue
        measure = SemanticElement(
            name=metric.name,
            expr=own.expr or metric.type_params.expr,
            agg=own.agg,
            agg_time_dimension=own.agg_time_dimension,
            non_additive_dimension=own.non_additive_dimension,
        )
        new_consumers[model] = new_consumers[model].model_copy(
            update={"measures": (*new_consumers[model].measures, measure)}
        )
        params = metric.type_params.model_copy(update={"measure": MetricInput(name=metric.name)})
        needs = tuple(dict.fromkeys((*metric.depends_on.nodes, model)))
        depends_on = metric.depends_on.model_copy(update={"nodes": needs})
        new_consumers[key] = metric.model_copy(update={"type_params": params, "depends_on": depends_on})
    return new_consumers


def metrics_of(consumer: Consumer) -> tuple[str, ...]:
    """Return the metrics that are columns of a metric or saved query; none for other consumers."""
    if consumer.resource_type == ResourceType.METRIC:
        return (consumer.name,)
    return consumer.query_params.metrics if consumer.resource_type == ResourceType.SAVED_QUERY else ()


def inputs_of(consumer: Consumer, consumers: Mapping[str, Consumer]) -> Iterator[tuple[str, str, str]]:
    """Yield what a metric or saved query reads: the unique id of the consumer, its column, and the own column."""
    needed = [consumers[key] for key in consumer.depends_on.nodes if key in consumers]
    measures = {m.name: one for one in needed for m in one.measures}
    metrics = {one.name: one for one in needed if one.resource_type == ResourceType.METRIC}
    if consumer.resource_type == ResourceType.SAVED_QUERY:
        yield from ((metrics[name].unique_id, name, name) for name in consumer.query_params.metrics if name in metrics)
    elif consumer.resource_type == ResourceType.METRIC:
        names = dict.fromkeys(one.name for one in consumer.type_params.inputs())
        for name in names:
            found = metrics.get(name) if name in metrics and name != consumer.name else measures.get(name)
            if found is not None:
                yield found.unique_id, name, consumer.name


def subtype_of(consumer: Consumer) -> Subtype:
    """Return how a metric's value is made of its inputs; those of a saved query are taken as they are."""
    params = consumer.type_params
    if consumer.resource_type != ResourceType.METRIC:
        return Subtype.IDENTITY
    if consumer.type == "cumulative":
        return Subtype.AGGREGATION
    inputs = params.inputs()
    plain = all(one.fill_nulls_with is None for one in inputs)
    if consumer.type == "derived":
        names = {one.alias or one.name for one in inputs}
        plain = plain and len(inputs) == 1 and (params.expr or "").strip() in names
    elif consumer.type != "simple":
        plain = False
    return Subtype.IDENTITY if plain else Subtype.TRANSFORMATION


def is_read_in_full(consumer: Consumer, inputs: int) -> bool:
    """Return whether the inputs are all that a metric depends on: no filter, and no other time, over any of them."""
    listed = consumer.type_params.inputs()
    plain = consumer.type in ("simple", "ratio", "derived") and not consumer.filter
    names = {one.name for one in listed}
    return (
        consumer.resource_type == ResourceType.METRIC
        and plain
        and all(one.is_plain for one in listed)
        and inputs == len(names) > 0
    )
