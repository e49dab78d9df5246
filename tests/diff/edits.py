"""Random edits of a shop's models, seeds and settings: one of each class that `lineage diff` tells apart."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import sqlglot
from sqlglot import exp

from tests.diff.shop import Model, Shop

__all__ = ["EDITS", "TREE_EDITS", "Edit", "apply_edit", "normalized", "read_tree", "with_tree"]

Edit = Callable[[random.Random, Shop, Model], Shop | None]

EDITS: dict[str, Edit] = {}
"""The edits by name; one returns None where it does not fit."""

TREE_EDITS: dict[str, Callable[[random.Random, exp.Expr], bool]] = {}
"""Those of a query's syntax tree, in place; one returns False where it does not fit."""

_Kinds = dict[type[exp.Expr], type[exp.Expr]]
_REF = re.compile(r"\{\{ ref\('(\w+)'\) \}\}")
_CONFIG = re.compile(r"\{\{ config\(.*?\) \}\}\s*")
_LATER = re.compile(r"\{% if is_incremental\(\) %\}\s*where (.*?)\s*\{% endif %\}", re.DOTALL)


def normalized(shop: Shop) -> Shop:
    """Return the shop with its models as sqlglot writes them, so that an edited tree differs by the edit only."""
    return replace(shop, models={name: with_tree(one, read_tree(one)) for name, one in shop.models.items()})


def apply_edit(name: str, rng: random.Random, shop: Shop) -> tuple[Shop, str] | None:
    """Return the edited shop and the name of the edited model or seed; None if the edit fits none of ten models."""
    models = list(shop.models.values())
    for model in rng.sample(models, min(10, len(models))):
        edited = EDITS[name](rng, shop, model)
        if edited is not None and edited != shop:
            return edited, model.name
    return None


def read_tree(model: Model) -> exp.Expr:
    """Return the syntax tree of a model; `with_tree` writes it again."""
    sql = _CONFIG.sub("", model.sql)
    sql = _LATER.sub(r"where incremental__(\1)", sql)
    sql = _REF.sub(r"ref__\1", sql).replace("{{ this }}", "this__")
    return sqlglot.parse_one(sql, dialect="duckdb")


def with_tree(model: Model, tree: exp.Expr, *, pretty: bool = False) -> Model:
    """Return a model with another syntax tree."""
    sql = tree.sql(dialect="duckdb", pretty=pretty)
    found = re.search(r"WHERE\s+INCREMENTAL__\(", sql, re.IGNORECASE)
    if found is not None:
        end, depth = found.end(), 1
        while depth:
            depth += {"(": 1, ")": -1}.get(sql[end], 0)
            end += 1
        inner = sql[found.end() : end - 1]
        sql = f"{sql[: found.start()]}{{% if is_incremental() %}} where {inner} {{% endif %}}{sql[end:]}"
    sql = re.sub(r"\bref__(\w+)", r"{{ ref('\1') }}", sql).replace("this__", "{{ this }}")
    config = _CONFIG.search(model.sql)
    return replace(model, sql=f"{config.group() if config else ''}{sql}")


def _edit(name: str) -> Callable[[Edit], Edit]:
    def register(edit: Edit) -> Edit:
        EDITS[name] = edit
        return edit

    return register


def _tree_edit(name: str) -> Callable[[Callable[[random.Random, exp.Expr], bool]], object]:
    """Register an edit of a syntax tree in place, which returns whether it fitted."""

    def register(edit: Callable[[random.Random, exp.Expr], bool]) -> object:
        def whole(rng: random.Random, shop: Shop, model: Model) -> Shop | None:
            tree = read_tree(model)
            return shop.with_model(with_tree(model, tree)) if edit(rng, tree) else None

        EDITS[name] = whole
        TREE_EDITS[name] = edit
        return edit

    return register


def _choose(rng: random.Random, found: Iterator[exp.Expr]) -> exp.Expr | None:
    listed = list(found)
    return rng.choice(listed) if listed else None


def _last_select(tree: exp.Expr) -> exp.Select | None:
    while isinstance(tree, exp.SetOperation):
        tree = tree.this
    return tree if isinstance(tree, exp.Select) else None


def _columns(select: exp.Select) -> list[exp.Expr]:
    return [one for one in select.expressions if not one.is_star]


def _inner(item: exp.Expr) -> exp.Expr:
    return item.this if isinstance(item, exp.Alias) else item


def _set_inner(item: exp.Expr, value: exp.Expr) -> None:
    alias = item.alias_or_name
    item.replace(exp.alias_(value, alias))


# Cosmetic


@_edit("format")
def _format(_rng: random.Random, shop: Shop, model: Model) -> Shop | None:
    edited = with_tree(model, read_tree(model), pretty=True)
    return shop.with_model(replace(edited, sql=f"{edited.sql}\n-- a remark\n"))


@_edit("comment")
def _comment(_rng: random.Random, shop: Shop, model: Model) -> Shop | None:
    return shop.with_model(replace(model, sql=f"{model.sql} /* why */ {{# and how #}}"))


@_tree_edit("rename a CTE")
def _rename_cte(rng: random.Random, tree: exp.Expr) -> bool:
    cte = _choose(rng, tree.find_all(exp.CTE))
    if cte is None:
        return False
    name = cte.alias
    for table in tree.find_all(exp.Table):
        if table.name == name and not table.args.get("db"):
            if not table.alias:
                table.set("alias", exp.TableAlias(this=exp.to_identifier(name)))
            table.set("this", exp.to_identifier(f"{name}_renamed"))
    cte.args["alias"].set("this", exp.to_identifier(f"{name}_renamed"))
    return True


@_tree_edit("rename a table's alias")
def _rename_alias(rng: random.Random, tree: exp.Expr) -> bool:
    table = _choose(rng, (one for one in tree.find_all(exp.Table) if one.alias))
    if table is None:
        return False
    name = table.alias
    select = table.find_ancestor(exp.Select)
    for column in select.find_all(exp.Column) if select is not None else ():
        if column.table == name:
            column.set("table", exp.to_identifier("renamed_alias"))
    table.args["alias"].set("this", exp.to_identifier("renamed_alias"))
    return True


@_tree_edit("reorder columns")
def _reorder(rng: random.Random, tree: exp.Expr) -> bool:
    select = _last_select(tree)
    if select is None or len(_columns(select)) < 2 or tree.find(exp.Union) is not None:
        return False
    items = list(select.expressions)
    rng.shuffle(items)
    select.set("expressions", items)
    return True


@_tree_edit("swap conditions")
def _swap(rng: random.Random, tree: exp.Expr) -> bool:
    node = _choose(rng, tree.find_all(exp.And, exp.Or, exp.EQ))
    if node is None:
        return False
    left, right = node.this, node.expression
    node.set("this", right.copy())
    node.set("expression", left.copy())
    return True


@_tree_edit("turn a comparison")
def _turn(rng: random.Random, tree: exp.Expr) -> bool:
    node = _choose(rng, tree.find_all(exp.GT, exp.LT))
    if node is None:
        return False
    turned = exp.LT if isinstance(node, exp.GT) else exp.GT
    node.replace(turned(this=node.expression.copy(), expression=node.this.copy()))
    return True


@_edit("wrap in a CTE")
def _wrap(_rng: random.Random, shop: Shop, model: Model) -> Shop | None:
    if "is_incremental" in model.sql or "order by" in model.sql.lower().rpartition("from")[2]:
        return None
    return shop.with_model(replace(model, sql=f"with all_of_it as (\n{model.sql}\n)\nselect * from all_of_it"))


# Values


@_tree_edit("change a constant")
def _constant(rng: random.Random, tree: exp.Expr) -> bool:
    found = (one for one in tree.find_all(exp.Literal) if not isinstance(one.parent, (exp.Group, exp.DataTypeParam)))
    literal = _choose(rng, found)
    if literal is None:
        return False
    if literal.is_string:
        literal.replace(exp.Literal.string(rng.choice([f"{literal.name}x", "card", "drink", "placed", ""])))
    else:
        literal.replace(exp.Literal.number(rng.choice([0, 1, 3, 7, 150])))
    return True


@_tree_edit("change an operator")
def _operator(rng: random.Random, tree: exp.Expr) -> bool:
    kinds: dict[type[exp.Expr], type[exp.Expr]] = {
        exp.Add: exp.Sub,
        exp.Sub: exp.Add,
        exp.Mul: exp.Add,
        exp.Div: exp.Mul,
        exp.GT: exp.GTE,
        exp.EQ: exp.NEQ,
    }
    node = _choose(rng, tree.find_all(*kinds))
    if node is None:
        return False
    node.replace(kinds[type(node)](this=node.this.copy(), expression=node.expression.copy()))
    return True


@_tree_edit("change an aggregate")
def _aggregate(rng: random.Random, tree: exp.Expr) -> bool:
    kinds: dict[type[exp.Expr], type[exp.Expr]] = {
        exp.Sum: exp.Max,
        exp.Max: exp.Min,
        exp.Min: exp.Max,
        exp.Avg: exp.Median,
    }
    node = _choose(rng, tree.find_all(*kinds))
    if node is None:
        return False
    node.replace(kinds[type(node)](this=node.this.copy()))
    return True


@_tree_edit("wrap a column")
def _wrap_column(rng: random.Random, tree: exp.Expr) -> bool:
    select = _last_select(tree)
    items = _columns(select) if select is not None else []
    if not items:
        return False
    item = rng.choice(items)
    value = _inner(item).copy()
    wrapped: list[exp.Expr] = [
        exp.Nullif(this=value, expression=value.copy()),
        exp.Coalesce(this=value.copy(), expressions=[exp.Null()]),
        exp.Case(ifs=[exp.If(this=exp.true(), true=value.copy())]),
    ]
    _set_inner(item, rng.choice(wrapped))
    return True


@_tree_edit("change a window")
def _window(rng: random.Random, tree: exp.Expr) -> bool:
    window = _choose(rng, tree.find_all(exp.Window))
    if window is None:
        return False
    if window.args.get("partition_by") and rng.random() < 0.5:
        window.set("partition_by", None)
        return True
    ordered = window.find(exp.Ordered)
    if ordered is None:
        return False
    ordered.set("desc", not ordered.args.get("desc"))
    return True


@_tree_edit("swap two columns' expressions")
def _swap_columns(rng: random.Random, tree: exp.Expr) -> bool:
    select = _last_select(tree)
    items = _columns(select) if select is not None else []
    if len(items) < 2:
        return False
    one, other = rng.sample(items, 2)
    first, second = _inner(one).copy(), _inner(other).copy()
    _set_inner(one, second)
    _set_inner(other, first)
    return True


@_tree_edit("change a type")
def _type(rng: random.Random, tree: exp.Expr) -> bool:
    select = _last_select(tree)
    items = _columns(select) if select is not None else []
    if not items:
        return False
    item = rng.choice(items)
    _set_inner(item, exp.cast(_inner(item).copy(), rng.choice(["text", "bigint", "double"]), dialect="duckdb"))
    return True


# Rows


@_tree_edit("add a condition")
def _add_where(rng: random.Random, tree: exp.Expr) -> bool:
    select = _choose(rng, (one for one in tree.find_all(exp.Select) if one.args.get("from_") is not None))
    if not isinstance(select, exp.Select):
        return False
    column = _choose(rng, (one for one in select.find_all(exp.Column) if one.find_ancestor(exp.Select) is select))
    if column is None or "incremental__" in tree.sql().lower():
        return False
    select.where(exp.Not(this=exp.Is(this=column.copy(), expression=exp.Null())), copy=False)
    return True


@_tree_edit("drop a condition")
def _drop_where(rng: random.Random, tree: exp.Expr) -> bool:
    clauses = tree.find_all(exp.Where, exp.Having, exp.Qualify)
    where = _choose(rng, (one for one in clauses if "incremental__" not in one.sql().lower()))
    if where is None:
        return False
    where.pop()
    return True


@_tree_edit("change a join")
def _join(rng: random.Random, tree: exp.Expr) -> bool:
    join = _choose(rng, tree.find_all(exp.Join))
    if join is None:
        return False
    side = join.args.get("side")
    join.set("side", None if side else rng.choice(["LEFT", "FULL", "RIGHT"]))
    return True


@_tree_edit("distinct")
def _distinct(rng: random.Random, tree: exp.Expr) -> bool:
    select = _choose(rng, tree.find_all(exp.Select))
    if not isinstance(select, exp.Select):
        return False
    select.set("distinct", None if select.args.get("distinct") else exp.Distinct())
    return True


@_tree_edit("limit")
def _limit(rng: random.Random, tree: exp.Expr) -> bool:
    if not isinstance(tree, exp.Select):
        return False
    names = [one.alias_or_name for one in _columns(tree)]
    if not names:
        return False
    rng.shuffle(names)
    tree.order_by(*names, copy=False)
    tree.limit(rng.choice([3, 5, 9]), copy=False)
    return True


@_tree_edit("order")
def _order(rng: random.Random, tree: exp.Expr) -> bool:
    names = [one.alias_or_name for one in _columns(tree)] if isinstance(tree, exp.Select) else []
    if not isinstance(tree, exp.Select) or not names or tree.args.get("limit"):
        return False
    tree.order_by(rng.choice(names), copy=False)
    return True


@_tree_edit("number rows with ties")
def _ties(rng: random.Random, tree: exp.Expr) -> bool:
    names = [one.alias_or_name for one in _columns(tree)] if isinstance(tree, exp.Select) else []
    if not isinstance(tree, exp.Select) or not names or tree.args.get("group") or tree.args.get("distinct"):
        return False
    if tree.find(exp.AggFunc):
        return False
    tree.select("row_number() over () as place", copy=False, dialect="duckdb")
    return True


@_tree_edit("change the set operation")
def _union(rng: random.Random, tree: exp.Expr) -> bool:
    union = _choose(rng, tree.find_all(exp.Union))
    if union is None:
        return False
    union.set("distinct", not union.args.get("distinct"))
    return True


@_tree_edit("group by more")
def _group(rng: random.Random, tree: exp.Expr) -> bool:
    group = _choose(rng, (one for one in tree.find_all(exp.Group) if one.expressions))
    if group is None:
        return False
    select = group.parent
    if select is None:
        return False
    read = [one for one in select.find_all(exp.Column) if one.find_ancestor(exp.Select) is select]
    group.append("expressions", rng.choice(read).copy())
    return True


# Columns


@_tree_edit("add a column")
def _add(rng: random.Random, tree: exp.Expr) -> bool:
    select = _last_select(tree)
    if select is None or select is not tree:
        return False
    items = _columns(select)
    extra = exp.alias_(_inner(rng.choice(items)).copy() if items else exp.Literal.number(1), "an_extra")
    expressions = list(select.expressions)
    expressions.insert(rng.randint(0, len(expressions)), extra)
    select.set("expressions", expressions)
    return True


@_tree_edit("remove a column")
def _remove(rng: random.Random, tree: exp.Expr) -> bool:
    select = _last_select(tree)
    if select is None or select is not tree or len(_columns(select)) < 2:
        return False
    rng.choice(_columns(select)).pop()
    return True


@_tree_edit("rename a column")
def _rename(rng: random.Random, tree: exp.Expr) -> bool:
    select = _last_select(tree)
    items = _columns(select) if select is not None else []
    if not items:
        return False
    item = rng.choice(items)
    item.replace(exp.alias_(_inner(item).copy(), f"{item.alias_or_name}_renamed"))
    return True


@_edit("rename a column here and where it is read")
def _rename_all(rng: random.Random, shop: Shop, model: Model) -> Shop | None:
    tree = read_tree(model)
    select = _last_select(tree)
    items = _columns(select) if select is not None else []
    if not items:
        return None
    name = rng.choice(items).alias_or_name
    edited = shop
    pattern = re.compile(rf"\b{name}\b")
    for other in shop.models.values():
        if model.name in other.refs or other.name == model.name:
            sql = other.sql if other.name != model.name else None
            if sql is None:
                chosen = next(one for one in items if one.alias_or_name == name)
                chosen.replace(exp.alias_(_inner(chosen).copy(), f"{name}_renamed"))
                edited = edited.with_model(with_tree(model, tree))
            else:
                text = re.sub(
                    rf"(\{{\{{ ref\('{model.name}'\) \}}\}})",
                    rf"(select * rename ({name}_renamed as {name}) from \1)",
                    sql,
                )
                edited = edited.with_model(replace(other, sql=text))
    return edited if pattern.search(model.sql) else None


@_edit("rename a model")
def _rename_model(_rng: random.Random, shop: Shop, model: Model) -> Shop | None:
    return _read_instead(shop, model.name, replace(model, name=f"{model.name}_renamed"), keep=False)


@_edit("read through a new model")
def _read_through(rng: random.Random, shop: Shop, model: Model) -> Shop | None:
    sql = f"select * from {{{{ ref('{model.name}') }}}}"
    return _read_instead(shop, model.name, Model(f"{model.name}_again", sql, rng.choice(["view", "table"])), keep=True)


def _read_instead(shop: Shop, name: str, other: Model, *, keep: bool) -> Shop:
    """Return the shop in which whatever reads a model reads another one, which is new."""
    models: dict[str, Model] = {}
    for one in shop.models.values():
        if one.name == name:
            models |= {name: one} if keep else {}
            models[other.name] = other
        else:
            models[one.name] = replace(one, sql=one.sql.replace(f"ref('{name}')", f"ref('{other.name}')"))
    return replace(shop, models=models)


# Settings, seeds, macros of later builds


@_edit("materialize otherwise")
def _materialize(_rng: random.Random, shop: Shop, model: Model) -> Shop | None:
    turned = {"view": "table", "table": "view"}.get(model.materialized)
    return shop.with_model(replace(model, materialized=turned)) if turned else None


@_edit("tag")
def _tag(_rng: random.Random, shop: Shop, model: Model) -> Shop | None:
    return shop.with_model(replace(model, config={**model.config, "tags": ["nightly"]}))


@_edit("change the unique key")
def _unique_key(rng: random.Random, shop: Shop, model: Model) -> Shop | None:
    if model.materialized != "incremental":
        return None
    keys = [None, "customer_id", "last_on", ["customer_id", "kinds"]] if model.name == "fct_events" else [None, "page"]
    key = rng.choice([one for one in keys if one != model.config.get("unique_key")])
    return shop.with_model(replace(model, config={**model.config, "unique_key": key}))


@_edit("change later builds")
def _later(rng: random.Random, shop: Shop, model: Model) -> Shop | None:
    if "is_incremental" not in model.sql:
        return None
    swaps = [(">=", ">"), ("max(", "min("), ("MAX(", "MIN("), (" > ", " >= ")]
    old, new = rng.choice(swaps)
    head, mark, rest = model.sql.partition("is_incremental")
    return shop.with_model(replace(model, sql=head + mark + rest.replace(old, new, 1)))


@_edit("change a seed's value")
def _seed_value(rng: random.Random, shop: Shop, _model: Model) -> Shop | None:
    name = rng.choice(sorted(shop.seeds))
    rows = [list(row) for row in shop.seeds[name]]
    column = rng.randrange(1, len(rows[0]))
    one, other = rng.sample(range(1, len(rows)), 2)
    rows[one][column] = rows[other][column]
    return replace(shop, seeds={**shop.seeds, name: rows})


@_edit("add a seed's row")
def _seed_row(rng: random.Random, shop: Shop, _model: Model) -> Shop | None:
    name = rng.choice(sorted(shop.seeds))
    rows = [list(row) for row in shop.seeds[name]]
    rows.append([str(10_000 + len(rows)) if rows[1][0].isdigit() else "zz", *rng.choice(rows[1:])[1:]])
    return replace(shop, seeds={**shop.seeds, name: rows})


@_edit("reorder a seed's columns")
def _seed_order(rng: random.Random, shop: Shop, _model: Model) -> Shop | None:
    name = rng.choice(sorted(shop.seeds))
    order = list(range(len(shop.seeds[name][0])))
    rng.shuffle(order)
    return replace(shop, seeds={**shop.seeds, name: [[row[at] for at in order] for row in shop.seeds[name]]})
