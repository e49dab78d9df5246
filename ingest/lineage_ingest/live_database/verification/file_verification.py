"""Compare the lineage of SQL files with PostgreSQL's own analysis of what they define."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from lineage.catalog import Catalog
from lineage.catalog.database.address import DatabaseAddress
from lineage.catalog.database.errors import DatabaseAddressError
from lineage.catalog.database.postgres_session import postgres_session
from lineage.model.statement import StatementLineage
from lineage_ingest.live_database.verification.definition_trial import try_definitions
from lineage_ingest.live_database.verification.view_comparison import (
    VerificationReport,
    ViewVerdict,
    revised_statement,
)

__all__ = ["FileVerification"]


class FileVerification:
    """Verifies definitions in one PostgreSQL database, in a transaction that is rolled back."""

    def __init__(self, address: DatabaseAddress) -> None:
        """Verify in the database at this address.

        Raises:
            DatabaseAddressError: it is no PostgreSQL's.
        """
        if not address.is_postgres:
            hint = "an example: --connect postgresql://user@host:5432/database"
            raise DatabaseAddressError(f"{address}: only PostgreSQL can verify", hint)
        self._address = address

    def verify(
        self,
        texts: Mapping[str, str],
        statements: Sequence[StatementLineage],
        catalog: Catalog,
        progress: Callable[[int, int], None],
    ) -> tuple[list[StatementLineage], VerificationReport]:
        """Return the statements, those that differ with a diagnostic, and what was compared.

        Tables of the catalog's files, which may not be in the database, are created empty.

        Raises:
            DatabaseError: there is no connection, or it is lost.
        """
        read = {name for statement in statements for name in statement.sources}
        tables = [table for table in catalog.given if table.name in read]
        with postgres_session(self._address, read_only=False) as session:
            report, compared = try_definitions(session, texts, statements, tables, catalog.dialect, progress)
        different = {id(statement): view for statement, view in compared if view.verdict is ViewVerdict.DIFFERENT}
        revised = [revised_statement(different[id(one)], one) if id(one) in different else one for one in statements]
        return revised, report
