"""The texts of a script: their parts, parsed on demand, and the tables that they may define."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.names import Naming
from lineage.model.statement import StatementLineage
from lineage.sql.extraction import ExtractionOptions
from lineage.sql.parse.parsed import ParsedStatement
from lineage.sql.parse.statements import parse_statements
from lineage.sql.parse.trees import take_apart
from lineage.sql.procedural import Variables
from lineage.sql.resolve.tables import TableEntry
from lineage.sql.script.definitions import Definition, is_bare_query, named_after_text
from lineage.sql.script.session import SessionNaming, naming_after
from lineage.sql.script.table_walk import TableWalk
from lineage.sql.script.temporary_ends import temporary_ends
from lineage.sql.script.transactions import may_not_run, statements_rolled_back

__all__ = ["ScriptPart", "Text", "definers", "last_part", "tied_by_changes"]

# Names that a text may define: a cheap check that decides only which texts are parsed early.
_DEFINES = re.compile(
    r"\b(?:table|view|into|to)\s+(?:if\s+(?:not\s+)?exists\s+)?(?:only\s+)?((?:[\w$#*]+|\"[^\"]+\"|`[^`]+`|\[[^\]]+\])"
    r"(?:\s*\.\s*(?:[\w$#*]+|\"[^\"]+\"|`[^`]+`|\[[^\]]+\]))*)",
    re.IGNORECASE,
)

# Tables that a text drops, replaces or renames: such texts are followed together.
_NAME = r"(?:[\w$#*]+|\"[^\"]+\"|`[^`]+`|\[[^\]]+\])(?:\s*\.\s*(?:[\w$#*]+|\"[^\"]+\"|`[^`]+`|\[[^\]]+\]))*"
_CHANGES = re.compile(
    r"\b(?:drop\s+(?:materialized\s+)?(?:table|view)|or\s+(?:replace|alter)\s+(?:\w+\s+){0,3}?(?:table|view)"
    r"|alter\s+table|rename\s+(?:table|to))\s+(?:if\s+(?:not\s+)?exists\s+)?(?:only\s+)?"
    rf"({_NAME}(?:\s*,\s*{_NAME})*)",
    re.IGNORECASE,
)

# T-SQL's rename of a table or column, whose names are strings.
_RENAMES = re.compile(r"\bsp_rename\b[^;']*'((?:[^']|'')+)'[^;']*'((?:[^']|'')+)'", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ScriptPart:
    """A part of a text that was executed separately, such as one row of a session in a query log.

    `name` is the `source` of its statements; their spans refer to the part's own text. `naming` qualifies its names
    (None: as after the previous part). `target` is the dataset that the result of its only statement is written to, if
    that is a bare query. If the text is truncated, its last statement is traced by its keywords.
    """

    text: str
    name: str = ""
    naming: Naming | None = None
    target: str | None = None
    truncated: bool = False

    def parsed(self, options: ExtractionOptions) -> list[ParsedStatement]:
        """Return its statements."""
        statements = list(parse_statements(self.text, options.naming.dialect, options.budget))
        if self.truncated and statements:
            last = statements[-1]
            problem = Diagnostic(
                DiagnosticCode.TRUNCATED_TEXT,
                Severity.WARNING,
                "the log truncated this statement: only the tables that the remaining text names are traced",
                last.span,
                "raise the maximum length of a logged query in the source, if it can be configured",
            )
            statements[-1] = replace(last, tree=None, problem=problem)
        return statements


class Text:
    """One text of a script: parsed on demand; its trees are freed when all its statements are resolved."""

    def __init__(
        self,
        name: str,
        parts: Sequence[ScriptPart],
        options: ExtractionOptions,
        index: int = 0,
        entry_of: Callable[[str, Naming], TableEntry] = lambda name, _: TableEntry(name),
        *,
        alone: bool = True,
    ) -> None:
        """Create a text of parts; unless they ran `alone`, statements of others may have run between two parts."""
        self.name = name
        self._alone = alone
        self.index = index
        self.parts = parts
        self._options = options
        self._entry_of = entry_of
        self._parsed: list[ParsedStatement] | None = None
        self.results: list[StatementLineage | None] = []
        self.definitions: list[tuple[Definition, ...]] | None = None
        self.namings: list[Naming] = []
        """How each statement's names are qualified, after the session's earlier USE and SET."""
        self.undone: frozenset[int] = frozenset()
        """The statements that a ROLLBACK undoes."""
        self.variables: Variables | None = None
        """The variables of its programs, if it has any."""
        self.part_of: list[ScriptPart] = []
        """The part that each statement is in."""
        self.query_targets: dict[int, str] = {}
        """By statement, the dataset to which the result of a bare query is written."""

    def parsed(self) -> list[ParsedStatement]:
        """Return its statements; they are parsed again if their trees were freed."""
        found = self._trees()
        if self.definitions is None:
            walk = TableWalk(self._entry_of)
            self.walk(walk)
            self.define(walk.result().get(self.index, []))
        return found

    def _trees(self) -> list[ParsedStatement]:
        if self._parsed is None:
            by_part = [(part, part.parsed(self._options)) for part in self.parts]
            self._parsed = [statement for _, statements in by_part for statement in statements]
            if self.definitions is None:
                self.results = [None] * len(self._parsed)
                self._note_parts(by_part)
        return self._parsed

    def _note_parts(self, by_part: Iterable[tuple[ScriptPart, list[ParsedStatement]]]) -> None:
        """Record the target and the naming of each statement from its part."""
        session = SessionNaming(self._options.naming)
        for part, statements in by_part:
            if part.naming is not None:
                session = SessionNaming(part.naming)
            if part.target is not None and len(statements) == 1:
                self.query_targets[len(self.part_of)] = part.target
            for parsed in statements:
                self.part_of.append(part)
                self.namings.append(session.naming)
                session.read(parsed.tree, parsed.tokens)

    def walk(self, walk: TableWalk) -> None:
        """Add this text to a walk over the tables of several texts; `define` then takes the walk's result."""
        statements = self._trees()
        self.undone = statements_rolled_back(statements, self._options.naming.dialect)
        trees = [None if number in self.undone else parsed.tree for number, parsed in enumerate(statements)]
        uncertain = {number for number, parsed in enumerate(statements) if may_not_run(parsed)}
        places = {id(part): number for number, part in enumerate(self.parts)}
        pieces = None if self._alone else [places[id(part)] for part in self.part_of]
        self.namings = walk.read(self.index, trees, self.namings, uncertain, pieces, temporary_ends(statements))

    def define(self, definitions: list[tuple[Definition, ...]]) -> None:
        """Set what each statement defines."""
        statements = self._trees()
        if any(p.step is not None for p in statements):
            self.variables = Variables(p.step for p in statements)
        elif len(statements) == 1 and self.name and not self.query_targets:
            naming = naming_after(self.namings[0], statements[0].tree)
            target = named_after_text(self.name, statements[0].tree, naming)
            if target is not None:
                self.query_targets[0] = target
        bare = (number for number, p in enumerate(statements) if is_bare_query(p.tree))
        self.query_targets = {n: self.query_targets[n] for n in bare if n in self.query_targets}
        for number, target in self.query_targets.items():
            definitions[number] = (Definition(target),)
        self.definitions = definitions

    def release(self) -> None:
        """Free the syntax trees; they are parsed again on demand."""
        for parsed in self._parsed or ():
            if parsed.tree is not None:
                take_apart(parsed.tree)
        self._parsed = None


def definers(texts: Sequence[Text]) -> dict[str, list[int]]:
    """Return the texts that may define each name, by the name's last part without case."""
    found: dict[str, dict[int, None]] = defaultdict(dict)
    for index, text in enumerate(texts):
        if text.name:
            found[PurePath(text.name).stem.lower()][index] = None
        for part in text.parts:
            for match in _DEFINES.finditer(part.text):
                found[last_part(match.group(1))][index] = None
            for match in _RENAMES.finditer(part.text):
                old, new = match.groups()
                for name in (old, old.rpartition(".")[0], new):
                    found[last_part(name)][index] = None
            if part.target is not None:
                found[last_part(part.target)][index] = None
    return {name: list(indexes) for name, indexes in found.items()}


def tied_by_changes(texts: Sequence[Text], candidates: Mapping[str, Sequence[int]]) -> list[int]:
    """Return, in order, the texts connected by a table that one drops, replaces or renames and another one names.

    The meaning of a table's name in one of them depends on the others.
    """
    changed: dict[str, set[int]] = defaultdict(set)
    for index, text in enumerate(texts):
        for part in text.parts:
            for match in _CHANGES.finditer(part.text):
                for name in match.group(1).split(","):
                    changed[last_part(name)].add(index)
    names = {name for name, own in changed.items() if name and len(own.union(candidates.get(name, ()))) > 1}
    if not names:
        return []
    word = re.compile(rf"(?<![\w$#])(?:{'|'.join(map(re.escape, sorted(names)))})(?![\w$#])", re.IGNORECASE)
    return [i for i, text in enumerate(texts) if any(word.search(part.text) for part in text.parts)]


def last_part(name: str) -> str:
    """Return the last part of a dotted name, without its quotes and in lower case."""
    return name.rpartition(".")[2].strip(' \t\r\n"`[]').lower()
