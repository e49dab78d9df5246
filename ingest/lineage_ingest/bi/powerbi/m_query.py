"""M (Power Query): the source of a query, and where a column of its result comes from, step by step.

https://learn.microsoft.com/en-us/powerquery-m/m-spec-lexical-structure
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lineage.model.diagnostics import Diagnostic
from lineage_ingest.bi.exported import not_read
from lineage_ingest.bi.powerbi.m_text import TOKEN, m_text, record_fields, split_at, strings
from lineage_ingest.bi.written_sql import LITERAL, quote

__all__ = ["MJoin", "MQuery", "MSource"]

_DATABASES = {
    "Sql.Database": "tsql", "Sql.Databases": "tsql", "PostgreSQL.Database": "postgres", "MySQL.Database": "mysql",
    "Oracle.Database": "oracle", "Snowflake.Databases": "snowflake", "GoogleBigQuery.Database": "bigquery",
    "AmazonRedshift.Database": "redshift", "Databricks.Catalogs": "databricks", "Databricks.Query": "databricks",
    "Teradata.Database": "teradata", "DB2.Database": "ansi", "Odbc.DataSource": "ansi", "Odbc.Query": "ansi",
    "OleDb.Query": "ansi", "AzureDataExplorer.Contents": "ansi", "AmazonAthena.Databases": "athena",
}  # fmt: skip
_SAME_COLUMNS = frozenset(
    (
        "Table.TransformColumnTypes", "Table.SelectColumns", "Table.RemoveColumns", "Table.ReorderColumns",
        "Table.Sort", "Table.Buffer", "Table.FirstN",
        "Table.RemoveLastN", "Table.Skip", "Table.RemoveFirstN", "Table.LastN",
        "Table.ReverseRows",
        "Table.RemoveRowsWithErrors", "Table.AlternateRows", "Table.Range", "Table.Repeat",
        "Table.ReplaceErrorValues", "Table.StopFolding", "Table.AddKey", "Table.View", "Table.RemoveMatchingRows",
    )
)  # fmt: skip
_FILTERS = frozenset(("Table.SelectRows", "Table.SelectRowsWithErrors", "Table.RemoveRows"))
_TRANSFORMS = frozenset(("Table.TransformColumns", "Table.ReplaceValue", "Table.FillDown", "Table.FillUp"))
_MADE_OF = {
    "Table.SplitColumn": 3,
    "Table.CombineColumns": 3,
    "Table.ExpandRecordColumn": -1,
    "Table.ExpandListColumn": 1,
}
"""Steps that make columns of others: the second argument names these, the one with this number the new ones."""
_MERGE = "Table.NestedJoin"
_NEW_COLUMNS = frozenset(
    ("Table.Pivot", "Table.Unpivot", "Table.UnpivotOtherColumns", "Table.Transpose", "Table.PromoteHeaders",
     "Table.DemoteHeaders", "Table.FromRecords", "Table.FromColumns", "Table.FromRows")
)  # fmt: skip
"""Steps whose columns have other names than those before, which their arguments need not have."""
_NAVIGATION = re.compile(r"\{\s*\[(?P<keys>.*?)\]\s*\}\s*\[\s*Data\s*\]", re.DOTALL)
_FIELD = re.compile(r"\[\s*(#\"(?:[^\"]|\"\")*\"|[^\[\]\"=,]+?)\s*\]")
_MAX_DEPTH = 200


@dataclass(frozen=True, slots=True)
class MSource:
    """What a query reads: the dialect and address of a database, and a table's name or SQL."""

    dialect: str
    server: str = ""
    database: str = ""
    parts: tuple[str, ...] = ()
    sql: str = ""

    def is_beside(self, other: MSource) -> bool:
        """Return whether one query of SQL can read both."""
        return (self.dialect, self.server, self.database) == (other.dialect, other.server, other.database)


@dataclass(frozen=True, slots=True)
class MJoin:
    """A table that is merged: its alias, its source, and the condition."""

    alias: str
    source: MSource
    condition: str


@dataclass(slots=True)
class MQuery:
    """The steps of one query. `others` are the queries and parameters that it may refer to, by name."""

    text: str
    others: Mapping[str, str] = field(default_factory=dict)
    dialect: str = "ansi"
    problems: list[Diagnostic] = field(default_factory=list)
    joins: dict[tuple[str, ...], MJoin] = field(default_factory=dict)
    """The tables that are merged; known after `filters`."""
    _parsed: dict[str, tuple[dict[str, str], str]] = field(default_factory=dict)

    def source(self) -> MSource | None:
        """Return what the query reads; None if that is no database."""
        return self._source("", self._result(""))

    def trace(self, column: str, alias: str) -> str:
        """Return the SQL of a column of the result, over the query's source with this alias."""
        return self._trace("", self._result(""), column, alias, 0)

    def filters(self, alias: str) -> list[str]:
        """Return the conditions that decide the rows, as SQL."""
        return self._filters("", self._result(""), alias)

    def _filters(self, scope: str, expression: str, alias: str) -> list[str]:
        found: list[str] = []
        for _ in range(_MAX_DEPTH):
            function, arguments = _call(expression)
            if function in _FILTERS | {"Table.Distinct", "Table.Group"} and len(arguments) > 1:
                named = _own_fields(arguments[1]) if function in _FILTERS else strings(arguments[1])
                inner = self._expression(scope, arguments[0])
                for name in named:
                    text = self._trace(*inner, m_text(name) or name.strip(), alias, 0)
                    found.append(f"({text} = {LITERAL})")
            if function == _MERGE and len(arguments) > 4 and self._join(scope, arguments, alias, 0) is None:
                self._report(f"the step {function} is not read: the table that it merges is of another source")
            following = self._previous(scope, expression)
            if following is None:
                break
            scope, expression = following
        return list(dict.fromkeys(found))

    # Steps

    def _steps(self, query: str) -> tuple[dict[str, str], str]:
        """Return the steps of a query by name, and the name or expression of its result."""
        if query not in self._parsed:
            self._parsed[query] = _parse_let(self.text if query == "" else self.others.get(query, ""))
        return self._parsed[query]

    def _result(self, query: str) -> str:
        steps, result = self._steps(query)
        return steps.get(_plain(result), result)

    def _expression(self, query: str, name: str) -> tuple[str, str]:
        """Return the query and expression that an argument means: a step, another query, or an expression itself."""
        plain = _plain(name)
        steps, _ = self._steps(query)
        if plain in steps:
            return query, steps[plain]
        if plain in self.others and plain != query:
            return plain, self._result(plain)
        return query, name

    def _previous(self, query: str, expression: str) -> tuple[str, str] | None:
        """Return what an expression is made from; None if it is the beginning."""
        found = self._expression(query, expression.strip())
        if found[1] != expression.strip() or found[0] != query:
            return found
        navigation = _NAVIGATION.search(expression)
        if navigation is not None:
            return self._expression(query, expression[: navigation.start()].strip())
        function, arguments = _call(expression)
        if arguments and (function.startswith("Table.") or function in ("Value.NativeQuery",)):
            return self._expression(query, arguments[0].strip())
        return None

    def _value(self, query: str, argument: str) -> str:
        """Return the text that an argument has: a literal, or a parameter's value."""
        text = m_text(argument.strip())
        if text is not None:
            return text
        _, expression = self._expression(query, argument.strip())
        value = expression.partition(" meta ")[0].strip()
        return m_text(value) or ""

    def _text(self, query: str, argument: str) -> str:
        """Return SQL that an argument has: literals and parameters in a row; what is computed becomes a value."""
        parts = split_at(argument, "&")
        if len(parts) == 1:
            text = self._value(query, argument)
            if not text and argument.strip():
                _, expression = self._expression(query, argument.strip())
                if expression.strip() != argument.strip():
                    return self._text(query, expression)
                self._report("the SQL is computed by an expression that is not read")
            return text
        texts = [self._value(query, part) for part in parts]
        if not all(text or m_text(part) is not None for text, part in zip(texts, parts, strict=True)):
            self._report("a part of the SQL is computed by an expression: a value is assumed")
        return "".join(
            text if text or m_text(part) is not None else "?" for text, part in zip(texts, parts, strict=True)
        )

    # The source

    def _source(self, query: str, expression: str) -> MSource | None:
        names: list[str] = []
        sql = ""
        for _ in range(_MAX_DEPTH):
            navigation = _NAVIGATION.search(expression)
            if navigation is not None:
                keys = record_fields(f"[{navigation['keys']}]")
                own = [self._value(query, keys[key]) for key in ("Schema", "Item", "Name") if key in keys]
                names = [one for one in own if one] + names
            function, arguments = _call(expression[: navigation.start()] if navigation is not None else expression)
            if function == "Value.NativeQuery" and len(arguments) > 1:
                sql = sql or self._text(query, arguments[1])
            if function in _DATABASES:
                return self._database(query, function, arguments, names, sql)
            following = self._previous(query, expression)
            if following is None:
                return None
            query, expression = following
        return None

    def _database(self, query: str, function: str, arguments: list[str], names: list[str], sql: str) -> MSource:
        plain = [one for one in arguments if not one.strip().startswith("[")]
        holds_sql = function in ("Odbc.Query", "OleDb.Query", "Databricks.Query")
        values = [
            self._text(query, one) if number == 1 and holds_sql else self._value(query, one)
            for number, one in enumerate(plain)
        ]
        for one in arguments:
            if one.strip().startswith("["):
                sql = sql or self._text(query, record_fields(one).get("Query", ""))
        server, database = [*values, "", ""][:2]
        if holds_sql:
            sql, database = sql or database, ""
        if function in ("Snowflake.Databases", "Databricks.Catalogs", "Sql.Databases", "AmazonAthena.Databases",
                        "GoogleBigQuery.Database"):  # fmt: skip
            database = ""
        return MSource(_DATABASES[function], server, database, tuple(names), sql)

    # Columns

    def _trace(self, query: str, expression: str, column: str, alias: str, depth: int) -> str:
        if depth > _MAX_DEPTH:
            return "NULL"
        function, arguments = _call(expression)
        previous = self._previous(query, expression)
        if previous is None or function in _DATABASES or _NAVIGATION.search(expression) is not None:
            return f"{alias}.{quote(column, self.dialect)}"

        def before(name: str) -> str:
            return self._trace(*previous, name, alias, depth + 1)

        if function == "Table.RenameColumns" and len(arguments) > 1:
            pairs = _pairs(arguments[1])
            old = {new: name for name, new in pairs}
            return before(old.get(column, column))
        if function == "Table.DuplicateColumn" and len(arguments) > 2:
            return before(
                (m_text(arguments[1].strip()) or column) if m_text(arguments[2].strip()) == column else column
            )
        if function in _MADE_OF and len(arguments) > _MADE_OF[function]:
            parts, made_of_it = strings(arguments[1]), set(strings(arguments[_MADE_OF[function]]))
            return f"m_transformed({', '.join(map(before, parts))})" if column in made_of_it else before(column)
        if function == "Table.AddColumn" and len(arguments) > 2:
            if m_text(arguments[1].strip()) != column:
                return before(column)
            return self._function_of(arguments[2], before)
        if function == "Table.AddIndexColumn" and len(arguments) > 1:
            return "NULL" if m_text(arguments[1].strip()) == column else before(column)
        if function == "Table.ExpandTableColumn" and len(arguments) > 2:
            return self._expanded(previous, arguments, column, alias, depth)
        if function == _MERGE and len(arguments) > 4 and m_text(arguments[4].strip()) != column:
            return before(column)
        if function == "Table.Group" and len(arguments) > 2:
            return self._grouped(arguments, column, before)
        if function in ("Table.Unpivot", "Table.UnpivotOtherColumns") and len(arguments) > 3:
            listed, made = list(strings(arguments[1])), m_text(arguments[3])
            if function == "Table.Unpivot" and column == made:
                return f"m_transformed({', '.join(map(before, listed))})" if listed else "NULL"
            if (column in listed) == (function == "Table.UnpivotOtherColumns") and column != m_text(arguments[2]):
                return before(column)
        named = {text for one in arguments[1:] for text in strings(one)}
        if function in _TRANSFORMS:
            read = [m_text(one) or one.strip() for text in arguments[1:] for one in _FIELD.findall(text)]
            texts = dict.fromkeys(before(one) for one in (column, *read))
            return f"m_transformed({', '.join(texts)})" if column in named else before(column)
        if function in _SAME_COLUMNS | _FILTERS | {"Table.Distinct", "Value.NativeQuery"} or not function:
            return before(column)
        if column in named or function in _NEW_COLUMNS:
            self._report(f"the step {function} is not read: where the column {column!r} comes from is not known")
            return "NULL"
        self._report(f"the step {function} is not read: columns that it does not name are taken to be those before it")
        return before(column)

    def _expanded(self, previous: tuple[str, str], arguments: list[str], column: str, alias: str, depth: int) -> str:
        """Return a column of Table.ExpandTableColumn: of the table that was merged, or one from before."""
        fields = list(strings(arguments[2]))
        names = list(strings(arguments[3])) if len(arguments) > 3 else fields
        if column not in names or len(names) != len(fields):
            return self._trace(*previous, column, alias, depth + 1)
        wanted, merged = fields[names.index(column)], m_text(arguments[1].strip())
        at: tuple[str, str] | None = previous
        for _ in range(_MAX_DEPTH):
            if at is None:
                break
            function, own = _call(at[1])
            if function == _MERGE and len(own) > 4 and m_text(own[4].strip()) == merged:
                join = self._join(at[0], own, alias, depth)
                if join is not None:
                    return self._trace(*self._expression(at[0], own[2].strip()), wanted, join.alias, depth + 1)
                break
            at = self._previous(*at)
        self._report(f"the column {column!r} is of a table that is not read")
        return "NULL"

    def _join(self, query: str, arguments: list[str], alias: str, depth: int) -> MJoin | None:
        """Return the table that Table.NestedJoin merges; None if it is not of the same database."""
        key = (query, *(one.strip() for one in arguments[:5]))
        if key not in self.joins:
            other = self._expression(query, arguments[2].strip())
            source, main = self._source(*other), self.source()
            if source is None or main is None or not source.is_beside(main) or not (source.sql or source.parts):
                return None
            own = f"j{len(self.joins) + 1}"
            self.joins[key] = MJoin(own, source, "TRUE")  # its own columns may need it
            left = self._expression(query, arguments[0].strip())
            conditions = [
                f"{self._trace(*left, one, alias, depth + 1)} = {self._trace(*other, two, own, depth + 1)}"
                for one, two in zip(strings(arguments[1]), strings(arguments[3]), strict=False)
            ]
            conditions += self._filters(*other, own)
            self.joins[key] = MJoin(own, source, " AND ".join(conditions) or "TRUE")
        return self.joins[key]

    def _grouped(self, arguments: list[str], column: str, before: Callable[[str], str]) -> str:
        """Return a column of Table.Group: one of its keys, or what `{name, each …, type}` computes."""
        if column in strings(arguments[1]):
            return before(column)
        listed = arguments[2].strip()
        items = split_at(listed[1:-1], ",") if listed.startswith("{") else []
        if items and not items[0].strip().startswith("{"):
            items = [listed]
        for item in items:
            name, *rest = split_at(item.strip()[1:-1], ",")
            if m_text(name) == column and rest:
                text = self._function_of(rest[0], before)
                return "COUNT(*)" if text == LITERAL else f"MAX({text})"
        self._report(f"the column {column!r} of the step Table.Group is not read")
        return "NULL"

    def _function_of(self, text: str, before: Callable[[str], str]) -> str:
        names = [m_text(name) or name.strip() for name in _FIELD.findall(_without_strings(text))]
        return f"m_expression({', '.join(dict.fromkeys(before(name) for name in names))})" if names else LITERAL

    def _report(self, message: str) -> None:
        problem = not_read(message)
        if problem not in self.problems:
            self.problems.append(problem)


def _plain(name: str) -> str:
    return m_text(name) or name.strip()


def _parse_let(text: str) -> tuple[dict[str, str], str]:
    """Return the steps of `let … in …` by name, and its result; other text is its own result."""
    stripped = text.strip()
    if not re.match(r"let\b", stripped):
        return {}, stripped
    steps: dict[str, str] = {}
    depth, name, start, inner = 0, None, None, 0
    last = stripped
    position = 3
    for token in TOKEN.finditer(stripped, 3):
        kind = token.lastgroup
        if kind == "space":
            continue
        if kind == "name" and token[0] == "let" and depth >= 0:
            inner += 1
        elif kind == "name" and token[0] == "in" and depth == 0:
            if inner:
                inner -= 1
                continue
            if name is not None and start is not None:
                steps[name] = stripped[start : token.start()].strip()
            last = stripped[token.end() :].strip()
            break
        elif kind == "open":
            depth += 1
        elif kind == "close":
            depth -= 1
        elif token[0] == "," and depth == 0 and not inner:
            if name is not None and start is not None:
                steps[name] = stripped[start : token.start()].strip()
            name, start, position = None, None, token.end()
        elif token[0] == "=" and depth == 0 and name is None and not inner:
            name, start = _plain(stripped[position : token.start()]), token.end()
    return steps, last


def _call(expression: str) -> tuple[str, list[str]]:
    """Return the function that an expression calls, and its arguments; an empty name if it is no call."""
    match = re.match(r"\s*([A-Za-z_][\w.]*)\s*\(", expression)
    if match is None:
        return "", []
    arguments: list[str] = []
    depth, start = 0, match.end()
    for token in TOKEN.finditer(expression, match.end()):
        if token.lastgroup == "open":
            depth += 1
        elif token.lastgroup == "close":
            if depth == 0:
                arguments.append(expression[start : token.start()])
                break
            depth -= 1
        elif token[0] == "," and depth == 0:
            arguments.append(expression[start : token.start()])
            start = token.end()
    return match[1], [one for one in arguments if one.strip()]


def _pairs(text: str) -> list[tuple[str, str]]:
    listed = list(strings(text))
    return list(zip(listed[::2], listed[1::2], strict=False))


def _own_fields(text: str) -> list[str]:
    """Return the fields of the row in an expression: `[a]`, and not `Other[a]`."""
    return [one[1] for one in _FIELD.finditer(text) if not re.search(r"[\w\"]$", text[: one.start()])]


def _without_strings(text: str) -> str:
    return "".join(" " if token.lastgroup == "string" else token[0] for token in TOKEN.finditer(text))
