"""Execution of GraphQL that takes plain values from objects at once, without a call of the library for each field.

An answer has thousands of fields that are attributes of our own objects, or methods without arguments. For a selection
of only such fields a function is made, once for a document, that turns an object into a dictionary. A field that is
awaited is one of them where its object has what was read before, as `loaded_` and its name. Whatever is not as its type
says is left to the library, which reports it.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, TypeAlias

from graphql import (
    GraphQLBoolean,
    GraphQLEnumType,
    GraphQLField,
    GraphQLID,
    GraphQLInt,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLString,
)
from graphql.type import is_leaf_type
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext
from strawberry.types.field import StrawberryField

__all__ = ["PlainExecution"]

_Make: TypeAlias = Callable[[Any], Any]
"""Returns the JSON value of a value."""
_EXACT = {GraphQLString: str, GraphQLID: str, GraphQLInt: int, GraphQLBoolean: bool}


class _NotPlainError(Exception):
    """A selection or a value is left to the library."""


class PlainExecution(StrawberryGraphQLCoreExecutionContext):
    """Executes one operation."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._makers: dict[tuple[int, str], tuple[Any, _Make | None]] = {}

    def collect_and_execute_subfields(
        self, return_type: GraphQLObjectType, field_details_list: Any, path: Any, result: Any, position_context: Any
    ) -> Any:
        """Return the dictionary of an object, or an awaitable for it."""
        key = id(field_details_list), return_type.name
        known = self._makers.get(key)
        if known is None:
            # The list is kept with its function, so that no other one gets its id.
            known = field_details_list, self._maker_of(return_type, field_details_list)
            self._makers[key] = known
        make = known[1]
        if make is not None:
            try:
                return make(result)
            except (_NotPlainError, AttributeError, KeyError, TypeError):
                pass  # the library says what is wrong
        return super().collect_and_execute_subfields(return_type, field_details_list, path, result, position_context)

    def _maker_of(self, of: GraphQLObjectType, field_details_list: Any) -> _Make | None:
        try:
            return self._object(of, field_details_list)
        except _NotPlainError:
            return None

    def _object(self, of: GraphQLObjectType, field_details_list: Any) -> _Make:
        if self.middleware_manager and self.middleware_manager.middlewares:
            raise _NotPlainError
        grouped, defer_usages, _ = self.collect_subfields(of, field_details_list)
        if defer_usages:
            raise _NotPlainError
        names: list[str] = []
        attributes: list[str] = []
        makers: list[_Make] = []
        for name, details in grouped.items():
            node = details[0].node
            names.append(name)
            if node.name.value == "__typename":
                attributes.append("__class__")
                makers.append(_constant(of.name))
                continue
            field = self.schema.get_field(of, node.name.value)
            if field is None or field.args or node.arguments or any(one.defer_usage for one in details):
                raise _NotPlainError
            attribute, is_method = _attribute(of, field)
            make = self._value(field.type, details)
            attributes.append(attribute)
            makers.append(_of_method(make) if is_method else make)
        if not names:  # all fragments are of other types
            return lambda _: {}
        if len(names) == 1:
            return _object_of_one(names[0], attributes[0], makers[0])
        get_all = attrgetter(*attributes)

        def make_object(value: Any) -> dict[str, Any]:
            return {name: make(one) for name, make, one in zip(names, makers, get_all(value), strict=True)}

        return make_object

    def _value(self, of: GraphQLOutputType, details: Any) -> _Make:
        if isinstance(of, GraphQLNonNull):
            return self._present(of.of_type, details)
        make = self._present(of, details)
        return lambda value: None if value is None else make(value)

    def _present(self, of: GraphQLOutputType, details: Any) -> _Make:
        """Return the function for values that are not None."""
        if isinstance(of, GraphQLList):
            item = self._value(of.of_type, details)

            def make_list(value: Any) -> list[Any]:
                if not isinstance(value, list):
                    raise _NotPlainError
                return [item(one) for one in value]

            return make_list
        if isinstance(of, GraphQLObjectType):
            return self._object(of, details)
        if is_leaf_type(of):
            return _leaf(of)
        raise _NotPlainError


def _constant(value: str) -> _Make:
    return lambda _: value


def _object_of_one(name: str, attribute: str, make: _Make) -> _Make:
    get = attrgetter(attribute)
    return lambda value: {name: make(get(value))}


def _of_method(make: _Make) -> _Make:
    return lambda method: make(method())


def _attribute(of: GraphQLObjectType, field: GraphQLField) -> tuple[str, bool]:
    """Return the name of the attribute that holds a field's value, and whether it is a method that returns it."""
    own = field.extensions.get("strawberry-definition")
    if not isinstance(own, StrawberryField) or own.extensions:
        raise _NotPlainError
    resolver = own.base_resolver
    if resolver is None:
        return own.python_name, False
    if not resolver.is_async and resolver.info_parameter is None:
        return own.python_name, True
    loaded = f"loaded_{own.python_name}"
    if loaded not in of.extensions["strawberry-definition"].origin.__dataclass_fields__:
        raise _NotPlainError
    return loaded, False


def _leaf(of: Any) -> _Make:
    exact = _EXACT.get(of)
    if exact is not None:

        def make_exact(value: Any) -> Any:
            if type(value) is not exact or (isinstance(value, int) and not -(2**31) <= value < 2**31):
                raise _NotPlainError
            return value

        return make_exact
    complete = PlainExecution.complete_leaf_value
    if not isinstance(of, GraphQLEnumType):

        def make_leaf(value: Any) -> Any:
            if value is None:
                raise _NotPlainError
            return complete(of, value)

        return make_leaf
    known: dict[Any, Any] = {}

    def make_enum(value: Any) -> Any:
        made = known.get(value)
        if made is None:
            if value is None:
                raise _NotPlainError
            made = known[value] = complete(of, value)
        return made

    return make_enum
