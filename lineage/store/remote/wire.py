"""The methods of a store as they go over HTTP: JSON objects of arguments there, JSON values back.

They are read off the protocol itself, so that client and service cannot disagree about them.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, TypeAdapter, create_model

from lineage.model.batch import LineageBatch
from lineage.store import protocol
from lineage.store.protocol import GraphStore
from lineage.store.values import AppliedChanges

__all__ = ["PATH", "ROUTES_VERSION", "Effect", "Method", "methods"]

PATH = "/api/v1/store"
"""Where a service has the methods: one route each below this path."""


ROUTES_VERSION = 9
"""Changes with what the methods take and give: a client speaks to a service of its own version only."""


class Effect(StrEnum):
    """What a method does, by which a service decides who may call it."""

    READS = "reads"
    INGESTS = "ingests"
    CHANGES = "changes"


@dataclass(frozen=True)
class Method:
    """A method: the model of its arguments, and what it returns."""

    name: str
    effect: Effect
    arguments: type[BaseModel]
    returns: TypeAdapter[Any]

    def to_json(self, *values: Any, **named: Any) -> bytes:
        """Return the arguments of a call as JSON."""
        given = dict(zip(self.arguments.model_fields, values, strict=False)) | named
        given = {name: _as_plain(value) for name, value in given.items()}
        return self.arguments.model_construct(**given).model_dump_json(exclude_unset=True).encode()

    def call(self, store: GraphStore, arguments: bytes) -> bytes:
        """Return what a store answers to a call, as JSON.

        Raises:
            ValidationError: the arguments are not those of the method.
            StoreError: as the method says.
        """
        given = self.arguments.model_validate_json(arguments or b"{}")
        values = {name: getattr(given, name) for name in given.model_fields_set}
        return self.returns.dump_json(getattr(store, self.name)(**values))


_EFFECTS = dict.fromkeys(
    ("apply", "apply_and_buffer", "buffer_texts", "drop_buffered_texts", "rekey_jobs"), Effect.INGESTS
) | dict.fromkeys(("prune", "describe", "retire_edges", "retire_jobs"), Effect.CHANGES)
# `explore` and `parts` a client answers by itself; a dump is for tests, and holds values of any type.
_LEFT_OUT = frozenset({"close", "dump", "explore", "parts"})


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
    """Return a type with lists for what is any collection: JSON has no other."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Collection, Iterable):
        return list[inner[0]]  # type: ignore[valid-type]
    if origin in (UnionType, Union):
        return Union[tuple(_as_list(one) for one in inner)]  # noqa: UP007  there is no other way to write it
    return hint
