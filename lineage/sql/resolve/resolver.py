"""The resolver: one pass over a statement's syntax tree, for all output columns at once.

It dispatches by node type to rules in `lineage.sql.resolve.rules`: relation rules turn a query into a `Relation`,
expression rules define the effect of a node's operands on its value. The walk over expressions uses an explicit stack,
so that a long chain of ORs does not raise a RecursionError; only nested queries recurse, and their nesting is limited
before parsing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from time import monotonic
from typing import Any, Literal, TypeAlias

from sqlglot import exp
from sqlglot.tokenizer_core import Token

from lineage.model.diagnostics import DiagnosticCode, Severity, Span
from lineage.model.names import ColumnPath, Naming, split_name
from lineage.model.spelling import Spelled, any_spelled, spelling_of
from lineage.model.statement import ColumnRef, EarlierStatement, Edge
from lineage.sql.budget import Budget
from lineage.sql.parse.one_row_tables import column_of_one_row
from lineage.sql.resolve.calls.functions import FunctionEffects
from lineage.sql.resolve.column_names.unnamed_column import UnnamedColumn
from lineage.sql.resolve.coverage.accounting import ARGUMENTS, account, has_only_operands, report_type, report_unread
from lineage.sql.resolve.projection import Projection
from lineage.sql.resolve.relations import (
    STAR,
    BaseTable,
    ColumnSource,
    Composite,
    Mention,
    OfTemporary,
    Relation,
    RowSources,
    SeveralMentions,
    Sources,
    TableRows,
    TemporaryTable,
    absorb_rows,
    both_mentions,
)
from lineage.sql.resolve.resolution import Resolution
from lineage.sql.resolve.returning import query_of_returning
from lineage.sql.resolve.row_changes import after_change
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.tables import TableSource
from lineage.sql.resolve.transformation_codes import COMPOSE, COMPUTED, FIRST_MASKED, TRANSFORMATION

__all__ = [
    "EXPRESSION_RULES",
    "LEAVES",
    "RELATION_RULES",
    "Resolver",
    "SetOperationReferences",
    "expression_rule",
    "relation_rule",
]

SetOperationReferences: TypeAlias = Literal["exact", "paper"]
"""Whether UNION ALL references its branches: "paper" follows LineageX, "exact" omits them as no row depends on them."""

Stack: TypeAlias = "list[tuple[exp.Expr, int]]"
ExpressionRule: TypeAlias = "Callable[[Resolver, Scope, exp.Expr, int, Stack, Sources], None]"
RelationRule: TypeAlias = "Callable[[Resolver, exp.Expr, Scope], Relation]"

_DEFAULT_BUDGET = Budget()
LEAVES: set[type[exp.Expr]] = set()
"""Node types that contain no column references."""

BINARY = frozenset(
    (exp.And, exp.Or, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Is)
)
"""Node types with exactly two operands, which make up most of a WHERE."""

_OF_TABLE = frozenset(("this", "alias", "db", "catalog", "joins", "laterals", "pivots"))
"""The arguments of nearly all tables, which need no further accounting."""

_NO_NODES = frozenset((str, bool, int, type(None)))
"""Types of a node's arguments that are neither nodes nor lists of nodes."""

EXPRESSION_RULES: dict[type[exp.Expr], ExpressionRule] = {}
RELATION_RULES: dict[type[exp.Expr], RelationRule] = {}


def expression_rule(*types: type[exp.Expr]) -> Callable[[ExpressionRule], ExpressionRule]:
    """Register a rule for expressions of these types: `rule(resolver, scope, node, effect, stack, sink)`.

    The rule pushes operands with their effects on the stack to be walked, or adds sources to the sink itself.
    """

    def register(rule: ExpressionRule) -> ExpressionRule:
        EXPRESSION_RULES.update(dict.fromkeys(types, rule))
        return rule

    return register


def relation_rule(*types: type[exp.Expr]) -> Callable[[RelationRule], RelationRule]:
    """Register a rule that turns nodes of these types into relations: `rule(resolver, node, scope)`."""

    def register(rule: RelationRule) -> RelationRule:
        RELATION_RULES.update(dict.fromkeys(types, rule))
        return rule

    return register


class Resolver(Resolution):
    """Resolves one statement, and collects the tables that it reads and its diagnostics."""

    def __init__(
        self,
        naming: Naming,
        tables: TableSource,
        functions: FunctionEffects,
        *,
        text: str = "",
        tokens: Sequence[Token] = (),
        write: Callable[[Resolver, exp.Expr], Any] = lambda *_: None,
        set_operation_references: SetOperationReferences = "exact",
        budget: Budget = _DEFAULT_BUDGET,
        watched: bool = False,
    ) -> None:
        super().__init__(naming, tables, functions, text)
        self.tokens = tokens
        """The statement's tokens."""
        self.side_effects: list[Any] = []
        self.blocks: list[tuple[exp.Expr, Scope, Projection]] | None = [] if watched else None
        """The query blocks, each with its scope and its columns, if something watches the statement."""
        self.outermost: Scope | None = None
        """The scope around every query of the statement: the variables of a program."""
        self.assigned: dict[str, Sources] = {}
        """What the statement's expressions assign to variables."""
        self.around: Scope | None = None
        """The scope around a statement in another's WITH."""
        self.variable_places: dict[str, Span] = {}
        """The span where `@name` is first read, by the name in lower case."""
        self._budget = budget
        self._deadline = budget.deadline()
        self._write = write
        self.paper_set_operations = set_operation_references == "paper"
        self.own_schema: list[str] = []
        """The schema of the view being defined, in dialects that search it first for unqualified names."""
        self.reads: dict[str, None] = {}
        self.spellings: dict[str, str] = {}
        """The first spelling of each table name, for databases that show names as they were written."""
        self._base: dict[str, BaseTable | Relation] = {}
        self._shows_tables = naming.dialect.shows_tables
        self._spelled_defaults = any_spelled((naming.default_database or "", naming.default_schema or ""))
        self._shared = tables.shared
        self._shared.begin_statement()
        self._steps = functions.steps

    # Used by statements and rules

    def new_scope(self, ctes: Mapping[str, Relation] | None = None) -> Scope:
        """Return a scope for an outermost query."""
        return Scope(self, self.around or self.outermost, ctes)

    def inferred_columns(self, edges: list[Edge]) -> tuple[ColumnRef, ...]:
        """Return the base columns of edges that are not in any schema, except stars and ambiguous ones."""
        if not self.diagnostics:
            for relation in self._base.values():
                if type(relation) is not BaseTable or relation.known is None:
                    break
            else:
                return ()
        schemas = {r.name: r.known for r in self._base.values() if isinstance(r, BaseTable)}
        if None not in schemas.values() and not self.diagnostics:
            return ()
        edges_by_column: dict[ColumnRef, Edge] = {}
        for edge in edges:
            table, column = edge.source
            if table in schemas and column != STAR and not edge.ambiguous:
                known = schemas[table]
                if known is None or not (column in known or _is_one_of(column, known)):
                    edges_by_column.setdefault(edge.source, edge)
        if not self.naming.dialect.shows_columns:
            return tuple(edges_by_column)
        return tuple(self._with_spelling(reference, edge.span) for reference, edge in edges_by_column.items())

    def _with_spelling(self, reference: ColumnRef, span: Span | None) -> ColumnRef:
        """Return a column with its spelling at the span where it is read."""
        if span is None:
            return reference
        wanted = ColumnPath.parse(reference.column).parts
        written = [part for part, _ in split_name(self.text[span.start : span.end])][-len(wanted) :]
        spelling = spelling_of(reference.column, str(ColumnPath(tuple(written))))
        return reference if spelling is None else ColumnRef(reference.table, Spelled(reference.column, spelling))

    def table(self, node: exp.Table) -> Relation:
        """Return the table (or temporary table) that a node names, and record the read."""
        parts = self.identifiers.table_parts(node)
        name, relation = self.look_up(parts)
        dummy = column_of_one_row(parts, self.naming.dialect, quoted=bool(node.this.args.get("quoted")))
        if dummy is not None and type(relation) is BaseTable and set(relation.known or [dummy]) == {dummy}:
            return Relation([dummy], [{}])
        self.reads[name] = None
        return relation

    def base_table(self, name: str) -> BaseTable | Relation | None:
        """Return the relation of a table that the statement has looked up."""
        return self._base.get(name)

    def location(self, text: str) -> Relation:
        """Return the file, stage or path of that name as a table without a schema, and record the read."""
        self.reads[text] = None
        relation = self._base.get(text)
        if relation is None:
            relation = self._base[text] = self._shared.table(text, None)
        return relation

    def writing_cte(self, node: exp.Expr, scope: Scope) -> Relation:
        """Return the relation of a data-modifying CTE (its RETURNING), and record what it writes."""
        around, self.around = self.around, scope  # it sees the CTEs before it
        outcome = self._write(self, node)
        self.around = around
        self.side_effects.append(outcome)
        return self.returning_relation(node, outcome, scope) or Relation([], [])

    def returning_relation(self, node: exp.Expr, outcome: Any, scope: Scope) -> Relation | None:
        """Return the relation of a statement's RETURNING, after the changes in `outcome`; None without RETURNING."""
        query = query_of_returning(node)
        if query is None:
            return None
        held = self._base.get(outcome.target)
        if not isinstance(held, TemporaryTable):
            return self.relation(query, scope)
        # Everything else in the statement sees the rows before the change.
        self._base[outcome.target] = TemporaryTable(outcome.target, after_change(held, outcome.addition()))
        relation = self.relation(query, scope)
        self._base[outcome.target] = held
        return relation

    def name(self, table: exp.Table) -> str:
        """Return the full name of a table that a statement creates."""
        parts = self.identifiers.table_parts(table)
        return self.as_written(self._tables.name(parts), parts)

    def existing_name(self, table: exp.Table) -> str:
        """Return the full name of a table that a statement changes or drops."""
        parts = self.identifiers.table_parts(table)
        return self.as_written(self._tables.existing_name(parts), parts)

    def is_temporary(self, name: str) -> bool:
        """Return whether a table that was looked up is temporary, by its definition or its name."""
        is_variable = name.startswith("@") and "." not in name
        return isinstance(self._base.get(name), TemporaryTable) or is_variable or name.rpartition(".")[2][:1] == "#"

    def knows_table(self, node: exp.Expr) -> bool:
        """Return whether a table that a node names has known columns, without recording a read."""
        entry = self._tables.find(self.identifiers.table_parts(node)) if isinstance(node, exp.Table) else None
        return entry is not None and (entry.columns is not None or entry.relation is not None)

    def look_up(self, parts: list[str]) -> tuple[str, Relation]:
        """Return the full name of a table and its relation, without recording a read."""
        if self.own_schema and len(parts) == 1 and self._tables.in_schema(self.own_schema, parts):
            parts = [*self.own_schema, *parts]
        entry = self._tables.find(parts)
        if entry.candidates:
            self.report(
                DiagnosticCode.UNKNOWN_TABLE,
                Severity.WARNING,
                f"no schema on the search path is known to contain {parts[-1]}: {entry.name} is assumed, the "
                f"first of {', '.join(entry.candidates)}",
                hint="give the table's DDL or a JSON schema with --catalog, or ingest what creates it",
                lasts=True,
            )
        relation = self._base.get(entry.name)
        if relation is None:
            if entry.relation is not None:
                relation = TemporaryTable(entry.name, self.adopt(entry.relation))
            else:
                relation = self._shared.table(entry.name, entry.columns)
            self._base[entry.name] = relation
        return self.as_written(entry.name, parts), relation

    def as_written(self, name: str, parts: Sequence[str]) -> str:
        """Return the full name of a table, and record the spelling of its parts."""
        if not self._shows_tables:
            return name
        is_spelled = self._spelled_defaults or any_spelled(parts)
        if is_spelled and name not in self.spellings:
            spelling = self.naming.spelling(name, parts)
            if spelling is not None:
                self.spellings[name] = spelling
        return name

    def adopt(self, relation: Relation) -> Relation:
        """Return the relation of a temporary table or a variable with this statement's objects for base columns.

        Mentions are dropped, because their nodes belong to the text that defined the table.
        """
        rows: RowSources | None = None
        if relation.rows is not None:
            flat: Sources = {}
            absorb_rows(flat, relation.rows)
            rows = RowSources()
            rows.own = self._adopt_sources(flat)
        opens = [self._shared.table(r.name, None) for r in relation.opens if isinstance(r, BaseTable)]
        if UnnamedColumn in map(type, relation.names):
            self.unnamed.update({name.text: name for name in relation.names if isinstance(name, UnnamedColumn)})
        return Relation(list(relation.names), [self._adopt_sources(s) for s in relation.sources], rows, opens)

    def _adopt_sources(self, sources: Sources) -> Sources:
        adopted: Sources = OfTemporary(
            ((self._adopt_source(source), effect), _of_earlier(place)) for (source, effect), place in sources.items()
        )
        return sources.changed(adopted, self._adopt_sources) if isinstance(sources, Composite) else adopted

    def _adopt_source(self, source: ColumnSource) -> ColumnSource:
        if type(source) is TableRows:
            return self._shared.rows(source.table)
        return self.source(source.table, source.column, source.ambiguous)

    # The two walks

    def relation(self, node: exp.Expr, scope: Scope) -> Relation:
        """Return the relation of a query, a table or another FROM item.

        Raises:
            BudgetExceededError: the statement exceeds its time budget.
        """
        kind = type(node)
        if kind is not exp.Table and monotonic() > self._deadline:
            raise self._budget.out_of_time()
        rule = RELATION_RULES.get(kind)
        if rule is None:
            self.report(
                DiagnosticCode.UNSUPPORTED_SYNTAX,
                Severity.ERROR,
                f"{kind.__name__} cannot be read as a table",
                node,
            )
            return Relation([], [])
        if kind is not exp.Table or not node.args.keys() <= _OF_TABLE:
            account(self, node)
        return rule(self, node, scope)

    def evaluate(
        self, scope: Scope, root: exp.Expr, effect: int, sink: Sources, *, aliases_first: bool = False
    ) -> None:
        """Add to `sink` every base column that an expression reads, with its effect on the result."""
        stack: Stack = []
        push, leaves, column, binary, arguments = stack.append, LEAVES, exp.Column, BINARY, ARGUMENTS
        node = root
        while True:
            kind = type(node)
            if kind is column:
                composed = COMPOSE[effect]
                for (source, inner), place in scope.resolve(node, aliases_first).items():
                    key = (source, composed[inner])
                    if key not in sink:
                        sink[key] = node if place is None else (place, node)
                    elif key[1] < FIRST_MASKED:
                        sink[key] = both_mentions(sink[key], node if place is None else (place, node))
            elif kind in binary:
                effect = COMPUTED[effect]
                args = node.args
                right = args["expression"]
                if type(right) not in leaves:
                    push((right, effect))
                node = args["this"]  # the left side next, bypassing the stack
                continue
            elif kind not in leaves:
                rule = EXPRESSION_RULES.get(kind)
                if rule is not None:
                    if not node.args.keys() <= arguments[kind]:
                        report_unread(self, node)
                    rule(self, scope, node, effect, stack, sink)
                else:
                    effect = COMPOSE[effect][self._steps.get(kind) or self.step(node)]
                    for value in reversed(node.args.values()):
                        kind = type(value)
                        if kind is list:
                            for item in reversed(value):
                                if isinstance(item, exp.Expr) and type(item) not in leaves:
                                    push((item, effect))
                        elif kind not in leaves and kind not in _NO_NODES and isinstance(value, exp.Expr):
                            push((value, effect))
            if not stack:
                return
            node, effect = stack.pop()

    def step(self, node: exp.Expr) -> int:
        """Return the effect of a node without a rule on its operands: transform, aggregate or mask."""
        kind = type(node)
        if not has_only_operands(kind):
            report_type(self, node)
            return TRANSFORMATION
        step = self.functions.of_type(kind) if issubclass(kind, exp.Func) else TRANSFORMATION
        self._steps[kind] = step
        return step


def _of_earlier(mention: Mention) -> Mention:
    """Return the earlier statements among the mentions of a source: nodes are of another text."""
    if type(mention) is SeveralMentions:
        return SeveralMentions(map(_of_earlier, mention))
    return mention if type(mention) is EarlierStatement else None


def _is_one_of(path: str, names: Collection[str]) -> bool:
    """Return whether a path is a top-level column with one of these names; the path's text may quote it."""
    parts = ColumnPath.parse(path).parts
    return len(parts) == 1 and parts[0] in names
