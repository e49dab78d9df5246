"""The methods of a store over HTTP: arguments as JSON objects, results as JSON values.

They are derived from the protocol class, so client and service cannot disagree.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable
from enum import StrEnum
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, TypeAdapter, create_model

from lineage.frozen import frozen
from lineage.model.batch import LineageBatch
from lineage.store import protocol
from lineage.store.protocol import GraphStore
from lineage.store.values import AppliedChanges

__all__ = ["BUSY", "PATH", "ROUTES_VERSION", "Effect", "Method", "methods"]

PATH = "/api/v1/store"
"""Path of the service's store routes: one route per method below it."""

BUSY = "1"
"""`Retry-After` of a 503 by which a service refuses a request before anything of it is done."""

ROUTES_VERSION = 15
"""Incremented when arguments or results change: client and service must have the same version."""


class Effect(StrEnum):
    """The effect of a method, by which a service authorizes calls."""

    READS = "reads"
    INGESTS = "ingests"
    CHANGES = "changes"


@frozen(slots=False)
class Method:
    """A method with the models of its arguments and its result."""

    name: str
    effect: Effect
    arguments: type[BaseModel]
    returns: TypeAdapter[Any]

    def to_json(self, *values: Any, **named: Any) -> bytes:
        """Return the arguments of a call as JSON."""
        given = dict(zip(self.arguments.model_fields, values, strict=False)) | named
        given = {name: _as_plain(value) for name, value in given.items()}
        return self.arguments.model_construct(**given).model_dump_json(exclude_unset=True).encode()

    def call(self, store: GraphStore, arguments: bytes | bytearray) -> bytes:
        """Call the method of a store and return its result as JSON.

        Raises:
            ValidationError: the arguments are invalid.
            StoreError: as documented for the method.
        """
        given = self.arguments.model_validate_json(arguments or b"{}")
        values = {name: getattr(given, name) for name in given.model_fields_set}
        return self.returns.dump_json(getattr(store, self.name)(**values))


_EFFECTS = dict.fromkeys(
    ("apply", "apply_and_buffer", "buffer_texts", "drop_buffered_texts", "rekey_jobs", "forget_facts", "see_again"),
    Effect.INGESTS,
) | dict.fromkeys(("prune", "describe", "describe_all", "change_tags", "retire_edges", "retire_jobs"), Effect.CHANGES)
# The client implements `explore` and `parts` itself; a dump is for tests, and has values of any type; the graph in
# memory is the service's.
_LEFT_OUT = frozenset({"close", "dump", "explore", "explore_beside", "graph_version", "live_graph", "parts"})


@cache
def methods() -> dict[str, Method]:
    """Return the methods by name."""
    found = {
        name: _method(name, function)
        for name, function in vars(GraphStore).items()
        if inspect.isfunction(function) and not name.startswith("_") and name not in _LEFT_OUT and name != "apply"
    }
    arguments = create_model("apply", __config__=_CONFIG, batch=(LineageBatch, ...))
    return found | {"apply": Method("apply", Effect.INGESTS, arguments, TypeAdapter(AppliedChanges))}


_CONFIG = ConfigDict(extra="forbid", arbitrary_types_allowed=False)


def _method(name: str, function: Any) -> Method:
    hints = {one: _as_list(hint) for one, hint in get_type_hints(function, vars(protocol)).items()}
    parameters = list(inspect.signature(function).parameters.values())[1:]
    fields: dict[str, Any] = {
        one.name: (hints[one.name], ... if one.default is inspect.Parameter.empty else one.default)
        for one in parameters
    }
    arguments = create_model(name, __config__=_CONFIG, **fields)
    return Method(name, _EFFECTS.get(name, Effect.READS), arguments, TypeAdapter(hints["return"]))


def _as_plain(value: Any) -> Any:
    plain = isinstance(value, str | list | BaseModel) or not isinstance(value, Iterable)
    return value if plain else list(value)


def _as_list(hint: Any) -> Any:
    """Return a type hint with lists instead of other collections, for JSON."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Collection, Iterable):
        return list[inner[0]]  # type: ignore[valid-type]
    if origin in (UnionType, Union):
        return Union[tuple(_as_list(one) for one in inner)]  # noqa: UP007  there is no other way to write it
    return hint
