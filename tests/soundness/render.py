"""The SQL text of a query tree, in DuckDB's dialect."""

from __future__ import annotations

from tests.soundness.grammar import DUCKDB, GRAMMARS, Grammar
from tests.soundness.tree import (
    TARGET,
    Call,
    Constant,
    Cte,
    CteItem,
    Derived,
    Expr,
    FromItem,
    FunctionItem,
    Grouping,
    Item,
    ItemRef,
    Join,
    Key,
    Limit,
    NamedWindow,
    OutputRef,
    Pivoted,
    Query,
    QueryValue,
    Ref,
    Select,
    SetOperation,
    Star,
    Statement,
    TableItem,
    Unpivoted,
    ValuesItem,
)

__all__ = ["Renderer", "query_text", "script", "statements"]


def statements(statement: Statement) -> list[str]:
    """Return the texts of a script's statements; the last is the one that is asked about."""
    grammar = GRAMMARS[statement.dialect]
    renderer = Renderer(grammar)
    made = [grammar.temporary.format(name=t.name, query=renderer.query(t.query)) for t in statement.temporaries]
    query = renderer.query(statement.query)
    listed = f"({', '.join(statement.columns)})" if statement.columns else ""
    match statement.form:
        case "VIEW":
            last = f"CREATE VIEW {TARGET}{listed} AS {query}"
        case "TABLE":
            last = grammar.table.format(name=TARGET, query=query)
        case "INSERT":
            last = f"INSERT INTO {TARGET}{' ' + listed if listed else ''} {query}"
        case "INSERT BY NAME":
            last = f"INSERT INTO {TARGET} BY NAME {query}"
        case _:
            last = query
    return [*made, last]


def query_text(statement: Statement) -> str:
    """Return the text of the query that the last statement writes the rows of."""
    return Renderer(GRAMMARS[statement.dialect]).query(statement.query)


def script(statement: Statement) -> str:
    """Return the whole script as one text."""
    return ";\n".join(statements(statement))


class Renderer:
    """Writes queries; what select items are called, and where they stand, is kept by their number."""

    def __init__(self, grammar: Grammar = DUCKDB) -> None:
        self._grammar = grammar
        self._names: dict[int, str] = {}
        self._positions: dict[int, int] = {}
        self._windows: dict[int, str] = {}
        self._output: tuple[str, ...] = ()

    def query(self, query: Query) -> str:
        return self._select(query) if isinstance(query, Select) else self._set_operation(query)

    def _with(self, ctes: tuple[Cte, ...]) -> str:
        if not ctes:
            return ""
        word = "WITH RECURSIVE" if any(cte.recursive for cte in ctes) else "WITH"
        listed = []
        for cte in ctes:
            columns = f"({', '.join(cte.columns)})" if cte.columns else ""
            listed.append(f"{cte.name}{columns} AS {cte.materialized}({self.query(cte.query)})")
        return f"{word} {', '.join(listed)} "

    def _select(self, select: Select) -> str:
        head = self._with(select.ctes)
        for position, item in enumerate(select.items, 1):
            if isinstance(item, Item):
                self._names[item.uid], self._positions[item.uid] = item.name, position
        self._windows.update((window.uid, window.name) for window in select.windows)
        origin = " ".join(self._join(join) for join in select.joins).replace(" ,", ",")
        distinct = "DISTINCT " if select.distinct else ""
        if select.distinct_on:
            distinct = f"DISTINCT ON ({self._all(select.distinct_on)}) "
        listed = f"SELECT {distinct}{', '.join(self._item(item) for item in select.items)}"
        parts = [f"FROM {origin}", listed] if select.from_first and origin else [listed]
        if origin and not select.from_first:
            parts.append(f"FROM {origin}")
        if select.where is not None:
            parts.append(f"WHERE {self.value(select.where)}")
        if select.group is not None:
            parts.append(f"GROUP BY {self._group(select.group)}")
        if select.having is not None:
            parts.append(f"HAVING {self.value(select.having)}")
        if select.windows:
            parts.append("WINDOW " + ", ".join(map(self._window, select.windows)))
        if select.qualify is not None:
            parts.append(f"QUALIFY {self.value(select.qualify)}")
        if select.order_all:
            parts.append("ORDER BY ALL")
        return head + " ".join([*parts, *self._tail(select.order, select.limit)])

    def _set_operation(self, query: SetOperation) -> str:
        head = self._with(query.ctes)
        word = query.kind + (" ALL" if query.keeps_all else "") + (" BY NAME" if query.by_name else "")
        left, right = (self._branch(side) for side in (query.left, query.right))
        self._output = _output_names(query)
        return head + " ".join([left, word, right, *self._tail(query.order, query.limit)])

    def _branch(self, query: Query) -> str:
        text = self.query(query)
        plain = isinstance(query, Select) and not (query.ctes or query.order or query.order_all or query.limit)
        # sqlglot reads GROUP BY ALL UNION (…) as a type UNION(…).
        group = query.group if isinstance(query, Select) else None
        plain = plain and not (group is not None and group.form == "ALL")
        if self._grammar.may("plain branches"):  # none may stand in parentheses
            return text if plain else f"SELECT * FROM ({text})"
        return text if plain else f"({text})"

    def _tail(self, order: tuple[Key, ...], limit: Limit | None) -> list[str]:
        parts = []
        if order:
            keys = (f"{self.value(key.value)} {key.suffix}".rstrip() for key in order)
            parts.append("ORDER BY " + ", ".join(keys))
        if limit is not None:
            parts.append(f"LIMIT {self.value(limit.count)}" + (f" OFFSET {limit.offset}" if limit.offset else ""))
        return parts

    def _group(self, group: Grouping) -> str:
        keys = [self.value(key) for key in group.keys]
        if group.form == "ALL":
            return "ALL"
        if group.form == "GROUPING SETS":
            return f"GROUPING SETS ({', '.join('(' + ', '.join(keys[i] for i in s) + ')' for s in group.sets)})"
        return f"{group.form} ({', '.join(keys)})" if group.form else ", ".join(keys)

    def _window(self, window: NamedWindow) -> str:
        parts = [self._windows[window.base]] if window.base is not None else []
        if window.partition:
            parts.append(f"PARTITION BY {self._all(window.partition)}")
        if window.order:
            parts.append(f"ORDER BY {self._all(window.order)}")
        return f"{window.name} AS ({' '.join(parts)})"

    def _item(self, item: Item | Star) -> str:
        if isinstance(item, Item):
            return self.value(item.value) + (f" AS {item.name}" if item.written else "")
        text = f"{item.prefix}.*" if item.owner is not None else "*"
        if item.exclude:
            text += f" {self._grammar.exclude} ({', '.join(item.exclude)})"
        if item.replace:
            text += f" REPLACE ({', '.join(f'{self.value(value)} AS {name}' for name, value in item.replace)})"
        if item.rename:
            text += f" RENAME ({', '.join(f'{old} AS {new}' for old, new in item.rename)})"
        return text

    # FROM

    def _join(self, join: Join) -> str:
        if not join.kind:
            return self.from_item(join.item)
        kind = f"NATURAL {join.kind}" if join.natural else join.kind
        text = f"{kind} {self.from_item(join.item)}"
        if join.on is not None:
            text += f" ON {self.value(join.on)}"
        if join.using and not join.natural:
            text += f" USING ({', '.join(using.name for using in join.using)})"
        return text

    def from_item(self, item: FromItem) -> str:
        listed = () if isinstance(item, Pivoted | Unpivoted) else item.columns
        columns = f"({', '.join(listed)})" if listed else ""
        match item:
            case TableItem(_, name, alias) | CteItem(_, _, name, alias):
                return f"{name} AS {alias}{columns}" if alias else name
            case Derived(_, query, alias, _, lateral):
                return f"{'LATERAL ' if lateral else ''}({self.query(query)}) AS {alias}{columns}"
            case Pivoted(_, source, aggregates, key, values, alias):
                texts = ", ".join(text for text, _, _ in aggregates)
                return f"{self.from_item(source)} PIVOT ({texts} FOR {key} IN ({', '.join(values)})) AS {alias}"
            case Unpivoted(_, source, turned, alias, with_nulls):
                word = "UNPIVOT INCLUDE NULLS" if with_nulls else "UNPIVOT"
                return f"{self.from_item(source)} {word} (val FOR nam IN ({', '.join(turned)})) AS {alias}"
            case ValuesItem(_, rows, alias):
                return f"(VALUES {', '.join(f'({self._all(row)})' for row in rows)}) AS {alias}{columns}"
            case FunctionItem(_, template, args, alias, _, ordinality):
                call = template.format(*map(self.value, args))
                return f"{call}{' WITH ORDINALITY' if ordinality else ''} AS {alias}{columns}"

    # Expressions

    def _all(self, expressions: tuple[Expr, ...]) -> str:
        return ", ".join(self.value(expression) for expression in expressions)

    def value(self, expression: Expr) -> str:
        match expression:
            case Constant(text) | Ref(_, _, text):
                return text
            case ItemRef(item, _, ordinal):
                return str(self._positions[item]) if ordinal else self._names[item]
            case OutputRef(position, _, ordinal):
                return str(position + 1) if ordinal else self._output[position]
            case Call(template, args, _, _, window):
                named = self._windows[window] if window is not None else ""
                return template.format(*map(self.value, args), w=named)
            case QueryValue(template, args, query):
                return template.format(*map(self.value, args), q=self.query(query))


def _output_names(query: Query) -> tuple[str, ...]:
    """Return the output's names as far as items show them; the generator writes no star where ORDER BY needs names."""
    if isinstance(query, Select):
        return tuple(item.name if isinstance(item, Item) else "*" for item in query.items)
    left = _output_names(query.left)
    if not query.by_name:
        return left
    return left + tuple(name for name in _output_names(query.right) if name not in left)
