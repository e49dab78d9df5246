"""Values that the query builds with fields: structs, rows, objects, maps, and arrays of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from lineage.sql.parse.object_types import attributes_of
from lineage.sql.procedural.text.tokens import make_token
from lineage.sql.resolve.relations import Composite, Relation, Sources, absorb
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.resolve.rules.nested import (
    KEEPS,
    NESTED_RULES,
    element_of,
    nested_function,
    nested_or_plain,
    nested_rule,
)
from lineage.sql.resolve.scopes.scope import Scope
from lineage.sql.resolve.structs.struct_fields import fields_of
from lineage.sql.resolve.structs.value_fields import RowFields, known_names, merged
from lineage.sql.resolve.transformation_codes import IDENTITY, TRANSFORMATION


@nested_rule(exp.Struct)
def _struct(resolver: Resolver, node: exp.Expr, scope: Scope) -> Composite:
    """Return a struct with the fields that a constructor lists."""
    fields: dict[str, Sources] = {}
    total: Sources = {}
    for position, item in enumerate(node.expressions):
        value = item.expression if isinstance(item, exp.PropertyEQ) else item
        if isinstance(item, exp.PropertyEQ):
            name = resolver.identifiers.column(item.this) if isinstance(item.this, exp.Identifier) else item.this.name
        elif isinstance(item, exp.Alias):
            name, value = resolver.identifiers.alias(item.args["alias"]), item.this
        elif isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
            owner = scope.item(resolver.identifiers.alias(item.args["table"]))
            for column, sources in owner.columns() if owner is not None else ():
                fields[column] = {key: place or item for key, place in sources.items()}
                absorb(total, sources, TRANSFORMATION, item)
            continue
        elif isinstance(item, exp.Star):
            for column, sources in scope.all_columns():
                fields[column] = {key: place or item for key, place in sources.items()}
                absorb(total, sources, TRANSFORMATION, item)
            continue
        elif isinstance(item, exp.Column) and isinstance(item.this, exp.Identifier):
            name = resolver.identifiers.column(item.this)
        else:
            name = f"col{position + 1}"
        value_sources = nested_or_plain(resolver, value, scope)
        _add_field(fields, name, value_sources)
        if resolver.naming.dialect.tuples_have_fields:
            _add_field(fields, str(position + 1), value_sources)
        absorb(total, value_sources, TRANSFORMATION, item)
    return Composite(total, fields)


@nested_rule(exp.Tuple)
def _tuple(resolver: Resolver, node: exp.Expr, scope: Scope) -> Sources | None:
    return _struct(resolver, node, scope) if resolver.naming.dialect.tuples_have_fields else None


@nested_function("row")
def _row(resolver: Resolver, node: exp.Expr, scope: Scope) -> Composite:
    """`ROW(a, b)` of PostgreSQL and DuckDB: fields without names of their own."""
    prefix = "element" if resolver.naming.dialect.unnests_structs else "f"
    values = [nested_or_plain(resolver, each, scope) for each in node.expressions]
    return _with_fields((f"{prefix}{place}", value) for place, value in enumerate(values, 1))


@nested_function("structinsert", "structupdate")
def _struct_with(resolver: Resolver, node: exp.Expr, scope: Scope) -> Composite | None:
    """DuckDB's `struct_insert(s, k := a)`; None if the fields of `s` are not known."""
    struct, *given = node.expressions or [None]
    value = nested_or_plain(resolver, struct, scope) if isinstance(struct, exp.Expr) else None
    names = (known_names(value) or fields_of(resolver, value)) if value is not None else None
    if value is None or names is None or not all(isinstance(one, exp.PropertyEQ) for one in given):
        return None
    fields = {name: resolver.field(value, [name]) for name in names}
    fields |= {resolver.identifiers.column(one.this): nested_or_plain(resolver, one.expression, scope) for one in given}
    return _with_fields(fields.items())


def _with_fields(pairs: Iterable[tuple[str, Sources]], *, closed: bool = False) -> Composite:
    fields: dict[str, Sources] = {}
    total: Sources = {}
    for name, value in pairs:
        _add_field(fields, name, value)
        absorb(total, value, TRANSFORMATION, None)
    return Composite(total, fields, closed=closed)


def _add_field(fields: dict[str, Sources], name: str, sources: Sources) -> None:
    """Add a field. Two masked names may be equal; then a read of the name may be of either field."""
    fields[name] = {**fields[name], **sources} if name in fields else sources


@nested_rule(exp.StarMap)
def _object_of_all(resolver: Resolver, node: exp.Expr, scope: Scope) -> Composite:
    """`OBJECT_CONSTRUCT(*)`: an object with one field a column."""
    return _object_of(resolver, node.this, scope)


def _object_of(resolver: Resolver, star: exp.Expr, scope: Scope) -> Composite:
    """Return the object that a star makes: `*`, `t.*`, `* EXCLUDE a`."""
    items: list[Relation] = list(scope.items.values())
    if isinstance(star, exp.Column):
        owner = scope.item(resolver.identifiers.alias(star.args["table"]))
        items = [owner] if owner is not None else []
        star = star.this
    except_ = star.args.get("except_") or ()
    dropped = {resolver.identifiers.column(c.this if isinstance(c, exp.Column) else c) for c in except_}
    total: Sources = {}
    fields: dict[str, Sources] = {}
    for relation in items:
        for name, sources in relation.columns():
            if name not in dropped:
                fields.setdefault(name, sources)
                absorb(total, sources, TRANSFORMATION, star)
    row: Mapping[str, Sources] = RowFields(items[0]) if len(items) == 1 and not dropped else fields
    return Composite(total, row, closed=True)


@nested_rule(exp.JSONObject)
def _json_object(resolver: Resolver, node: exp.Expr, scope: Scope) -> Composite | None:
    """`JSON_OBJECT('k': a)`, `OBJECT_CONSTRUCT('k', a)`: an object with known fields."""
    fields: dict[str, Sources] = {}
    total: Sources = {}
    if len(node.expressions) == 1 and (isinstance(node.expressions[0], exp.Star) or node.expressions[0].is_star):
        return _object_of(resolver, node.expressions[0], scope)
    for item in node.expressions:
        if not isinstance(item, exp.JSONKeyValue) or not isinstance(item.this, exp.Literal):
            return None
        found = nested_or_plain(resolver, item.expression, scope)
        _add_field(fields, item.this.this, found)
        absorb(total, found, TRANSFORMATION, item)
    return Composite(total, fields, closed=True)


@nested_function("jsonbuildobject", "jsonbbuildobject", "jsonobject", "object", "objectconstructkeepnull", "map")
def _object_by_pairs(resolver: Resolver, node: exp.Expr, scope: Scope) -> Composite | None:
    """`jsonb_build_object('k', a)`."""
    keys, values = node.expressions[::2], node.expressions[1::2]
    return _map_of(resolver, keys, values, scope)


@nested_rule(exp.VarMap, exp.Map)
def _map(resolver: Resolver, node: exp.Expr, scope: Scope) -> Composite | None:
    keys, values = node.args.get("keys"), node.args.get("values")
    if not isinstance(keys, exp.Array) or not isinstance(values, exp.Array):
        return None
    return _map_of(resolver, keys.expressions, values.expressions, scope)


@nested_rule(exp.ToMap)
def _map_of_struct(resolver: Resolver, node: exp.Expr, scope: Scope) -> Composite | None:
    """DuckDB's `MAP {'k': a}`."""
    pairs = node.this.expressions if isinstance(node.this, exp.Struct) else []
    if not all(isinstance(pair, exp.PropertyEQ) for pair in pairs):
        return None
    return _map_of(resolver, [pair.this for pair in pairs], [pair.expression for pair in pairs], scope)


def _map_of(resolver: Resolver, keys: list[exp.Expr], values: list[exp.Expr], scope: Scope) -> Composite | None:
    """Return a value with constant keys; None if they are not constant."""
    if not keys or len(keys) != len(values) or not all(isinstance(key, exp.Literal) for key in keys):
        return None
    pairs = zip(keys, values, strict=True)
    return _with_fields(((str(key.this), nested_or_plain(resolver, value, scope)) for key, value in pairs), closed=True)


@nested_rule(exp.Array)
def _array(resolver: Resolver, node: exp.Expr, scope: Scope) -> Sources | None:
    """`ARRAY(struct(a), struct(b))`; None if the elements have no fields."""
    if not any(type(each) not in (exp.Column, exp.Literal) for each in node.expressions):
        return None
    values = [nested_or_plain(resolver, each, scope) for each in node.expressions]
    if not any(isinstance(value, Composite) for value in values):
        return None
    parts = [(value, IDENTITY if isinstance(value, Composite) else TRANSFORMATION) for value in values]
    found = merged(resolver.field, parts, {})
    return found.listed() if isinstance(found, Composite) else found


@nested_rule(exp.ArraysZip)
@nested_function("listzip", "arrayzip", "zip")
def _zipped(resolver: Resolver, node: exp.Expr, scope: Scope) -> Composite:
    """`arrays_zip(a, b)`: an array of structs with an element of each array."""
    pairs: list[tuple[str, Sources]] = []
    first = 1 if resolver.naming.dialect.tuples_have_fields else 0
    for place, array in enumerate(node.expressions):
        name = str(place + first)
        if isinstance(array, exp.Column | exp.Dot) and resolver.naming.dialect.exploded_columns is not None:
            name = resolver.identifiers.column(array.expression if isinstance(array, exp.Dot) else array.this)
        pairs.append((name, element_of(nested_or_plain(resolver, array, scope))))
    made = _with_fields(pairs)
    made.lists = 1
    return made


@nested_rule(exp.Cast, exp.TryCast)
def _cast(resolver: Resolver, node: exp.Expr, scope: Scope) -> Sources | None:
    """`CAST(ROW(a, b) AS ROW(x int, y int))`: the type names the fields; any other type keeps them."""
    value = node.args["this"].unnest()
    is_structured = node.args["to"].args.get("nested") or node.args["to"].this in _STRUCTURED
    if type(value) not in NESTED_RULES and not (is_structured and type(value) in (exp.Column, *KEEPS)):
        return _rows_of_type(resolver, node, scope)
    made = nested_or_plain(resolver, value, scope)
    is_own = node.args["to"].this is exp.DType.USERDEFINED
    attributes = _attributes_of(resolver, node.args["to"].args.get("kind")) if is_own else []
    if not isinstance(made, Composite) or (is_own and not attributes):
        return _rows_of_type(resolver, node, scope)
    listed = [each for each in node.args["to"].expressions if isinstance(each, exp.ColumnDef)]
    names = attributes or [resolver.identifiers.column(each.this) for each in listed]
    names = names or _fields_of_rows(resolver, node.args["to"])
    return _renamed(resolver, merged(resolver.field, [(made, TRANSFORMATION)], {}), names)


def _attributes_of(resolver: Resolver, named: object) -> list[str]:
    """Return the attributes of a composite type that the text defines, by its name (PostgreSQL)."""
    named = named.expression if isinstance(named, exp.Dot) else named
    if not isinstance(named, exp.Identifier) or not resolver.tokens:
        return []
    kind = TokenType.IDENTIFIER if named.args.get("quoted") else TokenType.VAR
    found = attributes_of(make_token(kind, named.name, resolver.tokens[0]), resolver.text, resolver.naming.dialect)
    fold = resolver.naming.dialect.fold_column
    return [fold(one[0].text, quoted=one[0].token_type is TokenType.IDENTIFIER) for one in found]


def _rows_of_type(resolver: Resolver, node: exp.Expr, scope: Scope) -> Sources | None:
    """Return a value that a type makes rows of, where UNNEST spreads their fields; None of another type."""
    dialect = resolver.naming.dialect
    names = _fields_of_rows(resolver, node.args["to"]) if dialect.unnests_fields or dialect.unnests_rows else ()
    if not names:
        return None
    sources: Sources = {}
    resolver.evaluate(scope, node, IDENTITY, sources)
    return Composite(sources, dict.fromkeys(names, sources))


def _fields_of_rows(resolver: Resolver, kind: exp.Expr) -> list[str]:
    """Return the fields of a type that is a row or an array of rows; none of another type."""
    while isinstance(kind, exp.DataType) and kind.this is exp.DType.ARRAY and kind.expressions:
        kind = kind.expressions[0]
    fields = kind.expressions if isinstance(kind, exp.DataType) and kind.this in _ROWS else ()
    return [resolver.identifiers.column(one.this) for one in fields if isinstance(one, exp.ColumnDef)]


_ROWS = (exp.DType.STRUCT, exp.DType.OBJECT)
_STRUCTURED = (exp.DType.JSON, exp.DType.JSONB, exp.DType.VARIANT, exp.DType.OBJECT, exp.DType.SUPER)


def _renamed(resolver: Resolver, value: Sources, names: list[str]) -> Sources:
    """Return a struct whose fields a type names: by their positions, or by their names if it has all of them."""
    own = known_names(value)
    if own is None or len(own) != len(names) or not isinstance(value, Composite) or set(own) == set(names):
        return value
    fields = {name: resolver.field(value, [old]) for name, old in zip(names, own, strict=True)}
    return Composite(value, fields, lists=value.lists, closed=value.closed)


@nested_rule(exp.JSONFormat, exp.ToVariant, exp.ParseJSON, exp.FromJson)
@nested_function(
    "tojson",
    "tojsonb",
    "rowtojson",
    "tovariant",
    "tovariantobject",
    "tojsonstring",
    "jsonparse",
    "jsonserialize",
    "json",
)
def _converted(resolver: Resolver, node: exp.Expr, scope: Scope) -> Sources | None:
    """`to_json(t)`: a document with the fields of the value."""
    value = node.expressions[0] if isinstance(node, exp.Anonymous) and node.expressions else node.args.get("this")
    if not isinstance(value, exp.Expr):
        return None
    total: Sources = {}
    for operand in node.iter_expressions():
        resolver.evaluate(scope, operand, TRANSFORMATION, total)
    made = nested_or_plain(resolver, value, scope)
    if isinstance(made, Composite):
        return Composite(total, made.fields, made.whole, lists=made.lists, closed=True)
    is_read = isinstance(node, exp.ParseJSON | exp.FromJson)
    return total if is_read else Composite(total, None, made, closed=True)
