"""The statements of a text with their outlines, resolved against each other as `extract_script` resolves them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lineage.catalog import Catalog
from lineage.garbage_collection import seldom_collecting
from lineage.model.diagnostics import Span
from lineage.sql.extraction import ExtractionOptions
from lineage.sql.outline.outline_reader import read_outline
from lineage.sql.outline.query_outline import OutlinedStatement
from lineage.sql.parse.parsed import ParsedStatement
from lineage.sql.resolve.resolver import Resolver
from lineage.sql.script.kept_statements import KeptStatements
from lineage.sql.script.script import Script

__all__ = ["outline_again", "outline_text"]


def outline_text(
    text: str,
    options: ExtractionOptions,
    catalog: Catalog | None = None,
    name: str = "",
    proceed: Callable[[], None] = lambda: None,
) -> list[OutlinedStatement]:
    """Return the statements of a text in order, each with its lineage and its outline. Invalid SQL raises nothing.

    `name` is the text's path: a single query in it defines the dataset of that name. `proceed` is called for each
    statement; a cancellation that it raises (a BaseException) ends the reading.

    >>> from lineage.sql.extraction import options_for
    >>> [found] = outline_text("WITH c AS (SELECT a + 1 AS b FROM t) SELECT * FROM c", options_for("postgres"))
    >>> [(block.name, [column.name for column in block.columns]) for block in found.blocks]
    [('c', ['b']), (None, ['b'])]
    """
    return outline_again(None, text, options, catalog, name, proceed)[0]


def outline_again(
    before: KeptStatements | None,
    text: str,
    options: ExtractionOptions,
    catalog: Catalog | None = None,
    name: str = "",
    proceed: Callable[[], None] = lambda: None,
) -> tuple[list[OutlinedStatement], KeptStatements]:
    """Return the statements as `outline_text` does, and what to give with the text after a change as `before`."""
    outlines: dict[int, OutlinedStatement] = {}
    kept = KeptStatements(before, outlines, proceed)

    def watch(parsed: ParsedStatement, resolver: Resolver) -> None:
        proceed()
        outlines[parsed.span.start] = read_outline(parsed, resolver)

    with seldom_collecting():
        script = Script({name: text}, replace(options, watch=watch), catalog, kept=kept)
        found = script.resolve()
    whole = Span(0, len(text))
    statements = [
        replace(outlines[span.start], lineage=lineage)
        if (span := lineage.span or whole).start in outlines
        else OutlinedStatement(lineage, span, is_template="{" in text[span.start : span.end])
        for lineage in found
    ]
    return statements, kept
