"""The depth, the aliases and the cost of a GraphQL document, in one pass over it and its schema.

Each object that the result may hold costs one; selections under the rows of a page are multiplied by `first`. Each hop
of a traversal costs ten more. A fragment is measured once for each size of page and operation, however often it is
spread, so that documents whose results grow exponentially are measured in linear time; beyond a number of selections,
nothing is measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLSchema,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    VariableNode,
    get_named_type,
    get_nullable_type,
    is_leaf_type,
    is_list_type,
    value_from_ast_untyped,
)

from lineage_graphql.errors import RefusedError

__all__ = ["Measures", "measure"]

_HOP = 10
_HUGE = 10**12
"""Above any limit: sums are capped here."""
_LISTS_OF_INTROSPECTION = frozenset({"fields", "inputFields", "interfaces", "possibleTypes", "args", "enumValues"})
_INTROSPECTED = 20
_ROWS = frozenset({"edges", "nodes"})
"""Fields that hold the rows of a page."""


@dataclass(frozen=True, slots=True)
class Measures:
    """Depth, aliased fields and cost of a document."""

    depth: int = 0
    aliases: int = 0
    cost: int = 0

    def __add__(self, other: Measures) -> Measures:
        """Return the measures of two sibling selections."""
        return Measures(
            max(self.depth, other.depth),
            min(self.aliases + other.aliases, _HUGE),
            min(self.cost + other.cost, _HUGE),
        )


def measure(
    document: DocumentNode,
    schema: GraphQLSchema,
    variables: Mapping[str, Any],
    operation: str | None = None,
    selections: int = 5_000,
) -> Measures:
    """Return the measures of a document's operation: the named one, else the maxima over all.

    The document need not be valid: unknown fields count as leaves.

    Raises:
        RefusedError: more than `selections` fields and fragments would have to be measured.
    """
    operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    named = [node for node in operations if node.name is not None and node.name.value == operation]
    fragments = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}
    left = _Budget(selections)
    measures = [_Measuring(fragments, schema, node, variables, left).whole() for node in named or operations]
    return Measures(
        max((one.depth for one in measures), default=0),
        max((one.aliases for one in measures), default=0),
        max((one.cost for one in measures), default=0),
    )


class _Budget:
    """The number of selections that may be measured."""

    def __init__(self, allowed: int) -> None:
        self._allowed = self._left = allowed

    def take(self, number: int) -> None:
        self._left -= number
        if self._left < 0:
            hint = "split it into several queries"
            raise RefusedError.over_limit("selections", self._allowed, self._allowed - self._left, hint)


class _Measuring:
    def __init__(
        self,
        fragments: Mapping[str, FragmentDefinitionNode],
        schema: GraphQLSchema,
        operation: OperationDefinitionNode,
        variables: Mapping[str, Any],
        left: _Budget,
    ) -> None:
        self._left = left
        self._schema = schema
        self._operation = operation
        self._fragments = fragments
        self._measured: dict[tuple[str, int], Measures] = {}
        defaults = {
            one.variable.name.value: value_from_ast_untyped(one.default_value)
            for one in operation.variable_definitions or ()
            if one.default_value is not None
        }
        self._variables = {**defaults, **variables}

    def whole(self) -> Measures:
        root = self._schema.get_root_type(self._operation.operation)
        return self._selections(self._operation.selection_set, root, 1)

    def _selections(self, selections: SelectionSetNode | None, parent: Any, page: int) -> Measures:
        """Return the measures of a selection set; `page` is the number of rows of the enclosing page."""
        total, nodes = Measures(), selections.selections if selections else ()
        self._left.take(len(nodes))
        for node in nodes:
            if isinstance(node, FieldNode):
                total += self._field(node, parent, page)
            elif isinstance(node, InlineFragmentNode):
                on = node.type_condition
                inner = self._schema.get_type(on.name.value) if on else parent
                total += self._selections(node.selection_set, inner, page)
            elif isinstance(node, FragmentSpreadNode):
                total += self._fragment(node.name.value, page)
        return total

    def _fragment(self, name: str, page: int) -> Measures:
        definition = self._fragments.get(name)
        if definition is None:
            return Measures()
        if (name, page) not in self._measured:
            self._measured[name, page] = Measures()  # ends cycles of fragments
            on = self._schema.get_type(definition.type_condition.name.value)
            self._measured[name, page] = self._selections(definition.selection_set, on, page)
        return self._measured[name, page]

    def _field(self, node: FieldNode, parent: Any, page: int) -> Measures:
        aliases = int(node.alias is not None and node.alias.value != node.name.value)
        field = self._schema.get_field(parent, node.name.value) if parent is not None else None
        kind = field.type if field else None
        if field is None or is_leaf_type(get_named_type(kind)):
            return Measures(1, aliases, 0)
        first = self._size(node, field.args)
        many = is_list_type(get_nullable_type(kind))
        inner = self._selections(node.selection_set, get_named_type(kind), 1 if many else first)
        of_page = node.name.value in _ROWS and not field.args
        times = page if of_page else first if many else 1
        if node.name.value in _LISTS_OF_INTROSPECTION and parent.name.startswith("__"):
            times = _INTROSPECTED
        starts = sum(self._length(node, field.args, name) for name in ("columns", "tables"))
        own = _HOP * self._number(node, field.args, "maxHops") * max(starts, 1)
        return Measures(
            inner.depth + 1, min(inner.aliases + aliases, _HUGE), min(own + times * (1 + inner.cost), _HUGE)
        )

    def _size(self, node: FieldNode, arguments: Mapping[str, Any]) -> int:
        """Return the maximum number of rows of a field by its arguments; 1 without such arguments."""
        given = {one.name.value for one in node.arguments or ()}
        # A query that gives both sizes is refused; the default of `first` does not count if `last` is given.
        names = ("last", *(["first"] if "first" in given else [])) if "last" in given else ("first",)
        size = max(self._number(node, arguments, name) for name in (*names, "limit", "maxNodes", "maxEdges"))
        return size or self._length(node, arguments, "ids") or 1

    def _length(self, node: FieldNode, arguments: Mapping[str, Any], name: str) -> int:
        """Return the length of a list argument."""
        if name not in arguments:
            return 0
        for given in node.arguments or ():
            if given.name.value == name:
                value = value_from_ast_untyped(given.value, self._variables)
                return len(value) if isinstance(value, list) else 1
        return 0

    def _number(self, node: FieldNode, arguments: Mapping[str, Any], name: str) -> int:
        if name not in arguments:
            return 0
        value: Any = arguments[name].default_value
        for given in node.arguments or ():
            if given.name.value == name:
                known = isinstance(given.value, VariableNode) and given.value.name.value not in self._variables
                if not known:
                    value = value_from_ast_untyped(given.value, self._variables)
        return value if isinstance(value, int) and value > 0 else 0
