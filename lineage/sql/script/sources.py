"""The texts of a script: their parts, parsed on demand, and the tables that they may define."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import PurePath

from lineage.frozen import frozen
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.names import Naming
from lineage.model.statement import StatementLineage
from lineage.sql.extraction import ExtractionOptions
from lineage.sql.parse.parsed import ParsedStatement
from lineage.sql.parse.statements import parse_statements
from lineage.sql.parse.table_level import trace_tokens
from lineage.sql.parse.trees import take_apart
from lineage.sql.procedural import ProgramStep, Variables
from lineage.sql.resolve.tables import TableEntry
from lineage.sql.script.definitions import Definition, is_bare_query, named_after_text
from lineage.sql.script.mentioned_names import changed_names, defined_names, moves_tables, name_parts
from lineage.sql.script.resolutions import TextResolution
from lineage.sql.script.sessions.session import SessionNaming, naming_after
from lineage.sql.script.sessions.table_walk import TableWalk
from lineage.sql.script.sessions.temporary_ends import temporary_ends
from lineage.sql.script.sessions.transactions import RolledBack, left_open, may_not_run, statements_rolled_back

__all__ = ["Definers", "ScriptPart", "Text", "last_part", "tied_by_changes"]


@frozen
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
        is_model: bool = True,
    ) -> None:
        """Create a text of parts; unless they ran `alone`, statements of others may have run between two parts.

        The single query of a model writes the dataset that is called like the text.
        """
        self.name = name
        self._alone = alone
        self._own_name = PurePath(name).stem if is_model else ""
        self.index = index
        self.parts = parts
        self._options = options
        self._entry_of = entry_of
        self.searched: dict[tuple[str, Naming], tuple[bool, bool]] = {}
        """The catalog's tables that were looked for to find its definitions, on a search path: whether it has them, and
        whether from an earlier ingest."""
        self._parsed: list[ParsedStatement] | None = None
        self._noted = False
        self.results: list[StatementLineage | None] = []
        self.definitions: list[tuple[Definition, ...]] | None = None
        self.namings: list[Naming] = []
        """How each statement's names are qualified, after the session's earlier USE and SET."""
        self.rolled_back = RolledBack()
        """The statements that a ROLLBACK undoes, and those that undo what is not known."""
        self.variables: Variables | None = None
        """The variables of its programs, if it has any."""
        self.part_of: list[ScriptPart] = []
        """The part that each statement is in."""
        self.query_targets: dict[int, str] = {}
        """By statement, the dataset to which the result of a bare query is written."""
        self.elsewhere: TextResolution | None = None
        """What another process resolved its statements to."""

    @cached_property
    def may_define(self) -> tuple[str, ...]:
        """The names of the tables that the text may define: its own name, and what its words say."""
        names = [self._own_name] if self._own_name else []
        for part in self.parts:
            names += defined_names(part.text.lower())
            if part.target is not None:
                names.append(part.target)
        return tuple(dict.fromkeys(names))

    def prepare(self) -> None:
        """Find out what its statements define, if that is not known."""
        if self.definitions is None:
            self.parsed()

    @cached_property
    def has_contents(self) -> bool:
        """Whether statements of the prepared text read what others leave in variables or temporary tables."""
        return self.variables is not None or any(d.temporary for own in self.definitions or () for d in own)

    def adopt(self, resolution: TextResolution) -> None:
        """Take over what another process found out about the text."""
        self.elsewhere = resolution
        self._noted = True
        self.results = [None] * len(resolution.definitions)
        self.part_of = [self.parts[number] for number in resolution.parts]
        own = self._options.naming
        self.namings = [own if naming == own else naming for naming in resolution.namings or [own] * len(self.results)]
        self.rolled_back = resolution.rolled_back
        self.variables = resolution.variables
        self.query_targets = dict(resolution.query_targets)
        self.definitions = list(resolution.definitions)
        self.searched = dict(resolution.searched)

    def parsed(self) -> list[ParsedStatement]:
        """Return its statements; they are parsed again if their trees were freed."""
        found = self._trees()
        if self.definitions is None:
            walk = TableWalk(self._search)
            self.walk(walk)
            self.define(walk.result().get(self.index, []))
        return found

    def _search(self, name: str, naming: Naming) -> TableEntry:
        entry = self._entry_of(name, naming)
        self.searched[name, naming] = entry.columns is not None, entry.learnt
        return entry

    def still_searches(self, found: TextResolution) -> bool:
        """Return whether the catalog answers as it did when the text's definitions were found."""
        answers = ((self._entry_of(*asked), answer) for asked, answer in found.searched)
        return all((entry.columns is not None, entry.learnt) == answer for entry, answer in answers)

    def _trees(self) -> list[ParsedStatement]:
        if self._parsed is None:
            by_part = [(part, part.parsed(self._options)) for part in self.parts]
            self._parsed = [statement for _, statements in by_part for statement in statements]
            if not self._noted:  # trees may have been freed since, and what was noted then has been changed by a walk
                self._noted = True
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
        self.rolled_back = statements_rolled_back(statements, self._options.naming.dialect)
        if self._alone:  # of the runs of a session, the log knows more than they do
            self.rolled_back = self.rolled_back._replace(left_open=left_open(statements, self._options.naming.dialect))
        trees = [None if number in self.rolled_back.undone else parsed.tree for number, parsed in enumerate(statements)]
        uncertain = {number for number, parsed in enumerate(statements) if may_not_run(parsed)}
        places = {id(part): number for number, part in enumerate(self.parts)}
        pieces = None if self._alone else [places[id(part)] for part in self.part_of]
        ends = temporary_ends(statements, self._options.naming.dialect)
        as_written = Naming(self._options.naming.dialect)

        def traced(number: int) -> str | None:
            plain = number not in self.rolled_back.undone and (statements[number].step or ProgramStep()).operation == ""
            return trace_tokens(statements[number].tokens, as_written).destination if plain else None

        self.namings = walk.read(self.index, trees, self.namings, uncertain, pieces, ends, traced)

    def define(self, definitions: list[tuple[Definition, ...]]) -> None:
        """Set what each statement defines."""
        statements = self._trees()
        if any(p.step is not None for p in statements):
            self.variables = Variables(p.step for p in statements)
        elif len(statements) == 1 and self._own_name and not self.query_targets:
            naming = naming_after(self.namings[0], statements[0].tree)
            target = named_after_text(self.name, statements[0].tree, naming)
            if target is not None and statements[0].problem is not None:
                target = _named_in(statements[0], naming, target)
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


def _named_in(parsed: ParsedStatement, naming: Naming, after_text: str) -> str | None:
    """Return the dataset that a statement defines of which only the query could be parsed: the one that it names.

    None for a statement that fills a table without defining it.
    """
    trace = trace_tokens(parsed.tokens, naming)
    if trace.destination is None:
        return after_text
    return str(trace.destination) if trace.operation.startswith("CREATE") else None


class Definers:
    """The texts that may define a table, as their words say."""

    def __init__(self, texts: Sequence[Text]) -> None:
        found: dict[str, dict[int, None]] = defaultdict(dict)
        self._by_schema: dict[tuple[str, ...], dict[int, None]] = defaultdict(dict)
        for index, text in enumerate(texts):
            for parts in map(name_parts, text.may_define):
                found[parts[-1]][index] = None
                self._by_schema[parts[-2:]][index] = None
        self.by_last_part: Mapping[str, Sequence[int]] = {name: list(indexes) for name, indexes in found.items()}
        """By the last part of the table's name, without quotes and case."""

    def likely(self, name: str) -> Iterable[int]:
        """Return the texts that may define a table of this name, as written; those of other schemas are left out."""
        parts = name_parts(name)
        if len(parts) == 1:
            return self.by_last_part.get(parts[-1], ())
        return {*self._by_schema.get(parts[-2:], ()), *self._by_schema.get(parts[-1:], ())}


def tied_by_changes(texts: Sequence[Text]) -> list[int]:
    """Return, in order, the texts connected by a table that one drops, replaces or renames and another one names.

    The meaning of a table's name in one of them depends on the others. `a.t` and `b.t` are two tables; `t` may be both.
    """
    changed: dict[str, dict[tuple[str, ...], set[int]]] = defaultdict(lambda: defaultdict(set))
    for index, text in enumerate(texts):
        for part in text.parts:
            words = part.text.lower()
            names = list(changed_names(words))
            moves = bool(names) and moves_tables(words)
            for parts in map(name_parts, names):
                changed[parts[-1]][parts[-1:] if moves else parts].add(index)
    defined: dict[str, dict[tuple[str, ...], set[int]]] = defaultdict(lambda: defaultdict(set))
    for index, text in enumerate(texts):
        for name in text.may_define:
            parts = name_parts(name)
            if parts[-1] in changed:
                defined[parts[-1]][parts].add(index)
    contested = {last for last, own in changed.items() if last and _are_contested(own, defined.get(last, {}))}
    if not contested:
        return []
    word = re.compile(rf"(?<![\w$#])(?:{'|'.join(map(re.escape, sorted(contested)))})(?![\w$#])", re.IGNORECASE)
    return [i for i, text in enumerate(texts) if any(word.search(part.text) for part in text.parts)]


def _are_contested(changed: Mapping[tuple[str, ...], set[int]], defined: Mapping[tuple[str, ...], set[int]]) -> bool:
    """Return whether one text changes a table that another one changes or defines; all names have one last part."""
    groups: dict[tuple[str, ...], tuple[set[int], set[int]]] = defaultdict(lambda: (set(), set()))
    is_bare = any(len(parts) == 1 for parts in (*changed, *defined))
    for number, mentions in enumerate((changed, defined)):
        for parts, texts in mentions.items():
            groups[() if is_bare else parts[-2:]][number].update(texts)
    return any(changing and len(changing | defining) > 1 for changing, defining in groups.values())


def last_part(name: str) -> str:
    """Return the last part of a dotted name, without its quotes and in lower case."""
    return name_parts(name.rpartition(".")[2])[0]
