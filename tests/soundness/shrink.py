"""Makes a failing statement small, while it fails in the same way, and prints it as a case for tests/cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from tests.soundness.grammar import GRAMMARS
from tests.soundness.meaning import expected
from tests.soundness.operations import CONSTANTS
from tests.soundness.render import script
from tests.soundness.tree import (
    TABLES,
    TARGET,
    Call,
    Constant,
    Item,
    Join,
    QueryValue,
    Select,
    SetOperation,
    Statement,
    TableItem,
    Type,
)

__all__ = ["as_case", "shrink", "smaller"]

Constants = Mapping[Type, tuple[str, ...]]


def shrink(statement: Statement, fails: Callable[[Statement], bool]) -> Statement:
    """Return a smaller statement for which `fails` still holds, when no single step makes it smaller."""
    constants = GRAMMARS[statement.dialect].constants
    found = True
    while found:
        found = False
        for candidate in smaller(statement, constants):
            if fails(candidate):
                statement, found = candidate, True
                break
    return statement


def smaller(node: Any, constants: Constants = CONSTANTS) -> Iterator[Any]:
    """Yield the trees that one step makes of a node: first those that cut most away."""
    yield from _own_steps(node, constants)
    if not is_dataclass(node) or isinstance(node, type):
        return
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(value, tuple) and field.name not in ("steps", "schema"):
            for position, element in enumerate(value):
                for less in smaller(element, constants):
                    yield replace(node, **{field.name: (*value[:position], less, *value[position + 1 :])})
        elif is_dataclass(value):
            for less in smaller(value, constants):
                yield replace(node, **{field.name: less})


def _own_steps(node: Any, constants: Constants) -> Iterator[Any]:
    match node:
        case Statement(form=form):
            if form != "QUERY":
                yield replace(node, form="QUERY", columns=(), schema=())
            yield from (replace(node, temporaries=rest) for rest in _without_one(node.temporaries))
        case SetOperation(_, _, _, left, right):
            yield from (left, right)
            for side in (left, right):
                if isinstance(side, Select | SetOperation):
                    yield replace(side, ctes=(*node.ctes, *side.ctes))
            yield from (replace(node, ctes=rest) for rest in _without_one(node.ctes))
            yield from (replace(node, order=rest) for rest in _without_one(node.order))
            if node.limit is not None:
                yield replace(node, limit=None)
            width = min(_width(left), _width(right))
            for position in range(width if width > 1 else 0):
                yield replace(node, left=_narrowed(left, position), right=_narrowed(right, position))
        case Select():
            yield from _select_steps(node)
        case Call(_, args, _, kind) | QueryValue(_, args, _, _, kind):
            yield Constant(constants[kind][0], kind)
            yield from (arg for arg in args if arg.type == kind)
        case Item(_, Call(_, args), _) if node.written:
            yield from (replace(node, value=arg) for arg in args)
        case Join():
            if node.natural:
                yield replace(node, natural=False)
            if len(node.using) > 1:
                yield from (replace(node, using=rest) for rest in _without_one(node.using))
            if node.kind not in ("", ",", "JOIN") and (node.on is not None or node.using):
                yield replace(node, kind="JOIN")
        case TableItem() if node.alias and not node.columns:
            yield replace(node, alias=None)


def _select_steps(select: Any) -> Iterator[Any]:
    for name in ("ctes", "joins", "windows", "order", "items", "distinct_on"):
        for rest in _without_one(getattr(select, name)):
            if name == "joins" and rest and rest[0].kind:
                rest = (replace(rest[0], kind="", on=None, using=(), natural=False), *rest[1:])  # noqa: PLW2901
            if name != "items" or rest:
                yield replace(select, **{name: rest})
    for name in ("where", "group", "having", "qualify", "limit"):
        if getattr(select, name) is not None:
            yield replace(select, **{name: None})
    for name in ("distinct", "order_all", "from_first"):
        if getattr(select, name):
            yield replace(select, **{name: False})
    if select.group is not None and select.group.form:
        yield replace(select, group=replace(select.group, form="", sets=()))
    if select.group is not None and len(select.group.keys) > 1 and not select.group.sets:
        yield from (replace(select, group=replace(select.group, keys=rest)) for rest in _without_one(select.group.keys))


def _without_one(elements: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if len(elements) > 2:
        yield ()
    for position in range(len(elements)):
        yield (*elements[:position], *elements[position + 1 :])


def _width(query: Any) -> int:
    return len(query.items) if isinstance(query, Select) else min(_width(query.left), _width(query.right))


def _narrowed(query: Any, position: int) -> Any:
    if isinstance(query, SetOperation):
        return replace(query, left=_narrowed(query.left, position), right=_narrowed(query.right, position))
    return replace(query, items=(*query.items[:position], *query.items[position + 1 :]))


def as_case(statement: Statement, title: str) -> str:
    """Return a statement in the format of tests/cases, with the edges that it must have."""
    text = script(statement)
    schemas = [
        f"schema {table}({', '.join(columns)})" for table, columns in TABLES.items() if f"{table}." in _edges(statement)
    ]
    if statement.schema:
        schemas.append(f"schema {TARGET}({', '.join(name for name, _ in statement.schema)})")
    return "\n".join([f"=== {title}", *schemas, "---", text, "---", _edges(statement).rstrip(), ""])


def _edges(statement: Statement) -> str:
    return "".join(f"{edge}\n" for one in expected(statement) for edge in sorted(one.edges))
