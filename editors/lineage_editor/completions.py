"""Completion of tables and columns from the query's scope and the catalog."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from lineage.catalog import Catalog
from lineage.catalog.table import TableSchema
from lineage.model.diagnostics import Span
from lineage.model.names import split_name
from lineage.sql.extraction import ExtractionOptions
from lineage.sql.outline.outlined_text import outline_text
from lineage.sql.outline.query_outline import BlockItem, OutlinedStatement
from lineage.sql.scan import mask_literals, split_statements
from lineage_editor.analysis import DocumentAnalysis
from lineage_editor.graph_answers import GraphAnswers

__all__ = ["CompletionList", "Suggestion", "complete"]

_MARK = "lineage_cursor_"
_TYPED = re.compile(r'(?:[\w$]+|"[^"\n]*"|`[^`\n]*`)?(?:\.(?:[\w$]+|"[^"\n]*"|`[^`\n]*`)?)*\Z')
_WORDS = re.compile(r"[\w$]+|[(),;]")
_BEFORE_TABLES = frozenset(("from", "join", "into", "update", "table", "view", "using"))
_CLAUSES = frozenset(
    [
        "select",
        "from",
        "where",
        "on",
        "having",
        "by",
        "set",
        "values",
        "join",
        "into",
        "update",
        "using",
        "qualify",
        "and",
        "or",
        "when",
        "then",
        "else",
        "returning",
    ]
)
_PLAIN = re.compile(r"[A-Za-z_][\w$]*\Z")
_MAX_TABLES = 100


@dataclass(frozen=True)
class Suggestion:
    """A name to insert, what it is (`column`, `table`, `query` or `alias`), and more about it."""

    label: str
    kind: str
    detail: str = ""
    text: str | None = None


@dataclass(frozen=True)
class CompletionList:
    """The suggestions for a range of the text; `incomplete` if more would match what is typed next."""

    span: Span
    items: tuple[Suggestion, ...] = ()
    incomplete: bool = False


def complete(
    text: str,
    offset: int,
    options: ExtractionOptions,
    graph: GraphAnswers | None,
    schemas: Callable[[frozenset[str]], Catalog],
    last: DocumentAnalysis | None = None,
) -> CompletionList:
    """Return the names that may stand at an offset.

    `schemas` returns those of the document's tables and of others. `last` is the latest analysis of the document, which
    may be outdated.
    """
    typed_match = _TYPED.search(text, 0, offset)
    typed = typed_match.group() if typed_match is not None else ""
    qualifier, _, word = typed.rpartition(".")
    span = Span(offset - len(word), offset)
    start, end = _statement_around(text, offset, options)
    before = mask_literals(text[start:offset], options.naming.dialect)
    if _is_in_literal(text[start:offset], before):
        return CompletionList(span)
    marked = _marked(text, start, end, span)
    if _wants_table(before[: len(before) - len(typed)]):
        return _tables(span, qualifier, word, graph, last, _ctes(marked, options))
    catalog = schemas(frozenset())
    outlined = _outline(marked, options, catalog, last)
    new = frozenset(name for one in outlined for name in one.lineage.sources if name not in catalog)
    new |= frozenset(name for one in outlined for name in one.lineage.targets if name not in catalog)
    if new and len(more := schemas(new)) > len(catalog):
        catalog, outlined = more, _outline(marked, options, more, last)
    items = _items_at(outlined, offset - start) or _mentioned_items(outlined, catalog)
    if not items and last is not None:
        items = _items_of_last(last, offset)
    return CompletionList(span, tuple(_columns(items, qualifier, catalog, options)))


def _statement_around(text: str, offset: int, options: ExtractionOptions) -> tuple[int, int]:
    found = (0, len(text))
    for start, end in split_statements(text, options.naming.dialect):
        if start <= offset:
            found = (start, max(end, offset))
    return found


def _is_in_literal(text: str, masked: str) -> bool:
    """Return whether the end of a text is in a string or comment, which the mask has blanked."""
    line = text[text.rfind("\n") + 1 :]
    shown = masked[len(masked) - len(line) :]
    last = len(line.rstrip()) - 1
    return last >= 0 and line[last] != shown[last] and not line[last].isdigit() and line[last] not in "'\""


def _wants_table(before: str) -> bool:
    """Return whether a table's name follows: after FROM, JOIN and so on, also after a comma in FROM."""
    words = [word.lower() for word in _WORDS.findall(before)]
    if not words:
        return False
    if words[-1] in _BEFORE_TABLES:
        return True
    if words[-1] != ",":
        return False
    depth = 0
    for word in reversed(words):
        depth += (word == ")") - (word == "(")
        if depth < 0:
            return False
        if depth == 0 and word in _CLAUSES:
            return word in ("from", "join")
    return False


def _marked(text: str, start: int, end: int, span: Span) -> str:
    """Return the statement with a name in place of what is typed at the cursor."""
    rest = re.match(r"[\w$]*", text[span.end : end])
    return f"{text[start : span.start]}{_MARK}{text[span.end + (rest.end() if rest else 0) : end]}"


def _outline(
    statement: str, options: ExtractionOptions, catalog: Catalog, last: DocumentAnalysis | None
) -> list[OutlinedStatement]:
    made = [] if last is None else [
        TableSchema(one.lineage.target, one.lineage.schema)
        for one in last.statements
        if one.lineage.target is not None and one.lineage.schema
    ]  # fmt: skip
    return outline_text(statement, options, catalog.with_tables(made) if made else catalog)


def _items_at(outlined: Iterable[OutlinedStatement], offset: int) -> list[BlockItem]:
    """Return what is visible at the cursor: in its block, then in those around it."""
    for statement in outlined:
        number = next(
            (
                block
                for block, one in enumerate(statement.blocks)
                if any(reading.block == block and _is_mark(reading.span, offset) for reading in statement.readings)
                or any(column.name == _MARK for column in one.columns)
            ),
            None,
        )
        if number is None:
            around = [(block.span.end - block.span.start, n) for n, block in enumerate(statement.blocks)
                      if block.span.start <= offset <= block.span.end + len(_MARK)]  # fmt: skip
            number = min(around)[1] if around else None
        items: list[BlockItem] = []
        while number is not None:
            block = statement.blocks[number]
            items += block.items
            number = block.outer if block.name is None else None  # a CTE does not see what is around it
        if items:
            return items
    return []


def _is_mark(span: Span, offset: int) -> bool:
    return span.start <= offset <= span.end and span.end - span.start >= len(_MARK)


def _items_of_last(last: DocumentAnalysis, offset: int) -> list[BlockItem]:
    """Return what was visible in the statement when it could last be read."""
    number = last.statement_at(offset)
    blocks = last.statements[number].blocks if number is not None else ()
    around = sorted(
        (one for one in blocks if one.span.start <= offset <= one.span.end + 1),
        key=lambda one: one.span.end - one.span.start,
    )
    return [item for block in around[:1] or blocks for item in block.items]


def _mentioned_items(outlined: Iterable[OutlinedStatement], catalog: Catalog) -> list[BlockItem]:
    """Return the tables that a statement without query blocks names: of UPDATE, DELETE and MERGE."""
    found: dict[str, BlockItem] = {}
    for statement in outlined:
        for name in dict.fromkeys((*statement.lineage.targets, *statement.lineage.sources)):
            schema = catalog.find(name)
            if schema is not None:
                alias = split_name(name)[-1][0]
                found[name] = BlockItem(alias, name, tuple(schema.names), is_open=False)
    return list(found.values())


def _columns(
    items: list[BlockItem], qualifier: str, catalog: Catalog, options: ExtractionOptions
) -> Iterator[Suggestion]:
    fold = options.naming.dialect.fold_column
    alias = str(fold(qualifier.rpartition(".")[2].strip('"`'))) if qualifier else None
    chosen = [item for item in items if alias is None or item.alias == alias]
    counts: dict[str, int] = {}
    for item in chosen:
        for name in item.columns:
            counts[name] = counts.get(name, 0) + 1
    seen: set[tuple[str, str]] = set()
    for item in chosen:
        types = _types(item, catalog)
        for name in item.columns:
            if name == _MARK or (item.alias, name) in seen:
                continue
            seen.add((item.alias, name))
            written = _quoted(name, options)
            text = f"{item.alias}.{written}" if alias is None and counts[name] > 1 else written
            detail = " · ".join(part for part in (item.table or item.alias, types.get(name)) if part)
            yield Suggestion(text, "column", detail, text)
    if alias is None:
        for item in chosen:
            yield Suggestion(item.alias, "alias", item.table or "query", _quoted(item.alias, options))


def _types(item: BlockItem, catalog: Catalog) -> dict[str, str]:
    schema = catalog.find(item.table) if item.table is not None else None
    return {one.name: one.data_type for one in schema.columns if one.data_type} if schema is not None else {}


def _quoted(name: str, options: ExtractionOptions) -> str:
    dialect = options.naming.dialect
    if _PLAIN.match(name) and dialect.fold_column(name) == name:
        return name
    mark = "`" if dialect.name in ("bigquery", "databricks", "hive", "mysql", "spark") else '"'
    return f"{mark}{name.replace(mark, mark * 2)}{mark}"


def _ctes(marked: str, options: ExtractionOptions) -> list[str]:
    found = outline_text(marked, options)
    return list(dict.fromkeys(name for one in found for block in one.blocks for name in block.ctes if name != _MARK))


def _tables(
    span: Span, qualifier: str, word: str, graph: GraphAnswers | None, last: DocumentAnalysis | None, ctes: list[str]
) -> CompletionList:
    suggestions: dict[str, Suggestion] = {}
    if not qualifier:
        suggestions.update((name, Suggestion(name, "query", "CTE")) for name in ctes)
    names = [name for one in (last.statements if last is not None else ()) for name in one.lineage.targets]
    stored = graph.tables_like(f"{qualifier}.{word}" if qualifier else word, _MAX_TABLES) if graph is not None else []
    for name, detail in [*((name, "this file") for name in names), *((name, "table") for name in stored)]:
        inner = _below(name, qualifier)
        if inner is not None and word.casefold() in inner.casefold():
            suggestions.setdefault(inner, Suggestion(inner, "table", detail))
    return CompletionList(span, tuple(suggestions.values()), incomplete=len(stored) >= _MAX_TABLES)


def _below(name: str, qualifier: str) -> str | None:
    """Return what follows a qualifier in a table's full name: `orders` of `db.shop.orders` after `shop`."""
    if not qualifier:
        return name
    for start, part in enumerate(_beginnings(name)):
        if part.casefold() == qualifier.casefold() and start >= 0:
            return name[name.casefold().index(part.casefold()) + len(part) + 1 :]
    return None


def _beginnings(name: str) -> Iterator[str]:
    """Yield the qualifiers within a name: `db`, `db.shop` and `shop` of `db.shop.orders`."""
    parts = name.split(".")
    for start in range(len(parts) - 1):
        for end in range(start + 1, len(parts)):
            yield ".".join(parts[start:end])
