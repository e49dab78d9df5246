"""The depth, the aliases and the cost of a GraphQL document, in one pass over it and its schema.

Cost: each object that an answer can hold costs one, so that what lies below a page costs `first` times as much; each
hop that a traversal may go costs ten besides. A fragment is measured once, however often it is spread: documents whose
answers grow exponentially are measured in linear time.
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
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLSchema,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    VariableNode,
    get_named_type,
    is_leaf_type,
    value_from_ast_untyped,
)

__all__ = ["Measures", "measure"]

_HOP = 10
_HUGE = 10**12
"""More than any limit: sums do not grow beyond it."""
_LISTS_OF_INTROSPECTION = frozenset({"fields", "inputFields", "interfaces", "possibleTypes", "args", "enumValues"})
_INTROSPECTED = 20


@dataclass(frozen=True, slots=True)
class Measures:
    """What a document asks for. `aliases` counts the fields whose answer has another name than they."""

    depth: int = 0
    aliases: int = 0
    cost: int = 0

    def __add__(self, other: Measures) -> Measures:
        """Return the measures of two parts that stand side by side."""
        return Measures(
            max(self.depth, other.depth),
            min(self.aliases + other.aliases, _HUGE),
            min(self.cost + other.cost, _HUGE),
        )


def measure(
    document: DocumentNode, schema: GraphQLSchema, variables: Mapping[str, Any], operation: str | None = None
) -> Measures:
    """Return the measures of a document's operation: the named one, else the largest of all.

    The document is valid for the schema; fragments that spread each other in a circle are not valid.
    """
    operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    named = [node for node in operations if node.name is not None and node.name.value == operation]
    found = [_Measuring(document, schema, node, variables).whole() for node in named or operations]
    return Measures(
        max((one.depth for one in found), default=0),
        max((one.aliases for one in found), default=0),
        max((one.cost for one in found), default=0),
    )


class _Measuring:
    def __init__(
        self,
        document: DocumentNode,
        schema: GraphQLSchema,
        operation: OperationDefinitionNode,
        variables: Mapping[str, Any],
    ) -> None:
        self._schema = schema
        self._operation = operation
        self._fragments = {
            node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)
        }
        self._measured: dict[str, Measures] = {}
        defaults = {
            one.variable.name.value: value_from_ast_untyped(one.default_value)
            for one in operation.variable_definitions or ()
            if one.default_value is not None
        }
        self._variables = {**defaults, **variables}

    def whole(self) -> Measures:
        root = self._schema.get_root_type(self._operation.operation)
        return self._selections(self._operation.selection_set, root)

    def _selections(self, selections: SelectionSetNode | None, parent: Any) -> Measures:
        total = Measures()
        for node in selections.selections if selections else ():
            if isinstance(node, FieldNode):
                total += self._field(node, parent)
            elif isinstance(node, InlineFragmentNode):
                on = node.type_condition
                inner = self._schema.get_type(on.name.value) if on else parent
                total += self._selections(node.selection_set, inner)
            elif isinstance(node, FragmentSpreadNode):
                total += self._fragment(node.name.value)
        return total

    def _fragment(self, name: str) -> Measures:
        if name not in self._measured:
            definition = self._fragments[name]
            on = self._schema.get_type(definition.type_condition.name.value)
            self._measured[name] = self._selections(definition.selection_set, on)
        return self._measured[name]

    def _field(self, node: FieldNode, parent: Any) -> Measures:
        aliases = int(node.alias is not None and node.alias.value != node.name.value)
        kind = self._type_of(node, parent)
        if kind is None or is_leaf_type(get_named_type(kind)):
            return Measures(1, aliases, 0)
        inner = self._selections(node.selection_set, get_named_type(kind))
        own, times = self._price(node, parent)
        return Measures(
            inner.depth + 1, min(inner.aliases + aliases, _HUGE), min(own + times * (1 + inner.cost), _HUGE)
        )

    def _type_of(self, node: FieldNode, parent: Any) -> GraphQLOutputType | None:
        found = self._schema.get_field(parent, node.name.value) if parent is not None else None
        return found.type if found else None

    def _price(self, node: FieldNode, parent: Any) -> tuple[int, int]:
        """Return what the field costs itself, and how many of what lies below it there can be."""
        if node.name.value in _LISTS_OF_INTROSPECTION and getattr(parent, "name", "").startswith("__"):
            return 0, _INTROSPECTED
        if not isinstance(parent, GraphQLObjectType | GraphQLInterfaceType):
            return 0, 1
        arguments = parent.fields[node.name.value].args if node.name.value in parent.fields else {}
        hops = self._number(node, arguments, "maxHops")
        first = self._number(node, arguments, "first") or self._number(node, arguments, "limit")
        return _HOP * hops, max(first, 1)

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
