"""The state of resolving one statement: its dialect, its diagnostics, its unresolved names."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable

from sqlglot import exp

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.names import Naming, column_text
from lineage.model.statement import UnresolvedReference
from lineage.sql.resolve.calls.functions import FunctionEffects, pseudo_columns
from lineage.sql.resolve.identifiers import identifiers_of
from lineage.sql.resolve.scopes.alias_visibility import alias_visibility
from lineage.sql.resolve.spans import span_of
from lineage.sql.resolve.structs.value_fields import ValueFields
from lineage.sql.resolve.tables import TableSource

__all__ = ["Resolution"]


class Resolution:
    """One statement's dialect, text and findings, shared by the resolver and the scopes."""

    def __init__(self, naming: Naming, tables: TableSource, functions: FunctionEffects, text: str) -> None:
        self.naming = naming
        self.text = text
        self.identifiers = identifiers_of(naming.dialect)
        self.alias_visibility = alias_visibility(naming.dialect.name)
        self.functions = functions
        self.repeated_name_mark = naming.dialect.repeated_column_mark
        self.pseudo_columns = pseudo_columns(naming.dialect.name)
        self.diagnostics: list[Diagnostic] = []
        self.unresolved: list[UnresolvedReference] = []
        self.unnamed: dict[str, str] = {}
        """The masked names of columns that are named by the text of their expressions, by that text."""
        self.presumed = False
        """Whether a name was resolved to the likeliest of several meanings, which a schema could correct."""
        self.source = tables.shared.source
        self.field = ValueFields(self.source, naming.dialect)
        self._tables = tables
        self._noted: set[Diagnostic | UnresolvedReference] = set()
        self._lasting: set[Diagnostic] = set()

    def seen(self, tables: Collection[str], column: str) -> set[str]:
        """Return which of these tables, whose schema is unknown, have the column by its use in other statements."""
        return self._tables.seen(tables, column_text(column))

    def report(
        self,
        code: DiagnosticCode,
        severity: Severity,
        message: str,
        node: exp.Expr | None = None,
        hint: str | None = None,
        *,
        lasts: bool = False,
    ) -> None:
        """Add a diagnostic; duplicates at the same span are added once.

        `withdraw` does not remove a diagnostic that `lasts`.
        """
        diagnostic = Diagnostic(code, severity, message, span_of(node), hint)
        if lasts:
            self._lasting.add(diagnostic)
        if diagnostic not in self._noted:
            self._noted.add(diagnostic)
            self.diagnostics.append(diagnostic)

    def withdraw(self, code: DiagnosticCode, since: int) -> None:
        """Remove the diagnostics of a code from index `since` on."""
        found = self.diagnostics[since:]
        gone = {each for each in found if each.code is code and each not in self._lasting}
        self._noted.difference_update(gone)
        self.diagnostics[since:] = [each for each in found if each not in gone]

    def unresolved_name(
        self, code: DiagnosticCode, name: str, node: exp.Expr, known: Iterable[str], *, nearest: bool = True
    ) -> None:
        """Record a name that could not be traced, with the known names that it may refer to."""
        candidates = difflib.get_close_matches(name.rpartition(".")[2], list(known)) if nearest else known
        reference = UnresolvedReference(name, code, span_of(node), tuple(dict.fromkeys(candidates)))
        if reference not in self._noted:
            self._noted.add(reference)
            self.unresolved.append(reference)

    def written_text(self, node: exp.Expr) -> str:
        """Return the text of an expression, including closing brackets, in lower case."""
        span = span_of(node)
        if span is None:
            return node.key
        opened = node.sql_name() if isinstance(node, exp.Func) else ""
        written = self.text[span.start : span.end]
        if opened and "(" not in written:
            written = f"{opened}({written}"
        return (written + ")" * (written.count("(") - written.count(")"))).lower()

    def nearest(self, name: str, known: Iterable[str]) -> str | None:
        """Return "did you mean …?" with the nearest known name, quoted where necessary; None if none is near."""
        names = list(known)
        near = [other for other in names if other != name and other.lower() == name.lower()]
        near = near or difflib.get_close_matches(name, names, n=1)
        if not near:
            return None
        written = near[0] if self.naming.dialect.fold_column(near[0]) == near[0] else f'"{near[0]}"'
        return f"did you mean `{written}`?"
