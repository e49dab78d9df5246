"""A dbt project of real shape: a shop's seeds, staging, intermediate models and marts, small enough to build often."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import random
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

__all__ = ["Model", "Shop", "new_shop", "relation", "write_target"]


@dataclass(frozen=True)
class Model:
    """A model: its raw SQL with Jinja, and its settings."""

    name: str
    sql: str
    materialized: str = "table"
    config: dict[str, Any] = field(default_factory=dict)

    @property
    def refs(self) -> list[str]:
        """The names that its SQL refers to, in order."""
        return list(dict.fromkeys(re.findall(r"ref\('(\w+)'\)", self.sql)))

    def text(self, *, later: bool = False) -> str:
        """Return its SQL as dbt compiles it: that of the first build, or that of a later one."""
        pattern = re.compile(r"\{% if is_incremental\(\) %\}(.*?)\{% endif %\}", re.DOTALL)
        sql = pattern.sub(lambda match: match.group(1) if later else "", self.sql)
        sql = re.sub(r"\{#.*?#\}", "", sql)
        sql = re.sub(r"\{\{ config\(.*?\) \}\}", "", sql)
        sql = sql.replace("{{ this }}", relation(self.name))
        return re.sub(r"\{\{ ref\('(\w+)'\) \}\}", lambda match: relation(match.group(1)), sql)


@dataclass(frozen=True)
class Shop:
    """Seeds (a header and rows) and models, in an order in which they can be built."""

    seeds: dict[str, list[list[str]]]
    models: dict[str, Model]

    def with_model(self, model: Model) -> Shop:
        """Return it with another version of a model."""
        return replace(self, models={**self.models, model.name: model})


def relation(name: str) -> str:
    """Return a relation as compiled SQL names it."""
    return f'"shop"."main"."{name}"'


def new_shop(seed: int = 0) -> Shop:
    """Return the project with random data."""
    rng = random.Random(seed)
    days = [f"2026-0{month}-{day:02d}" for month in (1, 2, 3) for day in range(1, 28, 3)]
    countries = ["DE", "FR", "IT", "PL"]

    def maybe(value: object, chance: float = 0.1) -> str:
        return "" if rng.random() < chance else str(value)

    seeds = {
        "raw_countries": [["code", "name", "zone"], ["DE", "Germany", "north"], ["FR", "France", "west"],
                          ["IT", "Italy", "south"]],
        "raw_customers": [["id", "name", "country", "email", "created"],
                          *([str(n), f"name {n % 7}", rng.choice(countries), f"c{n}@example.com", rng.choice(days)]
                            for n in range(1, 25))],
        "raw_orders": [["id", "customer_id", "ordered", "status", "note"],
                       *([str(n), str(rng.randint(1, 27)), rng.choice(days),
                          rng.choice(["placed", "shipped", "returned"]), maybe(f"note {n % 5}", 0.3)]
                         for n in range(1, 71))],
        "raw_payments": [["id", "order_id", "method", "amount"],
                         *([str(n), str(rng.randint(1, 72)), rng.choice(["card", "cash", "coupon"]),
                            str(rng.randint(100, 9_000))] for n in range(1, 91))],
        "raw_products": [["sku", "title", "price", "kind"],
                         *([f"p{n}", f"product {n}", str(rng.randint(1, 90)), rng.choice(["food", "drink"])]
                           for n in range(1, 11))],
        "raw_items": [["id", "order_id", "sku", "quantity"],
                      *([str(n), str(rng.randint(1, 71)), f"p{rng.randint(1, 11)}", str(rng.randint(1, 5))]
                        for n in range(1, 131))],
        "raw_visits": [["id", "customer_id", "at", "page", "seconds"],
                       *([str(n), str(rng.randint(1, 25)), rng.choice(days), rng.choice(["home", "cart", "item"]),
                          maybe(rng.randint(1, 400))] for n in range(1, 121))],
        "raw_returns": [["id", "order_id", "returned", "reason"],
                        *([str(n), str(rng.randint(1, 71)), rng.choice(days), rng.choice(["late", "broken"])]
                          for n in range(1, 16))],
    }  # fmt: skip
    models = {one.name: one for one in _MODELS}
    return Shop(seeds, models)


_MODELS = (
    Model("stg_customers", """with source as (select * from {{ ref('raw_customers') }}),
renamed as (select id as customer_id, name as customer_name, upper(country) as country_code, lower(email) as email,
  cast(created as date) as created_on from source)
select * from renamed""", "view"),
    Model("stg_orders", """with source as (select * from {{ ref('raw_orders') }})
select id as order_id, customer_id, cast(ordered as date) as ordered_on, status, coalesce(note, 'none') as note,
  case when status = 'returned' then 1 else 0 end as is_returned from source where status <> 'lost'""", "view"),
    Model("stg_payments", """select id as payment_id, order_id, method, amount / 100.0 as amount,
  amount > 5000 as is_large from {{ ref('raw_payments') }} as p where amount > 0 and method is not null""", "view"),
    Model("stg_products", """select sku, title, cast(price as decimal(10, 2)) as price, kind,
  price >= 50 as is_expensive from {{ ref('raw_products') }}""", "view"),
    Model("stg_items", """select id as item_id, order_id, sku, quantity from {{ ref('raw_items') }}
where quantity > 0""", "view"),
    Model("stg_visits", """select id as visit_id, customer_id, cast(at as date) as visited_on, page,
  coalesce(seconds, 0) as seconds from {{ ref('raw_visits') }}""", "view"),
    Model("stg_returns", """select id as return_id, order_id, cast(returned as date) as returned_on, reason
from {{ ref('raw_returns') }}""", "view"),
    Model("stg_countries", """select code as country_code, name as country_name, zone
from {{ ref('raw_countries') }}""",
          "view"),
    Model("int_order_payments", """select order_id, sum(amount) as total_amount,
  sum(case when method = 'card' then amount else 0 end) as card_amount,
  sum(case when method = 'coupon' then amount else 0 end) as coupon_amount, count(*) as payments,
  max(amount) as largest_amount from {{ ref('stg_payments') }} group by order_id"""),
    Model("int_order_items", """select i.order_id, i.sku, i.quantity, p.price, p.kind,
  i.quantity * p.price as line_total, p.title
from {{ ref('stg_items') }} as i join {{ ref('stg_products') }} as p on i.sku = p.sku"""),
    Model("int_order_totals", """select order_id, sum(line_total) as goods_total, sum(quantity) as pieces,
  count(distinct sku) as products, sum(case when kind = 'food' then line_total else 0 end) as food_total
from {{ ref('int_order_items') }} group by order_id having sum(quantity) > 1"""),
    Model("int_customer_visits", """select customer_id, count(*) as visits, sum(seconds) as seconds,
  min(visited_on) as first_visit, max(visited_on) as last_visit, avg(seconds) as mean_seconds
from {{ ref('stg_visits') }} where page <> 'admin' group by customer_id"""),
    Model("int_orders_ranked", """with ordered as (select order_id, customer_id, ordered_on, status,
  row_number() over (partition by customer_id order by ordered_on, order_id) as order_number,
  lag(ordered_on) over (partition by customer_id order by ordered_on, order_id) as previous_on
from {{ ref('stg_orders') }})
select *, order_number = 1 as is_first from ordered"""),
    Model("int_events", """select customer_id, ordered_on as happened_on, 'order' as kind, status as detail
from {{ ref('stg_orders') }} union all
select customer_id, visited_on, 'visit', page from {{ ref('stg_visits') }} where seconds > 10"""),
    Model("int_contacts", """select customer_id, customer_name, email from {{ ref('stg_customers') }}
where email is not null"""),
    Model("fct_orders", """select o.order_id, o.customer_id, o.ordered_on, o.status, o.is_returned, o.note,
  p.total_amount, p.card_amount, p.coupon_amount, t.goods_total, t.pieces,
  coalesce(p.total_amount, 0) - coalesce(t.goods_total, 0) as difference
from {{ ref('stg_orders') }} as o left join {{ ref('int_order_payments') }} as p on o.order_id = p.order_id
left join {{ ref('int_order_totals') }} as t on o.order_id = t.order_id"""),
    Model("fct_events", """{{ config(materialized='incremental', unique_key='customer_id') }}
select customer_id, max(happened_on) as last_on, count(*) as events, count(distinct kind) as kinds,
  min(detail) as a_detail from {{ ref('int_events') }}
{% if is_incremental() %} where happened_on >= (select max(last_on) from {{ this }}) {% endif %}
group by customer_id""", "incremental", {"unique_key": "customer_id"}),
    Model("fct_visits_daily", """{{ config(materialized='incremental') }}
select visited_on, page, count(*) as visits, sum(seconds) as seconds from {{ ref('stg_visits') }}
{% if is_incremental() %} where visited_on > (select max(visited_on) from {{ this }}) {% endif %}
group by visited_on, page""", "incremental"),
    Model("fct_returns", """select r.*, o.customer_id, o.ordered_on, r.returned_on - o.ordered_on as days
from {{ ref('stg_returns') }} as r join {{ ref('stg_orders') }} as o using (order_id)"""),
    Model("dim_customers", """with orders as (select customer_id, min(ordered_on) as first_order,
  max(ordered_on) as last_order, count(order_id) as orders, sum(total_amount) as lifetime_value
from {{ ref('fct_orders') }} group by customer_id)
select c.customer_id, c.customer_name, c.country_code, n.country_name, c.email, o.first_order, o.last_order,
  coalesce(o.orders, 0) as orders, o.lifetime_value, v.visits, v.last_visit,
  case when o.lifetime_value > 150 then 'gold' when o.orders > 2 then 'silver' else 'plain' end as tier
from {{ ref('stg_customers') }} as c left join orders as o on c.customer_id = o.customer_id
left join {{ ref('int_customer_visits') }} as v on c.customer_id = v.customer_id
left join {{ ref('stg_countries') }} as n on n.country_code = c.country_code"""),
    Model("dim_products", """select p.sku, p.title, p.price, p.kind, p.is_expensive, sum(i.quantity) as sold,
  sum(i.line_total) as revenue, rank() over (order by sum(i.line_total) desc nulls last) as revenue_rank
from {{ ref('stg_products') }} as p left join {{ ref('int_order_items') }} as i on p.sku = i.sku group by all"""),
    Model("mart_revenue_monthly", """select date_trunc('month', ordered_on) as month, count(*) as orders,
  sum(total_amount) as revenue, sum(sum(total_amount)) over (order by date_trunc('month', ordered_on)) as running,
  sum(is_returned) as returned from {{ ref('fct_orders') }} where status <> 'placed' group by 1"""),
    Model("mart_country_tiers", """select country_name, tier, count(*) as customers, avg(lifetime_value) as mean_value
from {{ ref('dim_customers') }} where country_name is not null group by country_name, tier""", "view"),
    Model("mart_best_customers", """select customer_id, customer_name, lifetime_value, tier
from {{ ref('dim_customers') }} qualify dense_rank() over (partition by tier order by lifetime_value desc) <= 3"""),
    Model("mart_first_orders", """select r.customer_id, r.order_id, r.ordered_on, f.total_amount, f.pieces
from {{ ref('int_orders_ranked') }} as r join {{ ref('fct_orders') }} as f on r.order_id = f.order_id
where r.is_first"""),
    Model("mart_loyal", """select c.customer_id, c.email, c.orders from {{ ref('dim_customers') }} as c
where exists (select 1 from {{ ref('int_orders_ranked') }} as r
  where r.customer_id = c.customer_id and r.order_number > 2)""", "view"),
    Model("mart_everything", """select * from {{ ref('mart_first_orders') }}""", "view"),
    Model("mart_people", """select * from {{ ref('int_contacts') }} union
select customer_id, tier, 'none' from {{ ref('dim_customers') }}"""),
    Model("mart_top_products", """select sku, title, revenue from {{ ref('dim_products') }}
order by revenue desc, sku limit 5"""),
    Model("mart_activity", """select e.customer_id, e.events, e.last_on, v.visits from {{ ref('fct_events') }} as e
left join {{ ref('int_customer_visits') }} as v on v.customer_id = e.customer_id where e.events > 1"""),
)  # fmt: skip


def write_target(shop: Shop, folder: Path) -> Path:
    """Write the manifest and seeds of the project as `dbt compile` leaves them; return the target folder."""
    nodes: dict[str, Any] = {}
    (folder / "seeds").mkdir(parents=True, exist_ok=True)
    for name, rows in shop.seeds.items():
        text = _csv(rows)
        (folder / "seeds" / f"{name}.csv").write_text(text, encoding="utf-8")
        nodes[f"seed.shop.{name}"] = {
            **_node(name, "seed"), "original_file_path": f"seeds/{name}.csv", "raw_code": "",
            "config": {"materialized": "seed"}, "depends_on": {"macros": []},
            "checksum": {"name": "sha256", "checksum": hashlib.sha256(text.strip().encode()).hexdigest()},
        }  # fmt: skip
    for name, model in shop.models.items():
        needs = [f"{'seed' if one in shop.seeds else 'model'}.shop.{one}" for one in model.refs]
        nodes[f"model.shop.{name}"] = {
            **_node(name, "model"), "original_file_path": f"models/{name}.sql", "language": "sql",
            "raw_code": model.sql, "compiled_code": model.text(later=True), "columns": {},
            "config": {"materialized": model.materialized, **model.config},
            "depends_on": {"macros": [], "nodes": needs},
            "checksum": {"name": "sha256", "checksum": hashlib.sha256(model.sql.encode()).hexdigest()},
        }  # fmt: skip
    data = {
        "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json", "project_name": "shop",
                     "generated_at": "2026-03-01T06:00:00Z", "adapter_type": "duckdb", "invocation_id": "1"},
        "nodes": nodes, "sources": {}, "macros": {}, "exposures": {}, "metrics": {}, "semantic_models": {},
        "saved_queries": {},
    }  # fmt: skip
    target = folder / "target"
    target.mkdir(exist_ok=True)
    (target / "manifest.json").write_text(json.dumps(data), encoding="utf-8")
    return target


def _node(name: str, kind: str) -> dict[str, Any]:
    return {"unique_id": f"{kind}.shop.{name}", "resource_type": kind, "package_name": "shop", "name": name,
            "alias": name, "database": "shop", "schema": "main", "relation_name": relation(name),
            "fqn": ["shop", name]}  # fmt: skip


def _csv(rows: list[list[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()
