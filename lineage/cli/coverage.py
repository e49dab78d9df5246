"""How much SQL is resolved, and what would resolve the rest: the columns of tables, or a correction of the SQL."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from lineage.frozen import frozen
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.names import split_name
from lineage.model.statement import Completeness, StatementLineage

__all__ = ["Coverage", "Need", "NeedCount", "NeedKind"]


class NeedKind(StrEnum):
    """What kind of help resolves a statement."""

    COLUMNS = "columns"
    """The columns of a table."""
    FINDING = "finding"
    """An answer to a diagnostic."""


@frozen
class Need:
    """What a statement lacks: the columns of the table `name`, or what a diagnostic (`code`) says, without names."""

    kind: NeedKind
    name: str
    code: str = ""

    def __str__(self) -> str:
        if self.kind is NeedKind.COLUMNS:
            return f"the columns of {self.name}"
        return f"{self.code}: {self.name}" if self.code else self.name

    @property
    def subject(self) -> str:
        """What `help` is about: columns, or the diagnostic's code."""
        return self.code or str(self.kind)

    @property
    def help(self) -> str:
        """What to do about it."""
        if self.kind is NeedKind.COLUMNS:
            return "give the table's DDL or JSON schema with --catalog, or a store that has it with --store"
        return _HELP.get(self.code, "see the page on diagnostics in the documentation")


@frozen
class NeedCount:
    """A need, the number of statements that have it, the first of them, and how far it leads.

    `share` is the share of all statements (0 to 1) that are full once this need and those before it are met.
    """

    need: Need
    statements: int
    share: float
    first: str


_HELP = {
    "PARSE_ERROR": "check --dialect; compile templates before; or correct the SQL",
    "NOT_SQL": "leave out files that are not SQL; check --dialect",
    "TRUNCATED_TEXT": "raise the maximum length of a logged query in the source",
    "UNSUPPORTED_SYNTAX": "write it in a form that names its tables and columns",
    "UNSUPPORTED_STATEMENT": "add a rule for the statement: see the page on SQL, under Your own rules",
    "DYNAMIC_SQL": "use constant SQL, or ingest the query log, which has what was run",
    "NESTING_TOO_DEEP": "raise it: --budget nesting=NUMBER",
    "STATEMENT_TOO_LARGE": "raise it: --budget characters=NUMBER",
    "TIME_EXCEEDED": "raise it: --budget seconds=NUMBER",
    "RESULT_TOO_LARGE": "raise it: --budget edges=NUMBER",
    "UNKNOWN_TABLE": "correct the alias, or give --default-schema, --default-database or a catalog",
    "UNKNOWN_COLUMN": "bring the schemas in the catalog up to date, or correct the name",
    "AMBIGUOUS_COLUMN": "write the table's alias before the column",
    "UNRESOLVED_STAR": "list the columns instead of the star",
    "COLUMN_COUNT_MISMATCH": "bring the schemas in the catalog up to date",
    "CYCLIC_DEFINITION": "break the cycle, or give the columns with --catalog",
    "INTERNAL_ERROR": "please report it with the statement, its names and literals replaced",
}
_OF_COLUMNS = frozenset({DiagnosticCode.UNRESOLVED_STAR, DiagnosticCode.AMBIGUOUS_COLUMN})
_IN_BACKTICKS = re.compile(r"`[^`]*`")
_NUMBERS = re.compile(r"\b\d+\b")


@dataclass(slots=True)
class Coverage:
    """Counts of statements by completeness, and what those that are not full need."""

    statements: Counter[Completeness] = field(default_factory=Counter)
    _groups: Counter[frozenset[Need]] = field(default_factory=Counter)
    _first: dict[Need, str] = field(default_factory=dict)

    def add(self, statements: Sequence[StatementLineage], name: str = "") -> None:
        """Count statements that were resolved together; `name` is the name of their text, unless they have one."""
        made = _open_tables(statements)
        for statement in statements:
            self.statements[statement.completeness] += 1
            if statement.completeness is Completeness.FULL:
                continue
            needs = dict(_needs(statement, made))
            self._groups[frozenset(needs)] += 1
            for need, line in needs.items():
                source = statement.source or name
                self._first.setdefault(need, ":".join(map(str, filter(None, (source, line)))))

    def needs(self) -> Iterator[NeedCount]:
        """Yield the needs, in the order in which meeting them helps: always next what completes most statements.

        If no single need completes a statement, the next is the one that most statements have.
        """
        groups, total = dict(self._groups), self.statements.total()
        having: dict[Need, set[frozenset[Need]]] = defaultdict(set)
        for group in groups:
            for need in group:
                having[need].add(group)
        counts = {need: sum(groups[group] for group in found) for need, found in having.items()}
        left = {group: len(group) for group in groups}
        full = self.statements[Completeness.FULL]
        completed: Counter[Need] = Counter()
        for group, size in groups.items():
            if len(group) == 1:
                completed[next(iter(group))] += size
        remaining = set(counts)
        while remaining:
            best = min(remaining, key=lambda need: (-completed[need], -counts[need], need.code, need.name))
            remaining.discard(best)
            for group in having[best]:
                left[group] -= 1
                if not left[group]:
                    full += groups[group]
                elif left[group] == 1:
                    completed[next(need for need in group if need in remaining)] += groups[group]
            yield NeedCount(best, counts[best], full / total, self._first[best])


def _open_tables(statements: Sequence[StatementLineage]) -> dict[str, tuple[str, ...]]:
    """Return, for each target of a star over unknown columns, the tables behind the star."""
    found: dict[str, tuple[str, ...]] = {}
    for statement in statements:
        if statement.target is not None:
            behind = [t for u in statement.unresolved if u.code is DiagnosticCode.UNRESOLVED_STAR for t in u.candidates]
            if behind:
                found[statement.target] = (*found.get(statement.target, ()), *behind)
    return found


def _needs(statement: StatementLineage, made: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[Need, int | None]]:
    """Yield what a statement needs, with the line in its text."""
    findings = [each for each in statement.diagnostics if each.severity is not Severity.INFO]
    for finding in findings:
        line = finding.span.line if finding.span is not None else None
        if finding.code is DiagnosticCode.TARGET_COLUMNS_UNKNOWN:
            named = [target for target in statement.targets if target in finding.message]
            for target in named or statement.targets[:1]:
                yield Need(NeedKind.COLUMNS, target), line
            continue
        tables = _tables_of(statement, finding)
        for table in _behind(tables, made):
            yield Need(NeedKind.COLUMNS, table), line
        if not tables:
            yield Need(NeedKind.FINDING, _without_names(finding.message, statement), str(finding.code)), line
    if not findings:
        code, is_code, message = (statement.reason or "").partition(": ")
        line = statement.span.line if statement.span is not None else None
        name, code = (message, code) if is_code else (code, "")
        yield Need(NeedKind.FINDING, _without_names(name, statement), code), line


def _tables_of(statement: StatementLineage, finding: Diagnostic) -> list[str]:
    """Return the tables whose columns a finding lacks."""
    if finding.code not in _OF_COLUMNS or "--catalog" not in (finding.hint or ""):
        return []
    of_star = finding.code is DiagnosticCode.UNRESOLVED_STAR
    return [
        candidate if of_star else ".".join(_quoted(part) for part in split_name(candidate)[:-1])
        for reference in statement.unresolved
        if reference.code is finding.code and reference.span == finding.span
        for candidate in reference.candidates
    ]


def _behind(tables: Collection[str], made: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return the tables, those that other statements make from a star replaced by what the star reads."""
    found: dict[str, None] = {}
    seen, left = set(tables), list(tables)
    while left:
        table = left.pop()
        behind = [one for one in made.get(table, ()) if one not in seen]
        seen.update(behind)
        left += behind
        if table not in made:
            found[table] = None
    return list(found) or list(tables)


def _quoted(part: tuple[str, bool]) -> str:
    name, is_quoted = part
    return f'"{name}"' if is_quoted else name


def _without_names(message: str, statement: StatementLineage) -> str:
    """Return a message without names and numbers, so that similar findings count together."""
    message = _IN_BACKTICKS.sub("`…`", message)
    for name in sorted((*statement.sources, *statement.targets), key=len, reverse=True):
        message = message.replace(name, "…")
    return _NUMBERS.sub("…", message)
