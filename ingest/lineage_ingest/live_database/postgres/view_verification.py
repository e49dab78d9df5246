"""Compare our lineage of a database's views with the parse trees that it keeps of them. Nothing is executed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lineage.catalog.database.postgres_session import PostgresRejectionError, PostgresSession
from lineage.model.statement import Completeness, StatementLineage
from lineage_ingest.live_database.objects import LiveDatabase
from lineage_ingest.live_database.stated_text import StatedText
from lineage_ingest.live_database.verification.node_tree import NodeTreeError, parse_node_tree
from lineage_ingest.live_database.verification.query_analysis import analyse_query
from lineage_ingest.live_database.verification.view_comparison import (
    ComparedView,
    KnownRelations,
    VerificationReport,
    ViewVerdict,
    compare,
    revised_statement,
)

__all__ = ["known_relations", "read_tree", "verify_views"]

_TREE = """
SELECT ev_action::text FROM pg_catalog.pg_rewrite WHERE ev_class = %s AND rulename = '_RETURN'
"""


def known_relations(database: LiveDatabase) -> KnownRelations:
    """Return the names of all relations of a database."""
    return KnownRelations(
        {
            one.oid: (database.full_name(one), {column.number: column.name for column in one.columns})
            for one in (*database.relations, *database.outside)
        }
    )


def read_tree(session: PostgresSession, oid: int) -> str | None:
    """Return the parse tree of a view; None if it has none.

    Raises:
        PostgresRejectionError: it may not be read.
    """
    rows = session.rows(_TREE, (oid,))
    return str(rows[0][0]) if rows else None


def verify_views(
    session: PostgresSession,
    database: LiveDatabase,
    statements: list[tuple[StatedText, StatementLineage]],
    progress: Callable[[int, int], None],
) -> tuple[VerificationReport, Iterator[tuple[StatementLineage, StatementLineage]]]:
    """Return what the comparison of each view has found, and the statements that differ, each with its replacement."""
    known = known_relations(database)
    followed = {function.oid for function in database.functions}
    views = [(text, one) for text, one in statements if text.is_view]
    compared: list[ComparedView] = []
    revised: list[tuple[StatementLineage, StatementLineage]] = []
    for number, (text, statement) in enumerate(views):
        view = _verify(session, text, statement, known, followed)
        compared.append(view)
        if view.verdict is ViewVerdict.DIFFERENT:
            revised.append((statement, revised_statement(view, statement)))
        progress(number + 1, len(views))
    return VerificationReport(tuple(compared)), iter(revised)


def _verify(
    session: PostgresSession,
    text: StatedText,
    statement: StatementLineage,
    known: KnownRelations,
    followed: set[int],
) -> ComparedView:
    assert text.relation is not None
    if not statement.defines or statement.completeness in (Completeness.TABLES, Completeness.NONE):
        return ComparedView(text.source, ViewVerdict.NOT_COMPARED, reason="its columns are not known here")
    try:
        tree = read_tree(session, text.relation.oid)
        if tree is None:
            return ComparedView(text.source, ViewVerdict.NOT_COMPARED, reason="the database has no parse tree of it")
        analysis = analyse_query(parse_node_tree(tree), known.columns_of)
    except (PostgresRejectionError, NodeTreeError) as error:
        return ComparedView(text.source, ViewVerdict.NOT_COMPARED, reason=str(error))
    return compare(text.source, statement, analysis, known, followed)
