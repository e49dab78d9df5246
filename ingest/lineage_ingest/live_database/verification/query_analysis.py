"""What a query reads, by PostgreSQL's parse tree: the columns behind each output column, and behind the rows.

Columns are followed through sub-queries, CTEs, joins and set operations to the relations in FROM. Those whose value
goes into an output column (CASE conditions, arguments and filters of aggregates included) must be reported for it;
windows, filters of sub-queries, the right side of EXCEPT and the other side of USING may be. Of the two columns that
an inner join merges, PostgreSQL shows the left one, unless only the right one has the common type: then it is either.
https://www.postgresql.org/docs/current/querytree.html
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice, product
from typing import Any, TypeAlias

from lineage.frozen import frozen
from lineage_ingest.live_database.verification.node_tree import NodeTreeError, TreeNode

__all__ = ["BaseColumn", "QueryAnalysis", "ReadColumns", "analyse_query"]

BaseColumn: TypeAlias = tuple[int, int]
"""A column of a relation: its oid, and the number of the column."""
_Scope: TypeAlias = tuple[TreeNode, ...]
"""A query and those around it, the outermost first."""

# enum RTEKind of parsenodes.h
_RELATION, _SUBQUERY, _JOIN, _FUNCTION, _TABLE_FUNCTION, _VALUES, _CTE, _GROUP = 0, 1, 2, 3, 4, 5, 6, 9
_INNER = 0  # enum JoinType of nodes.h
_EXISTS = 0  # enum SubLinkType of primnodes.h
_EXCEPT = 3  # enum SetOperation of parsenodes.h
_MAX_ALTERNATIVES = 100
"""Columns that are merged with columns that are merged: their choices multiply."""
_ROW_CLAUSES = ("jointree", "havingQual", "limitOffset", "limitCount")
_ORDERING_CLAUSES = ("groupClause", "distinctClause", "sortClause")


@dataclass(slots=True)
class ReadColumns:
    """Columns that must be, and that may be reported for a value.

    Of each choice in `either`, all columns of one alternative must be.
    """

    must: set[BaseColumn] = field(default_factory=set)
    may: set[BaseColumn] = field(default_factory=set)
    either: set[frozenset[frozenset[BaseColumn]]] = field(default_factory=set)

    def add(self, other: ReadColumns, *, only_may: bool = False) -> None:
        """Add what another value reads; `only_may`: as what may be reported."""
        (self.may if only_may else self.must).update(other.must)
        self.may.update(other.may)
        if not only_may:
            self.either.update(other.either)

    def alternatives(self) -> frozenset[frozenset[BaseColumn]]:
        """Return the sets of columns of which one must be reported as a whole."""
        chosen = islice(product(*self.either), _MAX_ALTERNATIVES)
        return frozenset(frozenset(self.must).union(*one) for one in chosen)

    @property
    def every(self) -> set[BaseColumn]:
        """All of them."""
        return self.must | self.may


@frozen
class QueryAnalysis:
    """What a query reads: for each output column in order, and for its rows. `functions` are those that it calls."""

    names: tuple[str, ...]
    columns: tuple[ReadColumns, ...]
    rows: frozenset[BaseColumn]
    relations: frozenset[int]
    functions: frozenset[int]

    @property
    def reads(self) -> set[BaseColumn]:
        """All columns that it reads."""
        return set(self.rows).union(*(column.every for column in self.columns))


def analyse_query(tree: Any, columns_of: Callable[[int], Iterable[int]]) -> QueryAnalysis:
    """Return what a parsed query reads; `columns_of` returns the numbers of a relation's columns, by its oid.

    Raises:
        NodeTreeError: the tree is not that of one query.
    """
    query = tree[0] if isinstance(tree, list) and len(tree) == 1 else tree
    if not isinstance(query, TreeNode) or query.tag != "QUERY":
        raise NodeTreeError("the rule is not one query")
    reader = _TreeAnalysis(columns_of)
    scope = (query,)
    outputs = _outputs(query)
    rows = reader.rows(scope)
    return QueryAnalysis(
        names=tuple(str(entry["resname"]) for entry in outputs),
        columns=tuple(reader.output(scope, entry.number("resno")) for entry in outputs),
        rows=frozenset(rows),
        relations=frozenset(reader.relations),
        functions=frozenset(_functions(query)),
    )


class _TreeAnalysis:
    def __init__(self, columns_of: Callable[[int], Iterable[int]]) -> None:
        self._columns_of = columns_of
        self.relations: set[int] = set()
        self._known: dict[tuple[int, int], ReadColumns] = {}
        self._open: set[tuple[int, int]] = set()
        """Columns of queries that are being followed: a recursive query reads its own."""
        self._cut = 0
        """How often a column that is being followed was met."""
        self._rows_open: set[int] = set()

    def output(self, scope: _Scope, number: int) -> ReadColumns:
        """Return what an output column of the innermost query reads."""
        query = scope[-1]
        key = (id(query), number)
        if key in self._known:
            return self._known[key]
        if key in self._open:
            self._cut += 1
            return ReadColumns()
        self._open.add(key)
        cut = self._cut
        reads = ReadColumns()
        if query["setOperations"] is not None:
            self._add_branches(reads, scope, query["setOperations"], number, only_may=False)
        else:
            entry = next((one for one in _outputs(query) if one.number("resno") == number), None)
            if entry is None:  # a column of SEARCH or CYCLE
                for other in _outputs(query):
                    reads.add(self.output(scope, other.number("resno")), only_may=True)
            else:
                self._add(reads, scope, entry["expr"])
        self._open.discard(key)
        if cut == self._cut:
            self._known[key] = reads
        return reads

    def rows(self, scope: _Scope) -> set[BaseColumn]:
        """Return the columns that decide which rows the innermost query has."""
        query = scope[-1]
        if id(query) in self._rows_open:
            return set()
        self._rows_open.add(id(query))
        reads = ReadColumns()
        for clause in _ROW_CLAUSES:
            self._add(reads, scope, query[clause])
        ordered = {
            one.number("tleSortGroupRef") for clause in _ORDERING_CLAUSES for one in query.listed(clause)
        }  # fmt: skip
        for entry in query.listed("targetList"):
            if entry.number("ressortgroupref") in ordered:
                self._add(reads, scope, entry["expr"])
        rows = reads.every
        for number in _in_from(query["jointree"], query["setOperations"]):
            rows |= self._rows_of(scope, query["rtable"][number - 1])
        self._rows_open.discard(id(query))
        return rows

    def _rows_of(self, scope: _Scope, item: TreeNode) -> set[BaseColumn]:
        kind = item.number("rtekind")
        if kind == _RELATION:
            self.relations.add(item.number("relid"))
        if kind == _SUBQUERY:
            return self.rows((*scope, item["subquery"]))
        if kind == _CTE and (found := self._cte(scope, item)) is not None:
            return self.rows(found)
        if kind in (_FUNCTION, _TABLE_FUNCTION):
            read = ReadColumns()
            self._add(read, scope, item["functions"] if kind == _FUNCTION else item["tablefunc"])
            return read.every
        return set()

    # Values

    def _add_branches(self, reads: ReadColumns, scope: _Scope, node: TreeNode, number: int, *, only_may: bool) -> None:
        """Add an output column of each branch of a set operation."""
        if node.tag == "RANGETBLREF":
            item = scope[-1]["rtable"][node.number("rtindex") - 1]
            reads.add(self.output((*scope, item["subquery"]), number), only_may=only_may)
            return
        self._add_branches(reads, scope, node["larg"], number, only_may=only_may)
        self._add_branches(reads, scope, node["rarg"], number, only_may=only_may or node.number("op") == _EXCEPT)

    def _add(self, found: ReadColumns, scope: _Scope, expression: Any, *, only_may: bool = False) -> None:
        """Add what an expression reads."""
        stack = [(expression, only_may)]
        while stack:
            node, weak = stack.pop()
            if isinstance(node, list):
                stack.extend((one, weak) for one in node)
            elif isinstance(node, TreeNode):
                if node.tag == "VAR":
                    found.add(self._variable(scope, node), only_may=weak)
                elif node.tag == "SUBLINK":
                    stack.append((node["testexpr"], weak))
                    self._add_sub_query(found, (*scope, node["subselect"]), node.number("subLinkType"), weak)
                elif node.tag == "AGGREF":
                    stack += [(node["aggdirectargs"], weak), (node["aggfilter"], weak)]
                    stack += [(one["expr"], weak or one["resjunk"] == "true") for one in node.listed("args")]
                elif node.tag == "WINDOWFUNC":
                    stack += [(node["args"], weak), (node["aggfilter"], weak)]
                    stack += [(one, True) for one in _window(scope[-1], node.number("winref"))]
                elif node.tag == "GROUPINGFUNC":
                    stack.append((node["args"], True))
                elif node.tag != "QUERY":
                    stack.extend((one, weak) for one in node.children())

    def _add_sub_query(self, found: ReadColumns, scope: _Scope, kind: int, weak: bool) -> None:
        for entry in _outputs(scope[-1]):
            found.add(self.output(scope, entry.number("resno")), only_may=weak or kind == _EXISTS)
        found.may.update(self.rows(scope))

    def _variable(self, scope: _Scope, node: TreeNode) -> ReadColumns:
        scope = scope[: len(scope) - node.number("varlevelsup")]
        items = scope[-1].listed("rtable")
        number = node.number("varno")
        if not 0 < number <= len(items):
            raise NodeTreeError("a variable refers to no item of FROM")
        reads = self._column(scope, items[number - 1], number, node.number("varattno"))
        for left in self._merged_into(scope[-1], number, node.number("varattno")):
            other = self._column(scope, *left)
            either = {reads.alternatives() | other.alternatives()}
            reads = ReadColumns(may=reads.every | other.every, either=either)
        return reads

    def _column(self, scope: _Scope, item: TreeNode, index: int, number: int) -> ReadColumns:
        """Return what a column of an item in FROM reads; number 0 is the whole row."""
        kind = item.number("rtekind")
        reads = ReadColumns()
        if kind == _RELATION:
            oid = item.number("relid")
            numbers = [number] if number else self._columns_of(oid)
            reads.must.update((oid, one) for one in numbers if one > 0)
        elif kind in (_SUBQUERY, _CTE):
            inner = (*scope, item["subquery"]) if kind == _SUBQUERY else self._cte(scope, item)
            if inner is not None:
                numbers = [number] if number else [one.number("resno") for one in _outputs(inner[-1])]
                for one in numbers:
                    reads.add(self.output(inner, one))
        elif kind == _JOIN:
            values = item.listed("joinaliasvars")
            self._add(reads, scope, values[number - 1] if number else values)
            for other in self._merged_with(scope[-1], item, index, number):
                reads.add(self._column(scope, *other), only_may=True)
        elif kind == _GROUP:
            values = item.listed("groupexprs")
            self._add(reads, scope, values[number - 1] if number else values)
        elif kind == _FUNCTION:
            self._add(reads, scope, _function_of(item, number))
        elif kind == _VALUES:
            for row in item.listed("values_lists"):
                self._add(reads, scope, row[number - 1] if number else row)
        elif kind == _TABLE_FUNCTION and not _is_ordinality(item["tablefunc"], number):
            self._add(reads, scope, item["tablefunc"])
        return reads

    def _merged_with(
        self, query: TreeNode, item: TreeNode, index: int, number: int
    ) -> Iterator[tuple[TreeNode, int, int]]:
        """Yield the column of the right side that a column of USING is merged with."""
        if not 0 < number <= item.number("joinmergedcols"):
            return
        join = _join_at(query["jointree"], index)
        right = join["rarg"] if join is not None else None
        columns = item.numbers("joinrightcols")
        if isinstance(right, TreeNode) and number <= len(columns):
            other = right.number("rtindex")
            if other:
                yield query["rtable"][other - 1], other, columns[number - 1]

    def _merged_into(self, query: TreeNode, index: int, number: int) -> Iterator[tuple[TreeNode, int, int]]:
        """Yield the columns of the left sides of inner joins that show this column, of the right side, for both."""
        items = query.listed("rtable")
        for place, item in enumerate(items, 1):
            shown = item.listed("joinaliasvars")[: item.number("joinmergedcols")] if _is_inner_join(item) else ()
            for position, value in enumerate(shown):
                if value.tag != "VAR" or (value.number("varno"), value.number("varattno")) != (index, number):
                    continue
                join = _join_at(query["jointree"], place)
                left = join["larg"] if join is not None else None
                if isinstance(left, TreeNode) and index not in _in_from(left):
                    other = left.number("rtindex")
                    yield items[other - 1], other, item.numbers("joinleftcols")[position]

    def _cte(self, scope: _Scope, item: TreeNode) -> _Scope | None:
        """Return the query of a CTE, with those around it."""
        outer = scope[: len(scope) - item.number("ctelevelsup")]
        for cte in outer[-1].listed("cteList") if outer else ():
            if cte["ctename"] == item["ctename"]:
                return (*outer, cte["ctequery"])
        return None


def _in_from(*parts: Any) -> Iterator[int]:
    """Yield the numbers of the items in parts of FROM, or in branches of a set operation."""
    stack = [*parts]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(node)
        elif isinstance(node, TreeNode):
            if node.tag == "RANGETBLREF":
                yield node.number("rtindex")
            elif node.tag in ("FROMEXPR", "JOINEXPR", "SETOPERATIONSTMT"):
                stack.extend(node[name] for name in ("fromlist", "larg", "rarg"))


def _is_inner_join(item: TreeNode) -> bool:
    return item.number("rtekind") == _JOIN and item.number("jointype") == _INNER


def _outputs(query: TreeNode) -> list[TreeNode]:
    return [entry for entry in query.listed("targetList") if entry["resjunk"] != "true"]


def _window(query: TreeNode, number: int) -> Iterator[Any]:
    """Yield the expressions of PARTITION BY and ORDER BY of a window."""
    for window in query.listed("windowClause"):
        if window.number("winref") == number:
            used = (*window.listed("partitionClause"), *window.listed("orderClause"))
            refs = {one.number("tleSortGroupRef") for one in used}
            yield from (e["expr"] for e in query.listed("targetList") if e.number("ressortgroupref") in refs)


def _function_of(item: TreeNode, number: int) -> Any:
    """Return the function of an item in FROM that has a column; all of them for the whole row and WITH ORDINALITY."""
    functions = item.listed("functions")
    before = 0
    for function in functions:
        before += function.number("funccolcount")
        if 0 < number <= before:
            return function["funcexpr"]
    return functions if not number else None


def _is_ordinality(function: TreeNode, number: int) -> bool:
    """Return whether a column of XMLTABLE or JSON_TABLE is FOR ORDINALITY: a number, made of no value."""
    values = function.listed("colvalexprs")  # of JSON_TABLE
    return number > 0 and (function.number("ordinalitycol") == number - 1 or values[number - 1 : number] == [None])


def _join_at(tree: Any, index: int) -> TreeNode | None:
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(node)
        elif isinstance(node, TreeNode):
            if node.tag == "JOINEXPR" and node.number("rtindex") == index:
                return node
            stack.extend(node[name] for name in ("fromlist", "larg", "rarg"))
    return None


def _functions(tree: TreeNode) -> Iterator[int]:
    stack: list[Any] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(node)
        elif isinstance(node, TreeNode):
            if node.tag in ("FUNCEXPR", "AGGREF", "WINDOWFUNC", "OPEXPR"):
                yield max(node.number(name) for name in ("funcid", "aggfnoid", "winfnoid", "opfuncid"))
            stack.extend(node.children())
