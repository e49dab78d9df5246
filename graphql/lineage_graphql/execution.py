"""What is only read off an object is read at once, all of it, and not field by field through resolvers.

An answer has thousands of values (a hundred rows, each with a path of some steps, each with some fields), and nearly
all of them are attributes. For what was selected of such a type a reader is made once a request, which takes an object
and returns what GraphQL says of it; what needs a resolver goes the usual way, as does what a reader fails at, so that
its error is reported as usual.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from graphql import (
    GraphQLError,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLOutputType,
    is_leaf_type,
)
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext

__all__ = ["ReadingExecutor"]

_Reader = Callable[[Any], Any]


class ReadingExecutor(StrawberryGraphQLCoreExecutionContext):
    """Executes a query, with readers for what are attributes."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._readers: dict[int, tuple[Any, _Reader | None]] = {}
        self._middleware = bool(self.middleware_manager and self.middleware_manager.middlewares)

    def execute_field(
        self, parent_type: GraphQLObjectType, source: Any, field_details_list: Any, path: Any, position_context: Any
    ) -> Any:
        """Return what a field of an object says."""
        known = self._readers.get(id(field_details_list))
        if known is None:
            # With the list, whose number would otherwise be given to another.
            known = field_details_list, self._made(parent_type, field_details_list)
            self._readers[id(field_details_list)] = known
        reader = known[1]
        if reader is not None:
            try:
                return reader(source)
            except (AttributeError, TypeError, ValueError, GraphQLError):
                pass  # the value is wrong, which is reported below with its place
        return super().execute_field(parent_type, source, field_details_list, path, position_context)

    def build_per_event_executor(self, payload: Any) -> Any:
        """Return an executor for an event of a subscription; what was selected is collected anew for each of them."""
        executor: Any = super().build_per_event_executor(payload)
        executor._readers, executor._relevant_sub_fields = {}, {}
        return executor

    def _made(self, parent: GraphQLObjectType, selected: Any) -> _Reader | None:
        """Return what reads a field of an object; None where a resolver has to be asked, or will find an error."""
        try:
            return self._reader(parent, selected)
        except GraphQLError:
            return None

    def _reader(self, parent: GraphQLObjectType, selected: Any) -> _Reader | None:
        """Return what reads a field of an object; None where a resolver has to be asked."""
        name = selected[0].node.name.value
        if name == "__typename":
            return lambda _: parent.name
        field = self.schema.get_field(parent, name)
        definition = field.extensions.get("strawberry-definition") if field else None
        if field is None or definition is None or not definition.is_basic_field or self._middleware:
            return None
        complete = self._completing(field.type, selected)
        return None if complete is None else _applied(attrgetter(definition.python_name), complete)

    def _completing(self, kind: GraphQLOutputType, selected: Any) -> _Reader | None:
        """Return what makes of a field's value what is answered; None where a resolver has to be asked."""
        if isinstance(kind, GraphQLNonNull):
            return self._present(kind.of_type, selected)
        inner = self._present(kind, selected)
        return None if inner is None else lambda value: None if value is None else inner(value)

    def _present(self, kind: GraphQLOutputType, selected: Any) -> _Reader | None:
        """Return what makes an answer of a value that has to be there."""
        if is_leaf_type(kind):
            complete = self.complete_leaf_value  # a function, not a method: nothing here may hold the executor
            return lambda value: complete(kind, value)
        if isinstance(kind, GraphQLList):
            item = self._completing(kind.of_type, selected)
            return None if item is None else lambda values: [item(value) for value in values]
        if isinstance(kind, GraphQLObjectType):
            return self._object(kind, selected)
        return None

    def _object(self, kind: GraphQLObjectType, selected: Any) -> _Reader | None:
        readers = []
        for name, details in self.collect_subfields(kind, selected).grouped_field_set.items():
            reader = self._reader(kind, details)
            if reader is None:
                return None
            readers.append((name, reader))

        # A type with interfaces is asked whether a value is of it; so is this.
        definition = kind.extensions.get("strawberry-definition")
        of = definition.origin if definition is not None and kind.is_type_of is not None else object

        def read_all(value: Any) -> dict[str, Any]:
            if value is None or not isinstance(value, of):
                raise TypeError
            return {name: read(value) for name, read in readers}

        return read_all


def _applied(get: _Reader, complete: _Reader) -> _Reader:
    return lambda source: complete(get(source))
