"""MBQL to SQL: the older form of Metabase's query language, by its grammar (metabase.legacy-mbql.schema)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from lineage.model.diagnostics import Diagnostic
from lineage_ingest.bi.exported import not_read
from lineage_ingest.bi.metabase.clauses import AGGREGATIONS, CALLS, COMPARISONS, INFIX, aggregation_name
from lineage_ingest.bi.metabase.mbql5 import as_legacy, is_mbql5
from lineage_ingest.bi.metabase.metadata import CardReference, MetabaseObjects, ObjectId, as_id
from lineage_ingest.bi.metabase.native import write_native
from lineage_ingest.bi.metabase.source_columns import NO_COLUMNS, Origin, SourceColumns, origin_of
from lineage_ingest.bi.written_sql import LITERAL, asset_reference, number_repeated, quote, table_reference

__all__ = ["QueryWriter"]

_SOURCE = "source"
_MAX_NESTING = 60
_KNOWN_PARTS = frozenset(
    (
        "source-table", "source-query", "source-metadata", "aggregation", "breakout", "fields", "filter", "joins",
        "expressions", "order-by", "limit", "page", "aggregation-idents", "breakout-idents", "expression-idents",
        "parameters", "middleware",
    )
)  # fmt: skip
_JOINS = {"left-join": "LEFT JOIN", "right-join": "RIGHT JOIN", "inner-join": "JOIN", "full-join": "FULL JOIN"}


@dataclass(slots=True)
class _Scope:
    """What names mean in one query: its expressions, its aggregations, its implicit joins by alias."""

    columns: SourceColumns
    """Columns of its source."""
    expressions: Mapping[str, Any] = field(default_factory=dict)
    aggregations: list[Any] = field(default_factory=list)
    aliases: set[str] = field(default_factory=set)
    implicit: dict[str, str] = field(default_factory=dict)
    join_columns: dict[str, SourceColumns] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
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
        self.problems: list[Diagnostic] = []
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
            self._report("the query nests too deeply to be read")
            return "SELECT NULL", NO_COLUMNS
        try:
            if "native" in query:
                native = query["native"] if isinstance(query["native"], str) else str(query["native"])
                written = write_native(native, query.get("template-tags") or {}, self)
                return written, NO_COLUMNS
            return self._structured(query)
        finally:
            self._depth -= 1

    def _structured(self, query: Mapping[str, Any]) -> tuple[str, SourceColumns]:
        for part in sorted(set(query) - _KNOWN_PARTS):
            self._report(f"the query's part {part!r} is not known")
        source, columns = self._source(query)
        expressions = query.get("expressions")
        scope = _Scope(columns, expressions if isinstance(expressions, Mapping) else {})
        scope.aggregations = _clauses(query.get("aggregation"))
        joins = [one for one in query.get("joins") or () if isinstance(one, Mapping)]
        scope.aliases = {str(join.get("alias")) for join in joins}
        written_joins = [self._join(join, scope) for join in joins]
        breakouts = [self._output(one, scope) for one in _clauses(query.get("breakout"))]
        outputs = [*breakouts, *(_Output(self._aggregation(one, scope), _agg_name(one)) for one in scope.aggregations)]
        star = False
        if not outputs:
            outputs, star = self._plain_columns(query, joins, scope)
        names = number_repeated(one.name for one in outputs)
        listed = [f"{one.text} AS {self.quote(name)}" for one, name in zip(outputs, names, strict=True)]
        columns = SourceColumns.of((name, one.origins) for one, name in zip(outputs, names, strict=True))
        if star:
            listed.insert(0, f"{self.quote(_SOURCE)}.*")
            columns = NO_COLUMNS
        where = query.get("filter")
        condition = self._expression(where, scope) if where else ""
        order = [self._order(one, scope) for one in _clauses(query.get("order-by"))]
        lines = ["SELECT " + (",\n  ".join(listed) or "NULL"), f"FROM {source} AS {self.quote(_SOURCE)}"]
        lines += [*written_joins, *scope.implicit.values()]
        lines += [f"WHERE {condition}"] if condition else []
        if scope.aggregations and breakouts:
            lines.append("GROUP BY " + ", ".join(one.text for one in breakouts))
        elif breakouts:
            lines[0] = lines[0].replace("SELECT ", "SELECT DISTINCT ", 1)
        limited = query.get("limit") or query.get("page")
        if order and (limited or self._depth == 1):
            lines.append("ORDER BY " + ", ".join(order))
        if limited and self._dialect not in ("tsql", "fabric", "oracle"):
            lines.append("LIMIT 1")
        elif limited and order:
            lines.append("OFFSET 0 ROWS FETCH NEXT 1 ROWS ONLY")
        return "\n".join(lines), columns

    # Sources

    def _source(self, query: Mapping[str, Any]) -> tuple[str, SourceColumns]:
        if isinstance(query.get("source-query"), Mapping):
            text, columns = self._query(query["source-query"])
            return f"(\n{text}\n)", columns
        table = query.get("source-table")
        if table is None:
            self._report("the query has no source table")
            return "(SELECT NULL)", NO_COLUMNS
        return self._table(table)

    def _table(self, table: Any) -> tuple[str, SourceColumns]:
        own = as_id(table)
        info = self._metadata.table(own)
        if info is not None:
            return table_reference(info.parts, self._dialect), SourceColumns.of(self._metadata.columns_of(own))
        card = self._metadata.card(table)
        if card is not None:
            return self.read_card(card), SourceColumns.of(_columns_of_card(card))
        if isinstance(table, str):
            self._note_absent(table)
        self._report(
            f"the {'card' if isinstance(table, str) else 'table'} {table} is not in the export",
            "add the JSON of /api/database/ID/metadata, and of all cards",
        )
        return "(SELECT NULL)", NO_COLUMNS

    def read_card(self, card: CardReference) -> str:
        """Return the reference to a card, and note that it is read."""
        self.needs[card.key] = None
        return asset_reference(card.key, self._dialect)

    def table(self, one: Any) -> str | None:
        """Return the reference to a table; None if it is not in the export."""
        info = self._metadata.table(as_id(one)) if one is not None else None
        return table_reference(info.parts, self._dialect) if info is not None else None

    def card(self, one: Any) -> CardReference | None:
        """Return a card of the export."""
        found = self._metadata.card(one)
        if found is None and isinstance(one, int | str):
            self._note_absent(one)
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

    def _join(self, join: Mapping[str, Any], scope: _Scope) -> str:
        alias = str(join.get("alias") or "join")
        if isinstance(join.get("source-query"), Mapping):
            text, columns = self._query(join["source-query"])
            source = f"(\n{text}\n)"
        else:
            source, columns = self._table(join.get("source-table"))
        scope.join_columns[alias] = columns
        condition = join.get("condition")
        written = self._expression(condition, scope) if condition else "TRUE"
        strategy = str(join.get("strategy") or "left-join")
        if strategy not in _JOINS:
            self._report(f"the join strategy {strategy!r} is not known")
        return f"{_JOINS.get(strategy, 'LEFT JOIN')} {source} AS {self.quote(alias)} ON {written}"

    # Outputs

    def _plain_columns(
        self, query: Mapping[str, Any], joins: list[Mapping[str, Any]], scope: _Scope
    ) -> tuple[list[_Output], bool]:
        """Return the columns of a query without aggregation, and whether all columns of its source precede them."""
        star = False
        outputs: list[_Output] = []
        fields = _clauses(query.get("fields"))
        if fields:
            outputs = [self._output(one, scope) for one in fields]
        else:
            star = not scope.columns.names
            outputs = [self._passed_on(_SOURCE, one, scope.columns.origins_of(one)) for one in scope.columns.names]
            outputs += [_Output(self._named_expression(name, scope), name) for name in scope.expressions]
        for join in joins:
            wanted, alias = join.get("fields"), str(join.get("alias") or "join")
            if wanted == "all":
                columns = scope.join_columns.get(alias, NO_COLUMNS)
                if not columns.names:
                    self._report(f"the columns of the join {alias!r} are not known")
                for one in columns.names:
                    origins = [(own, alias) for own, _ in columns.origins_of(one)]
                    outputs.append(self._passed_on(alias, one, [*origins, (one, alias)]))
            elif isinstance(wanted, list):
                listed = {one.text for one in outputs}
                more = [self._output(one, scope) for one in wanted]
                outputs += [one for one in more if one.text not in listed]
        return outputs, star

    def _output(self, clause: Any, scope: _Scope) -> _Output:
        origin = origin_of(clause)
        name = self._name(clause, scope)
        origins = [] if origin is None else [origin, (name, origin[1])]
        return _Output(self._expression(clause, scope), name, tuple(origins))

    def _passed_on(self, relation: str, name: str, origins: Iterable[Origin]) -> _Output:
        return _Output(f"{self.quote(relation)}.{self.quote(name)}", name, tuple(origins))

    def _name(self, clause: Any, scope: _Scope) -> str:
        head = _head(clause)
        if head in ("field", "field-id", "field-literal", "datetime-field", "joined-field", "fk->"):
            return self._column(clause, scope)[1]
        if head == "expression":
            return str(clause[1])
        return "expression"

    # Expressions

    def _expression(self, clause: Any, scope: _Scope, depth: int = 0) -> str:
        """Return the SQL of a clause; values become one literal."""
        if depth > _MAX_NESTING:
            self._report("an expression nests too deeply to be read")
            return "NULL"
        if not isinstance(clause, list):
            return "NULL" if clause is None else LITERAL
        head = _head(clause)
        rest = clause[1:]
        if head in ("field", "field-id", "field-literal", "datetime-field", "joined-field", "fk->", "binning-strategy"):
            return self._column(clause, scope)[0]
        if head == "expression":
            return self._named_expression(str(rest[0]) if rest else "", scope, depth)
        if head in ("aggregation-options", "named"):
            return self._expression(rest[0] if rest else None, scope, depth + 1)
        if head == "aggregation":
            number = rest[0] if rest and isinstance(rest[0], int) else 0
            if number < len(scope.aggregations):
                return self._aggregation(scope.aggregations[number], scope)
        if head in AGGREGATIONS or head in ("distinct", "count-where", "sum-where", "distinct-where", "share",
                                            "percentile", "metric", "offset"):  # fmt: skip
            return self._aggregation(clause, scope, depth)
        if head in ("case", "if"):
            return self._case(rest, scope, depth)
        if head == "segment":
            return self._segment(rest, scope, depth)
        arguments = [self._expression(one, scope, depth + 1) for one in rest if not isinstance(one, Mapping)]
        if head in INFIX and arguments:
            return "(" + f" {INFIX[head]} ".join(arguments) + ")"
        if head in COMPARISONS and len(arguments) >= 2:
            if len(arguments) == 2:
                return f"({arguments[0]} {COMPARISONS[head]} {arguments[1]})"
            return f"({arguments[0]} {'NOT IN' if head == '!=' else 'IN'} ({', '.join(arguments[1:])}))"
        if head == "not" and len(arguments) == 1:
            return f"(NOT {arguments[0]})"
        if head in ("is-null", "not-null") and len(arguments) == 1:
            return f"({arguments[0]} IS {'NOT ' if head == 'not-null' else ''}NULL)"
        if head == "between" and len(arguments) == 3:
            return f"({arguments[0]} BETWEEN {arguments[1]} AND {arguments[2]})"
        if head == "coalesce" and arguments:
            return f"COALESCE({', '.join(arguments)})"
        if head == "concat" and arguments:
            return f"CONCAT({', '.join(arguments)})"
        if head not in CALLS:
            self._report(f"the clause {head!r} is not known")
        return f"mbql_{_identifier(head)}({', '.join(arguments)})"

    def _case(self, rest: list[Any], scope: _Scope, depth: int) -> str:
        branches = rest[0] if rest and isinstance(rest[0], list) else []
        written = [
            f"WHEN {self._expression(one[0], scope, depth + 1)} THEN {self._expression(one[1], scope, depth + 1)}"
            for one in branches
            if isinstance(one, list) and len(one) == 2
        ]
        options = rest[1] if len(rest) > 1 and isinstance(rest[1], Mapping) else {}
        default = f" ELSE {self._expression(options['default'], scope, depth + 1)}" if "default" in options else ""
        return f"CASE {' '.join(written)}{default} END" if written else "NULL"

    def _named_expression(self, name: str, scope: _Scope, depth: int = 0) -> str:
        if name in scope.expressions:
            return "(" + self._expression(scope.expressions[name], scope, depth + 1) + ")"
        return f"{self.quote(_SOURCE)}.{self.quote(name)}"

    def _segment(self, rest: list[Any], scope: _Scope, depth: int) -> str:
        segment = self._metadata.segments.get(as_id(rest[0])) if rest else None
        definition = segment.get("definition") if segment is not None else None
        if isinstance(definition, Mapping):
            query = definition
            if is_mbql5(definition):
                query = as_legacy(definition)["query"]
            elif isinstance(definition.get("query"), Mapping):
                query = definition["query"]
            return self._expression(query.get("filter"), scope, depth + 1)
        self._report(f"the segment {rest[0] if rest else ''} is not in the export", "add the JSON of /api/segment")
        return LITERAL

    def _aggregation(self, clause: Any, scope: _Scope, depth: int = 0) -> str:
        if _head(clause) in ("aggregation-options", "named") and len(clause) > 1:
            return self._aggregation(clause[1], scope, depth + 1)
        head = _head(clause)
        rest = [one for one in clause[1:] if not isinstance(one, Mapping)] if isinstance(clause, list) else []
        arguments = [self._expression(one, scope, depth + 1) for one in rest]
        first = arguments[0] if arguments else "*"
        if head == "metric":
            return self._metric(rest, scope, depth)
        if head == "count-where":
            return f"COUNT(CASE WHEN {first} THEN 1 END)"
        if head == "sum-where" and len(arguments) == 2:
            return f"SUM(CASE WHEN {arguments[1]} THEN {first} END)"
        if head == "distinct-where" and len(arguments) == 2:
            return f"COUNT(DISTINCT CASE WHEN {arguments[1]} THEN {first} END)"
        if head == "share":
            return f"AVG(CASE WHEN {first} THEN 1 ELSE 0 END)"
        if head == "distinct":
            return f"COUNT(DISTINCT {first})"
        if head == "percentile":
            return f"MEDIAN({first})"
        if head in AGGREGATIONS and (arguments or head in ("count", "cum-count")):
            return f"{AGGREGATIONS[head]}({first})"
        if head == "offset":
            self._report("the clause 'offset' is not read: the row before or after decides the value")
            return first
        return self._expression(clause, scope, depth + 1)

    def _metric(self, rest: list[Any], scope: _Scope, depth: int) -> str:
        """Return the aggregation of a metric, which is a card; its filters decide which values count."""
        definition = self._metadata.metrics.get(as_id(rest[0])) if rest else None
        card = self._metadata.card(rest[0]) if rest and definition is None else None
        query = None if definition is None else {"query": definition.get("query", definition)}
        query = card.card.get("dataset_query") if card is not None else query
        if isinstance(query, Mapping) and depth < 5:
            legacy = as_legacy(query) if is_mbql5(query) else query
            inner = legacy.get("query")
            clauses = _clauses(inner.get("aggregation")) if isinstance(inner, Mapping) else []
            if isinstance(inner, Mapping) and clauses and not inner.get("joins") and not inner.get("source-query"):
                own = _Scope(scope.columns, inner.get("expressions") or {}, clauses)
                written = self._aggregation(clauses[0], own, depth + 1)
                if inner.get("filter"):
                    condition = self._expression(inner["filter"], own, depth + 1)
                    return f"MAX(CASE WHEN {condition} THEN ({written}) END)"
                return written
        self._report(f"the metric {rest[0] if rest else ''} is not in the export, or has joins")
        return "NULL"

    def _order(self, clause: Any, scope: _Scope) -> str:
        direction = "DESC" if _head(clause) == "desc" else "ASC"
        inner = clause[1] if isinstance(clause, list) and len(clause) > 1 else None
        return f"{self._expression(inner, scope)} {direction}"

    # Columns

    def _column(self, clause: list[Any], scope: _Scope) -> tuple[str, str]:
        """Return a column reference, bucketed if the clause says so, and the column's name."""
        head, rest = clause[0], clause[1:]
        options: Mapping[str, Any] = next((one for one in rest if isinstance(one, Mapping)), {})
        if head in ("datetime-field", "binning-strategy") and rest:
            inner = rest[0] if isinstance(rest[0], list) else ["field", rest[0], None]
            text, name = self._column(inner, scope)
            return f"mbql_bucket({text})", name
        if head == "joined-field" and len(rest) == 2:
            inner = rest[1] if isinstance(rest[1], list) else ["field", rest[1], None]
            return self._column(["field", inner[1], {"join-alias": rest[0]}], scope)
        if head == "fk->" and len(rest) == 2:
            ids = [one[1] if isinstance(one, list) and len(one) > 1 else one for one in rest]
            return self._column(["field", ids[1], {"source-field": ids[0]}], scope)
        text, name = self._plain_column(rest[0] if rest else None, options, scope)
        unit = options.get("temporal-unit")
        if unit and unit != "default":
            text = f"mbql_{_identifier(str(unit))}({text})"
        if options.get("binning"):
            text = f"mbql_bin({text})"
        return text, name

    def _plain_column(self, reference: Any, options: Mapping[str, Any], scope: _Scope) -> tuple[str, str]:
        if isinstance(reference, str):
            info = None
            path: tuple[str, ...] = (reference,)
            name = reference
        else:
            info = self._metadata.field(as_id(reference))
            if info is None:
                self._report(f"the field {reference} is not in the export", "add the JSON of /api/database/ID/metadata")
                return "NULL", f"field_{reference}"
            name, path = ".".join(info.path), info.path
        alias = options.get("join-alias")
        if options.get("source-field") is not None and info is not None and not alias:
            alias = self._implicit_join(options["source-field"], info.table, scope)
        columns = scope.columns
        origin = (as_id(reference), None if not alias else str(alias))
        if alias in scope.aliases:
            columns, origin = scope.join_columns.get(str(alias), NO_COLUMNS), (origin[0], None)
        elif alias in scope.implicit:
            columns = NO_COLUMNS
        elif alias and scope.columns.names:
            alias = None  # of a join inside the source
        relation = self.quote(str(alias) if alias else _SOURCE)
        if columns.names:
            found = columns.named(origin, path[0])
            if found is None:
                self._report(f"the column {name!r} is not in what the query reads")
                return "NULL", name
            path = (found, *path[1:])
        return f"{relation}.{'.'.join(map(self.quote, path))}", name

    def _implicit_join(self, source_field: Any, table: ObjectId, scope: _Scope) -> str:
        """Return the alias of the table that a foreign key refers to; it is joined where a column of it is read."""
        source = self._metadata.field(as_id(source_field))
        info = self._metadata.table(table)
        key = source.path[-1] if source is not None else str(source_field)
        alias = f"{info.parts[-1] if info is not None else table}__via__{key}"
        if alias in scope.implicit:
            return alias
        written = table_reference(info.parts, self._dialect) if info is not None else quote(str(table), self._dialect)
        target = self._metadata.field(source.target) if source is not None and source.target is not None else None
        if source is not None and target is not None:
            left = f"{self.quote(_SOURCE)}.{self.quote(source.path[0])}"
            condition = f"{left} = {self.quote(alias)}.{self.quote(target.path[0])}"
        else:
            condition = "TRUE"
            self._report(f"the foreign key {key} has no known target: the condition of its join is not known")
        scope.implicit[alias] = f"LEFT JOIN {written} AS {self.quote(alias)} ON {condition}"
        return alias

    def _report(self, message: str, hint: str | None = None) -> None:
        self.report(not_read(message, hint))

    def report(self, problem: Diagnostic) -> None:
        """Add a problem, once."""
        if problem not in self.problems:
            self.problems.append(problem)


def _clauses(value: Any) -> list[Any]:
    """Return a list of clauses; one clause that is not in a list counts as one."""
    if not isinstance(value, list) or not value:
        return []
    return [value] if isinstance(value[0], str) else [one for one in value if isinstance(one, list)]


def _head(clause: Any) -> str:
    return str(clause[0]).lower().replace("_", "-") if isinstance(clause, list) and clause else ""


def _agg_name(clause: Any) -> str:
    if _head(clause) in ("aggregation-options", "named") and len(clause) > 2:
        options = clause[2]
        if isinstance(options, Mapping):
            return str(options.get("name") or options.get("display-name") or _agg_name(clause[1]))
        return str(options)
    return aggregation_name(_head(clause))


def _identifier(text: str) -> str:
    return "".join(one if one.isalnum() else "_" for one in text) or "clause"


def _columns_of_card(card: CardReference) -> Iterator[tuple[str, list[Origin]]]:
    """Yield the columns of a card as Metabase lists them, each with the fields that it comes from."""
    listed = card.card.get("result_metadata")
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, Mapping):
            reference = origin_of(one.get("field_ref"))
            identity = [] if one.get("id") is None else [(as_id(one["id"]), reference[1] if reference else None)]
            yield str(one.get("name")), [*identity, *([] if reference is None else [reference])]
