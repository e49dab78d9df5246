"""The SQL that defines one table: one query, or a text that can only be compared as a whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from lineage.frozen import frozen
from lineage.model.dialect import Dialect
from lineage.model.names import Naming
from lineage.sql.canonical.canonical_query import canonical_query, tokens_digest
from lineage.sql.canonical.forms.digests import digest
from lineage.sql.canonical.forms.table_form import TableForm, base_table, opaque_table
from lineage.sql.parse.parsed import ParsedStatement
from lineage.sql.parse.statements import parse_statements
from lineage.sql.resolve.identifiers import identifiers_of

__all__ = ["CanonicalSql", "read_sql", "tables_of"]


@frozen
class CanonicalSql:
    """The parsed SQL of a definition; `text` is the digest of its tokens."""

    statements: tuple[ParsedStatement, ...]
    text: str

    def canonical(
        self,
        naming: Naming,
        lookup: Callable[[str], TableForm | None],
        reads: Sequence[str],
        functions: frozenset[str] = frozenset(),
    ) -> TableForm:
        """Return what the SQL defines.

        `reads` are tables that it is known to read, for SQL that does not parse; `functions` are the user's own whose
        value depends on their arguments alone.
        """
        if len(self.statements) == 1:
            return canonical_query(self.statements[0], naming, lookup, reads, functions)
        names = sorted({*reads, *tables_of(self, naming)})
        contents = [(name, (lookup(name) or base_table(name)).content) for name in names]
        return opaque_table(digest("statements", self.text, contents))


def read_sql(text: str, dialect: Dialect) -> CanonicalSql:
    """Return the parsed SQL of a definition."""
    statements = tuple(parse_statements(text, dialect))
    return CanonicalSql(statements, digest("tokens", [tokens_digest(one) for one in statements]))


def tables_of(sql: CanonicalSql, naming: Naming) -> list[str]:
    """Return the full names of all tables that the SQL names; a CTE counts as a table."""
    identifiers = identifiers_of(naming.dialect)
    found: dict[str, None] = {}
    for statement in sql.statements:
        for table in statement.tree.find_all(exp.Table) if statement.tree is not None else ():
            if isinstance(table, exp.Table) and (parts := identifiers.table_parts(table)):
                found[str(naming.qualify(parts))] = None
    return list(found)
