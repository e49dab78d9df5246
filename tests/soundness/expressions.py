"""Random expressions over what is visible."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tests.soundness.grammar import Grammar
from tests.soundness.operations import Operation
from tests.soundness.scopes import Scope
from tests.soundness.tree import Call, Constant, Expr, ItemRef, Ref, Type

__all__ = ["Expressions", "Place"]

SubQuery = Callable[[Scope | None, Type], Expr]
"""Makes an expression of a type that holds a sub-query."""


@dataclass(frozen=True, slots=True)
class Place:
    """What an expression at one place may hold: columns of a scope, or given leaves only; sub-queries or not."""

    scope: Scope | None
    leaves: tuple[Expr, ...] | None = None
    aliases: tuple[ItemRef, ...] = ()
    subquery: SubQuery | None = None
    correlates: bool = True
    hidden: frozenset[str] = frozenset()
    """Bare names that mean something else at this place, a select item's alias."""

    def plain(self) -> Place:
        """Return the place without sub-queries and aliases, as an aggregate's argument is."""
        return replace(self, subquery=None, aliases=())


class Expressions:
    """Draws expressions of a wanted type."""

    def __init__(self, rng: random.Random, grammar: Grammar) -> None:
        self.rng = rng
        self.grammar = grammar

    def constant(self, kind: Type) -> Constant:
        return Constant(self.rng.choice(self.grammar.constants[kind]), kind)

    def reference(self, place: Place, kind: Type) -> Expr | None:
        """Return a column, mostly of the block itself, or an alias; None if nothing of that type is visible."""
        rng = self.rng
        aliases = [alias for alias in place.aliases if alias.type == kind]
        if aliases and rng.random() < 0.3:
            return rng.choice(aliases)
        if place.leaves is not None:
            fitting = [leaf for leaf in place.leaves if leaf.type == kind and not _hides(leaf, place.hidden)]
            return rng.choice(fitting) if fitting else None
        if place.scope is None:
            return None
        near: list[Ref] = []
        far: list[Ref] = []
        for depth, reference in place.scope.references():
            if reference.type == kind and _bare(reference) not in place.hidden:
                (far if depth else near).append(reference)
        if far and place.correlates and (not near or rng.random() < 0.3):
            return rng.choice(far)
        return rng.choice(near) if near else None

    def value(self, place: Place, kind: Type, depth: int) -> Expr:
        """Return an expression of a type."""
        rng = self.rng
        if kind == "struct" and depth <= 0 and rng.random() < 0.6:  # a constant has no fields to follow
            return self.call(rng.choice([one for one in self.grammar.operations[kind] if _builds(one)]), place, 0)
        if depth <= 0 or rng.random() < 0.35:
            found = self.reference(place, kind)
            if found is not None and rng.random() < 0.9:
                return found
            return self.constant(kind) if depth <= 0 or rng.random() < 0.3 else self._call(place, kind, depth)
        if place.subquery is not None and rng.random() < 0.12:
            return place.subquery(place.scope if place.correlates else None, kind)
        return self._call(place, kind, depth)

    def _call(self, place: Place, kind: Type, depth: int) -> Expr:
        return self.call(self.rng.choice(self.grammar.operations[kind]), place, depth - 1)

    def call(self, operation: Operation, place: Place, depth: int) -> Call:
        if "lambda" in operation.template or " FOR q " in operation.template or " -> " in operation.template:
            # no sub-query may stand inside
            place = place.plain()
        args = tuple(self.value(place, taken, depth) for taken in operation.takes)
        return Call(operation.template, args, operation.steps, operation.gives, builds=_builds(operation))

    def aggregate(self, place: Place, kind: Type, depth: int = 1) -> Call:
        return self.call(self.rng.choice(self.grammar.aggregates[kind]), place.plain(), depth)

    def window(self, place: Place, kind: Type, depth: int = 1) -> Call:
        return self.call(self.rng.choice(self.grammar.windows[kind]), place.plain(), depth)

    def columns(self, place: Place, kinds: Sequence[Type]) -> list[Ref]:
        """Return the columns of the block itself that have one of some types."""
        if place.scope is None:
            return []
        return [r for depth, r in place.scope.references() if depth == 0 and r.type in kinds]


def _builds(operation: Operation) -> bool:
    return operation.gives == "struct" and "struct" not in operation.takes


def _hides(leaf: Expr, hidden: frozenset[str]) -> bool:
    """Return whether an expression holds a bare name that means something else."""
    if isinstance(leaf, Call):
        return any(_hides(arg, hidden) for arg in leaf.args)
    return isinstance(leaf, Ref) and _bare(leaf) in hidden


def _bare(reference: Ref) -> str:
    """Return a reference without its field: what a name that hides it is."""
    return reference.text.partition(".")[0].partition("[")[0] if reference.field else reference.text
