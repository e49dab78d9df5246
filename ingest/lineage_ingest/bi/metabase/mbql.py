"""MBQL to SQL: the older form of Metabase's query language, by its grammar (metabase.legacy-mbql.schema)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from lineage.frozen import frozen
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage_ingest.bi.exported import QueryProblems
from lineage_ingest.bi.json_objects import objects_in
from lineage_ingest.bi.metabase.clauses import FIELDS, clauses_in, column_name, operator_of
from lineage_ingest.bi.metabase.column_references import SOURCE, ColumnReferences, MbqlScope
from lineage_ingest.bi.metabase.mbql_expressions import ExpressionWriter
from lineage_ingest.bi.metabase.metadata import CardReference, MetabaseObjects, ObjectId, as_id, identity_of
from lineage_ingest.bi.metabase.native import write_native
from lineage_ingest.bi.metabase.source_columns import NO_COLUMNS, Origin, SourceColumns, origin_of
from lineage_ingest.bi.templates.written_sql import LITERAL, asset_reference, number_repeated, quote, table_reference

__all__ = ["QueryWriter"]

_MAX_NESTING = 60
"""Queries inside queries."""
_KNOWN_PARTS = frozenset(
    (
        "source-table", "source-query", "source-metadata", "aggregation", "breakout", "fields", "filter", "joins",
        "expressions", "order-by", "limit", "page", "aggregation-idents", "breakout-idents", "expression-idents",
        "parameters", "middleware", "lib/stage-metadata", "lib/options",
    )
)  # fmt: skip
_OF_METRIC = frozenset(("aggregation", "breakout", "order-by", "limit", "fields"))
"""Parts of a metric's query that are not read where another query begins with the metric."""
_JOINS = {"left-join": "LEFT JOIN", "right-join": "RIGHT JOIN", "inner-join": "JOIN", "full-join": "FULL JOIN"}


@frozen
class _Output:
    """An output column: its SQL, its name before equal names are numbered, the fields that it is."""

    text: str
    name: str
    origins: tuple[Origin, ...] = ()


class QueryWriter:
    """Writes one card's query as SQL. `problems` has what could not be read, `needs` the cards that it reads."""

    def __init__(self, metadata: MetabaseObjects, dialect: str) -> None:
        self._metadata = metadata
        self._dialect = dialect
        self.problems = QueryProblems()
        self._columns = ColumnReferences(metadata, dialect, self.problems)
        self._expressions = ExpressionWriter(metadata, dialect, self.problems)
        self.needs: dict[str, None] = {}
        self.absent: set[ObjectId] = set()
        """Cards that it reads and that are not in the export, by id."""
        self._depth = 0

    def write(self, query: Mapping[str, Any]) -> str:
        """Return the SQL of a query."""
        return self._query(query)[0]

    def _query(self, query: Mapping[str, Any]) -> tuple[str, SourceColumns]:
        """Return the SQL of a query and its columns; no columns if they are not known."""
        self._depth += 1
        if self._depth > _MAX_NESTING:
            self._depth -= 1
            self.problems.add_not_read("the query nests too deeply to be read")
            return "SELECT NULL", NO_COLUMNS
        try:
            if "native" in query:
                native = query["native"] if isinstance(query["native"], str) else str(query["native"])
                written = write_native(native, query.get("template-tags") or {}, self, self._dialect)
                return written, NO_COLUMNS
            return self._structured(query)
        finally:
            self._depth -= 1

    def _structured(self, query: Mapping[str, Any]) -> tuple[str, SourceColumns]:
        for part in sorted(set(query) - _KNOWN_PARTS):
            self.problems.add_not_read(f"the query's part {part!r} is not known")
        source, columns = self._source(query)
        scope = self._scope(query, columns)
        joins = objects_in(query.get("joins"))
        if len(joins) < len(query.get("joins") or ()):
            self.problems.add_not_read("a join is not of a known form")
        scope.aliases = {str(join.get("alias")) for join in joins}
        written_joins = [self._join(join, scope) for join in joins]
        breakouts = [self._output(one, scope) for one in clauses_in(query.get("breakout"))]
        outputs = [*breakouts, *(self._aggregation(one, scope) for one in scope.aggregations)]
        star = False
        if not outputs:
            outputs, star = self._plain_columns(query, joins, scope)
        self._report_shown_fields(origin for one in outputs for origin in one.origins)
        listed, columns = self._listed(outputs, star=star)
        where = query.get("filter")
        condition = self._expressions.expression(where, scope) if where else ""
        end = list(self._ordered_and_limited(query, scope))
        is_distinct = bool(breakouts) and not scope.aggregations
        lines = [f"SELECT {'DISTINCT ' if is_distinct else ''}{listed}", f"FROM {source} AS {self.quote(SOURCE)}"]
        lines += [*written_joins, *scope.implicit.values()]  # complete only when all expressions are written
        lines += [f"WHERE {condition}"] if condition else []
        if scope.aggregations and breakouts:
            lines.append("GROUP BY " + ", ".join(one.text for one in breakouts))
        return "\n".join((*lines, *end)), columns

    def _scope(self, query: Mapping[str, Any], columns: SourceColumns) -> MbqlScope:
        expressions = query.get("expressions")
        scope = MbqlScope(columns, expressions if isinstance(expressions, Mapping) else {})
        scope.aggregations = clauses_in(query.get("aggregation"))
        first = self._metadata.card(query["source-table"]) if isinstance(query.get("source-table"), str) else None
        scope.source_metric = first.key if first is not None and first.card.get("type") == "metric" else None
        return scope

    def _aggregation(self, clause: Any, scope: MbqlScope) -> _Output:
        name = column_name(self._metadata.without_metric(clause))
        return _Output(self._expressions.aggregation(clause, scope), name)

    def _listed(self, outputs: Sequence[_Output], *, star: bool) -> tuple[str, SourceColumns]:
        """Return the select list and its columns; `star`: all columns of the source precede, which are not known."""
        names = number_repeated(one.name for one in outputs)
        listed = [f"{one.text} AS {self.quote(name)}" for one, name in zip(outputs, names, strict=True)]
        if star:
            return ",\n  ".join((f"{self.quote(SOURCE)}.*", *listed)), NO_COLUMNS
        columns = SourceColumns.of((name, one.origins) for one, name in zip(outputs, names, strict=True))
        return ",\n  ".join(listed) or "NULL", columns

    def _ordered_and_limited(self, query: Mapping[str, Any], scope: MbqlScope) -> Iterator[str]:
        """Yield the clauses of the order and the limit: the order of a subquery without a limit decides nothing."""
        order = [self._expressions.order(one, scope) for one in clauses_in(query.get("order-by"))]
        limited = query.get("limit") or query.get("page")
        if order and (limited or self._depth == 1):
            yield "ORDER BY " + ", ".join(order)
        if limited and self._dialect not in ("tsql", "fabric", "oracle"):
            yield "LIMIT 1"
        elif limited and order:
            yield "OFFSET 0 ROWS FETCH NEXT 1 ROWS ONLY"

    # Sources

    def _source(self, query: Mapping[str, Any]) -> tuple[str, SourceColumns]:
        if isinstance(query.get("source-query"), Mapping):
            text, columns = self._query(query["source-query"])
            return f"(\n{text}\n)", columns
        table = query.get("source-table")
        if table is None:
            self.problems.add_not_read("the query has no source table")
            return "(SELECT NULL)", NO_COLUMNS
        return self._table(table)

    def _table(self, table: Any) -> tuple[str, SourceColumns]:
        own = as_id(table)
        info = self._metadata.table(own)
        if info is not None:
            return table_reference(info.parts, self._dialect), SourceColumns.of(self._metadata.columns_of(own))
        card = self._metadata.card(table)
        if card is not None and card.card.get("type") == "metric":
            return self._source_of_metric(card)
        if card is not None:
            return self.read_card(card), SourceColumns.of(_columns_of_card(card))
        if isinstance(table, str):
            self._note_absent(table)
        self.problems.add_not_read(
            f"the {'card' if isinstance(table, str) else 'table'} {table} is not in the export",
            "add the JSON of /api/database/ID/metadata, and of all cards",
        )
        return "(SELECT NULL)", NO_COLUMNS

    def _source_of_metric(self, card: CardReference) -> tuple[str, SourceColumns]:
        """Return what a metric aggregates, filtered as it does: a query that begins with the metric reads that."""
        query = self._metadata.query_of_metric(identity_of(card.card))
        if query is None:
            self.problems.add_not_read(f"what the metric {card.key} aggregates is not known")
            return "(SELECT NULL)", NO_COLUMNS
        inner = {part: value for part, value in query.items() if part not in _OF_METRIC}
        inner["joins"] = [{**join, "fields": "all"} for join in objects_in(query.get("joins"))]
        text, columns = self._query(inner)
        return f"(\n{text}\n)", columns

    def read_card(self, card: CardReference) -> str:
        """Return the reference to a card, and note that it is read."""
        self.needs[card.key] = None
        return asset_reference(card.key, self._dialect)

    def table(self, one: Any) -> str | None:
        """Return the reference to a table; None if it is not in the export."""
        info = self._metadata.table(as_id(one)) if one is not None else None
        return table_reference(info.parts, self._dialect) if info is not None else None

    def card(self, card_id: Any) -> CardReference | None:
        """Return a card of the export."""
        found = self._metadata.card(card_id)
        if found is None and isinstance(card_id, int | str):
            self._note_absent(card_id)
        return found

    def _note_absent(self, card: int | str) -> None:
        self.absent.add(str(card).removeprefix("card__"))

    def snippet(self, name: str) -> str | None:
        """Return the text of a snippet by its name."""
        return self._metadata.snippets.get(name.casefold())

    def quote(self, name: str) -> str:
        """Return a name in quotes."""
        return quote(name, self._dialect)

    def field_condition(self, clause: Any, alias: str | None) -> str | None:
        """Return the condition that a field filter of a native query becomes; None if its field is not known."""
        if not (isinstance(clause, list) and len(clause) > 1):
            return None
        info = self._metadata.field(as_id(clause[1]))
        if info is None:
            return None
        table = self._metadata.table(info.table)
        if alias:
            column = f"{alias}.{self.quote(info.path[0])}" if "." not in alias else alias
        elif table is not None:
            column = f"{table_reference(table.parts, self._dialect)}.{self.quote(info.path[0])}"
        else:
            return None
        return f"{column} = {LITERAL}"

    def _join(self, join: Mapping[str, Any], scope: MbqlScope) -> str:
        alias = str(join.get("alias") or "join")
        if isinstance(join.get("source-query"), Mapping):
            text, columns = self._query(join["source-query"])
            source = f"(\n{text}\n)"
        else:
            source, columns = self._table(join.get("source-table"))
        scope.join_columns[alias] = columns
        condition = join.get("condition")
        written = self._expressions.expression(condition, scope) if condition else "TRUE"
        strategy = str(join.get("strategy") or "left-join")
        if strategy not in _JOINS:
            self.problems.add_not_read(f"the join strategy {strategy!r} is not known")
        return f"{_JOINS.get(strategy, 'LEFT JOIN')} {source} AS {self.quote(alias)} ON {written}"

    # Outputs

    def _plain_columns(
        self, query: Mapping[str, Any], joins: list[Mapping[str, Any]], scope: MbqlScope
    ) -> tuple[list[_Output], bool]:
        """Return the columns of a query without aggregation, and whether all columns of its source precede them."""
        star = False
        outputs: list[_Output] = []
        fields = clauses_in(query.get("fields"))
        if fields:
            outputs = [self._output(one, scope) for one in fields]
        else:
            star = not scope.columns.names
            outputs = [self._passed_on(SOURCE, one, scope.columns.origins_of(one)) for one in scope.columns.names]
            outputs += [_Output(self._expressions.named_expression(name, scope), name) for name in scope.expressions]
        for join in joins:
            wanted, alias = join.get("fields"), str(join.get("alias") or "join")
            if wanted == "all":
                columns = scope.join_columns.get(alias, NO_COLUMNS)
                if not columns.names:
                    self.problems.add_not_read(f"the columns of the join {alias!r} are not known")
                for one in columns.names:
                    origins = [(own, alias) for own, _ in columns.origins_of(one)]
                    outputs.append(self._passed_on(alias, one, [*origins, (one, alias)]))
            elif isinstance(wanted, list):
                listed = {one.text for one in outputs}
                more = [self._output(one, scope) for one in wanted]
                outputs += [one for one in more if one.text not in listed]
        return outputs, star

    def _report_shown_fields(self, origins: Iterable[Origin]) -> None:
        """Report fields in place of which people see one of another table."""
        for field, _ in origins:
            info = self._metadata.field(field) if not isinstance(field, str) else None
            shown = self._metadata.field(info.shown_as) if info is not None and info.shown_as is not None else None
            if info is not None and shown is not None:
                table = self._metadata.table(shown.table)
                name = ".".join((*(table.parts if table is not None else ()), *shown.path))
                message = f"{'.'.join(info.path)} is shown as {name}: that is not followed"
                self.problems.add(Diagnostic(DiagnosticCode.NOT_FOLLOWED, Severity.INFO, message))

    def _output(self, clause: Any, scope: MbqlScope) -> _Output:
        origin = origin_of(clause)
        name = self._name(clause, scope)
        origins = [] if origin is None else [origin, (name, origin[1])]
        return _Output(self._expressions.expression(clause, scope), name, tuple(origins))

    def _passed_on(self, relation: str, name: str, origins: Iterable[Origin]) -> _Output:
        return _Output(f"{self.quote(relation)}.{self.quote(name)}", name, tuple(origins))

    def _name(self, clause: Any, scope: MbqlScope) -> str:
        operator = operator_of(clause)
        if operator in FIELDS:
            return self._columns.column(clause, scope)[1]
        if operator == "expression":
            return str(clause[1])
        return "expression"

    def report(self, problem: Diagnostic) -> None:
        """Add a problem, once."""
        self.problems.add(problem)


def _columns_of_card(card: CardReference) -> Iterator[tuple[str, list[Origin]]]:
    """Yield the columns of a card as Metabase lists them, each with the fields that it comes from."""
    listed = card.card.get("result_metadata")
    for column in listed if isinstance(listed, list) else ():
        if isinstance(column, Mapping):
            reference = origin_of(column.get("field_ref"))
            identity = [] if column.get("id") is None else [(as_id(column["id"]), reference[1] if reference else None)]
            yield str(column.get("name")), [*identity, *([] if reference is None else [reference])]
