"""A shop whose models compute functions of DuckDB's catalogue beside what they have: no edit may spread to these."""

from __future__ import annotations

import random
import re

import duckdb
import sqlglot
from sqlglot import exp

from tests.diff.edits import read_tree, with_tree
from tests.diff.function_catalogue import duckdb_catalogue
from tests.diff.shop import Shop
from tests.diff.warehouse import build

__all__ = ["with_functions"]

_LEFT_OUT = re.compile(r"error|sleep_ms|(?:icu_)?collate_.*")
"""What fails, what waits, and one function for each of 400 collations, which nobody calls by its name."""


def with_functions(shop: Shop, rng: random.Random, each: int = 3) -> Shop:
    """Return the shop with up to `each` calls of scalar functions in every model that does not aggregate."""
    calls = _calls()
    rng.shuffle(calls)
    for model in list(shop.models.values()):
        tree = read_tree(model)
        if not isinstance(tree, exp.Select) or tree.args.get("group") or tree.args.get("distinct"):
            continue
        if any(one.find(exp.AggFunc) and not one.find(exp.Window) for one in tree.expressions):
            continue
        for number in range(min(each, len(calls))):
            call = sqlglot.parse_one(calls[-1 - number], dialect="duckdb")
            tree.append("expressions", exp.alias_(call, f"f_{number}_{model.name}"))
        edited = shop.with_model(with_tree(model, tree))
        if build(edited).failed is None:
            shop = edited
            del calls[-each:]
    return shop


def _calls() -> list[str]:
    """Return a call of each function that its engine calls consistent, and that returns one row."""
    memory = duckdb.connect()
    found: dict[str, str] = {}
    for name, what, call in sorted(duckdb_catalogue(), key=lambda one: (one[0], one[2] or "")):
        if what != "scalar" or call is None or _LEFT_OUT.fullmatch(name) or name in found:
            continue
        try:
            rows, again = (memory.execute(f"SELECT {call} FROM (VALUES (1), (2)) AS t(b)").fetchall() for _ in range(2))
            sqlglot.parse_one(call, dialect="duckdb")
        except (duckdb.Error, sqlglot.ParseError):
            continue
        if len(rows) == 2 and repr(rows) == repr(again):  # the catalogue calls some clocks consistent
            found[name] = call
    return list(found.values())
