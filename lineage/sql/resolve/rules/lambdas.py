"""Functions that call a lambda for the elements of arrays: its parameters are the elements, with their fields."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from lineage.sql.resolve.relations import ColumnSource, Composite, Sources, absorb
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.rules.json_arrows import read_arrow
from lineage.sql.resolve.rules.nested import element_of, nested_function, nested_or_plain, nested_rule
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.structs.value_fields import merged
from lineage.sql.resolve.transformation_codes import IDENTITY, TRANSFORMATION

_ROUNDS = 5
"""How often a reduction is followed: its value feeds itself."""


class _Call:
    """A call with lambdas: its arrays and other arguments, and what a lambda returns for given parameters."""

    def __init__(self, resolver: Resolver, node: exp.Expr, scope: Scope) -> None:
        self._resolver = resolver
        self._scope = scope
        operands = [each.unnest() if type(each) is exp.Paren else each for each in node.iter_expressions()]
        self._lambdas = [each for each in operands if isinstance(each, exp.Lambda)]
        self._bodies = [_readable(resolver, each) for each in self._lambdas]
        others = [each for each in operands if not isinstance(each, exp.Lambda)]
        self.values = [nested_or_plain(resolver, each, scope) for each in others] if self._lambdas else []

    def __bool__(self) -> bool:
        """Return whether it is a call with lambdas and arrays."""
        return bool(self.values) and all(body is not None for body in self._bodies)

    @property
    def lambdas(self) -> int:
        return len(self._lambdas)

    def of_elements(self) -> Sources:
        """Return what the first lambda returns for the elements of the arrays."""
        return self.result([element_of(value) for value in self.values])

    def result(self, given: Sequence[Sources], index: int = 0) -> Sources:
        """Return what a lambda returns; parameters that are not given (an element's index) have no sources."""
        body = self._bodies[index]
        assert body is not None
        inner = Scope(self._resolver, self._scope)
        names = [self._resolver.identifiers.column(name) for name in self._lambdas[index].expressions]
        inner.merged = {name: given[place] if place < len(given) else {} for place, name in enumerate(names)}
        return nested_or_plain(self._resolver, body, inner)


def _readable(resolver: Resolver, node: exp.Lambda) -> exp.Expr | None:
    """Return a lambda's body with its parameters as columns; None for what is no lambda.

    The parser leaves a parameter as an identifier, which nothing else is that is an operand.
    """
    if not node.expressions or not all(isinstance(each, exp.Identifier) for each in node.expressions):
        return None
    if read_arrow(resolver.naming.dialect, node) is not None:
        return None
    names = {resolver.identifiers.column(each) for each in node.expressions}
    root = exp.Paren(this=node.this.copy())
    for identifier in list(root.find_all(exp.Identifier)):
        is_operand = (
            identifier.arg_key not in _NAMES.get(type(identifier.parent), ()) and type(identifier.parent) not in _NAMING
        )
        if is_operand and resolver.identifiers.column(identifier) in names:
            identifier.replace(exp.Column(this=identifier.copy()))
    body: exp.Expr = root.this
    return body


_NAMING = (exp.Column, exp.TableAlias, exp.Table, exp.Lambda, exp.ColumnDef, exp.DataType)
_NAMES: dict[type, tuple[str, ...]] = {
    exp.Dot: ("expression",),
    exp.Alias: ("alias",),
    exp.PropertyEQ: ("this",),
    exp.Kwarg: ("this",),
    exp.Window: ("alias",),
}
"""Where identifiers are names, by their parent."""


def _covered(value: Sources, arrays: Sequence[Sources]) -> Sources:
    """Return what a lambda made of each element, which depends on how many there are, if it does not read them."""
    total: Sources = {}
    absorb(total, value, TRANSFORMATION, None)
    if not any(_reads(source, whole) for source, _ in value for array in arrays for whole, _ in array):
        for array in arrays:
            absorb(total, array, TRANSFORMATION, None)
    return value.changed(total, lambda inner: _covered(inner, arrays)) if isinstance(value, Composite) else total


def _reads(read: ColumnSource, whole: ColumnSource) -> bool:
    """Return whether a source is that of an array, or a field of it."""
    return read.table == whole.table and f"{read.column}.".startswith(f"{whole.column}.")


def _made(_: Resolver, call: _Call) -> Sources:
    """`transform(array, x -> value)`."""
    made = _covered(call.of_elements(), call.values)
    return made.listed() if isinstance(made, Composite) else made


def _chosen(resolver: Resolver, call: _Call) -> Sources:
    """`filter(array, x -> test)`."""
    array = call.values[0]
    test: Sources = {}
    absorb(test, call.of_elements(), TRANSFORMATION, None)
    return merged(resolver.field, [(array, TRANSFORMATION)], test)


def _tested(_: Resolver, call: _Call) -> Sources:
    """`exists(array, x -> test)`."""
    return dict(_covered(call.of_elements(), call.values))


def _reduced(resolver: Resolver, call: _Call) -> Sources:
    """`reduce(array, start, (sum, x) -> value, sum -> result)`."""
    array, *start = call.values
    element = element_of(array)
    value: Sources = start[0] if start else element
    for _ in range(_ROUNDS):
        found = merged(resolver.field, [(value, IDENTITY), (call.result([value, element]), TRANSFORMATION)], {})
        if found.keys() == value.keys():
            break
        value = found
    if call.lambdas > 1:
        value = call.result([value], 1)
    return _covered(value, [array])


_RULES: dict[Callable[[Resolver, _Call], Sources], tuple[str, ...]] = {
    _made: ("transform", "listtransform", "listapply", "arraytransform", "arrayapply", "arraymap", "zipwith"),
    _chosen: ("filter", "listfilter", "arrayfilter"),
    _tested: ("forall", "anymatch", "allmatch", "nonematch", "arrayexists", "arrayall", "arraycount", "arraysum"),
    _reduced: ("listreduce", "arrayreduce", "arrayfold", "aggregate"),
}
"""The functions of all dialects, as far as their names do not already tell the parser their types."""


def _with_lambda(rule: Callable[[Resolver, _Call], Sources]) -> Callable[[Resolver, exp.Expr, Scope], Sources | None]:
    def read(resolver: Resolver, node: exp.Expr, scope: Scope) -> Sources | None:
        call = _Call(resolver, node, scope)
        return rule(resolver, call) if call else None

    return read


for _rule, _names in _RULES.items():
    nested_function(*_names)(_with_lambda(_rule))
nested_rule(exp.Transform)(_with_lambda(_made))
nested_rule(exp.ArrayFilter)(_with_lambda(_chosen))
nested_rule(exp.Exists, exp.ArrayAny, exp.ArrayAll)(_with_lambda(_tested))
nested_rule(exp.Reduce)(_with_lambda(_reduced))
