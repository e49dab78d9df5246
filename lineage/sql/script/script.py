"""Resolve the statements of a script or a folder against each other, in any order.

A statement that needs a table defined by another statement is deferred until that statement is resolved (the deferral
stack of the LineageX paper). If several statements define a name, the latest before the use applies, else
the first after it. Temporary tables are composed away, like CTEs.
"""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections import ChainMap, defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

from lineage.catalog import Catalog
from lineage.model.diagnostics import DiagnosticCode
from lineage.model.names import Naming, split_name
from lineage.model.statement import (
    Completeness,
    DatasetKind,
    StatementLineage,
)
from lineage.sql.extraction import ExtractionOptions, resolve_statement
from lineage.sql.procedural import Variables
from lineage.sql.resolve.calls.procedure_calls import defined_procedures, with_unknown_procedure
from lineage.sql.resolve.column_names.unnamed_column import UnnamedColumn
from lineage.sql.resolve.relations import Relation
from lineage.sql.resolve.tables import CatalogTables, NeedsDefinitionError, TableEntry
from lineage.sql.resolve.targets import SHARED_PREFIX
from lineage.sql.script.definition_index import DefinitionIndex
from lineage.sql.script.definitions import Definition, Position
from lineage.sql.script.functions.inlining import Functions
from lineage.sql.script.kept_statements import KeptStatements, can_keep
from lineage.sql.script.mentioned_names import defines_function
from lineage.sql.script.resolutions import (
    CatalogDigests,
    RecordingTables,
    StatementResolution,
    TextResolution,
    TextSchemas,
    are_alike,
)
from lineage.sql.script.resolved_statements import Left, ResolvedStatements
from lineage.sql.script.script_diagnostics import (
    ambiguous_columns,
    leaves_doubt,
    replacing_text,
    with_cycles,
    with_doubtful_content,
    with_replacement,
)
from lineage.sql.script.sessions.table_walk import TableWalk
from lineage.sql.script.sessions.transactions import RolledBack, of_another_session, without_commit, without_effect
from lineage.sql.script.sources import Definers, ScriptPart, Text, tied_by_changes
from lineage.sql.script.tables.loops import LoopReads, changes_in_loop
from lineage.sql.script.tables.renames import Renames
from lineage.sql.script.tables.script_tables import Decision, ScriptTables
from lineage.sql.script.tables.temp_tables import Content, TableContents, VariableContents, without_rows

__all__ = ["Decision", "Script"]

_MAX_KEPT = 2_000_000
"""Characters. The syntax trees of larger inputs are released between two passes over a text."""

_ELSEWHERE = StatementLineage("")
"""The result of a statement that another process resolved, of which only the columns are known here."""

_CALLS = frozenset(("CALL", "EXECUTE"))
"""Operations that assign variables to what is not followed: the OUT parameters of a procedure."""

_MAX_ROUNDS = 8
"""Maximum number of passes over a loop while its variables gain sources; real programs need fewer."""


class Script:
    """The statements of several texts, resolved against each other and a catalog."""

    def __init__(
        self,
        texts: Mapping[str, str | Sequence[ScriptPart]],
        options: ExtractionOptions,
        catalog: Catalog | None = None,
        seen: Callable[[str, str], bool] = lambda *_: False,
        *,
        alone: bool = True,
        models: bool = True,
        recording: bool = False,
        checks_calls: bool = True,
        kept: KeptStatements | None = None,
    ) -> None:
        """Create a script; `seen` returns whether use elsewhere shows that a table of unknown schema has a column.

        The single query of a text writes the dataset that is called like the text, if the texts are `models`.
        Unless the texts run `alone`, other sessions may see tables that one part of a text creates and another drops.
        With `recording`, `record` returns what another process may `adopt`. Without `checks_calls`, the procedures
        that the statements call may be defined elsewhere. `kept` has statements of an earlier reading of the text.
        """
        self._checks_calls, self._kept = checks_calls, kept
        self._texts = [
            Text(
                name,
                (ScriptPart(given, name),) if isinstance(given, str) else given,
                options,
                index,
                self.entry_of,
                alone=alone,
                is_model=models,
            )
            for index, (name, given) in enumerate(texts.items())
        ]
        self.options = options
        given = catalog if catalog is not None else Catalog()
        self._catalog = given.prepare(part.text for text in self._texts for part in text.parts).qualified(
            options.naming
        )
        self._base = CatalogTables(self._catalog, options.naming)
        self._catalog_tables: dict[Naming, CatalogTables] = {options.naming: self._base}
        self._prepared: set[int] | None = None
        self.defining_functions: tuple[int, ...] = ()
        """The texts that may define functions, once the script is prepared."""
        self.tied: frozenset[int] = frozenset()
        """The texts that change each other's tables, once the script is prepared."""
        self.definers = Definers(self._texts)
        self._candidates = self.definers.by_last_part if len(self._texts) > 1 else None
        self._definitions = DefinitionIndex(self._texts, self._candidates)
        self._resolved = ResolvedStatements(self._texts)
        self._seen_elsewhere = seen
        self._decisions: dict[Position, dict[Decision, None]] = {}
        self._functions = Functions(
            options.naming.dialect, options.budget, lambda parts: self._base.find(parts).columns is not None
        )
        self.searched: dict[tuple[str, ...], None] = {}
        """The full names that names without a schema may mean, in the order of the search path; for a view's own
        schema only the name in it."""
        self.renames = Renames()
        self.doubtful: set[int] = set()
        """Texts whose results from elsewhere cannot be used here, and statements of which read contents that are not
        here: the script has to be resolved again without them."""
        self.seconds: dict[int, float] = {}
        """By text, the time that it and what it needed took, once it is resolved."""
        self._recorded: dict[Position, list[StatementResolution]] | None = defaultdict(list) if recording else None
        self._looping: set[int] = set()
        """Texts of which statements were resolved several times, because of a loop."""
        self._reads_unsent: set[int] = set()
        """Texts that read columns whose name is not sent (`UnnamedColumn`), if resolutions are recorded."""
        self.resolved_here: set[int] = set()
        """Texts of which statements were resolved, not taken from elsewhere."""
        self.catalog_digests = CatalogDigests()
        self._open: dict[Position, None] = {}
        self._cyclic: dict[Position, dict[str, None]] = defaultdict(dict)
        self._unfilled: dict[Position, dict[str, bool]] = defaultdict(dict)
        """By statement, the temporary tables and variables that it reads and whose content is in doubt; whether more
        than the table of a column is."""
        self._of_unknown: set[Position] = set()
        """The statements that read such a table or variable: what they fill is not known, either."""
        self._contents = TableContents()
        self._loops = LoopReads()
        self._variables = VariableContents(
            options.naming.dialect,
            ChainMap(self._resolved.assigned, self._resolved.relations),
            self.require,
            self.renames,
            self._base.shared,
            self._loops,
        )

    def resolve(
        self, progress: Callable[[int, int], None] | None = None, only: Container[str] | None = None
    ) -> list[StatementLineage]:
        """Return the lineage of every statement, in the order of the texts.

        `progress` is called after each text with the number of texts done and their total. With `only`, the texts of
        these names are resolved, and what they need of others.
        """
        self.prepare()
        for index, text in enumerate(self._texts):
            if only is not None and text.name not in only:
                continue
            began = time.perf_counter()
            self._settle_text(index)
            self.seconds[index] = time.perf_counter() - began
            if index < len(self._texts) - 1:  # statements of the last text may be resolved again at once
                text.release()
            if progress is not None:
                progress(index + 1, len(self._texts))
        self._decide_ambiguous()
        found = [
            (part, replace(result, source=part.name) if part.name else result)
            for text in self._texts
            for part, result in zip(text.part_of, text.results, strict=True)
            if result is not None
        ]
        if not self._checks_calls:
            return [result for _, result in found]
        dialect, procedures = self.options.naming.dialect, cache(self._procedures)
        return [with_unknown_procedure(result, part.text, procedures, dialect) for part, result in found]

    def _procedures(self) -> frozenset[str]:
        return defined_procedures(part.text for text in self._texts for part in text.parts)

    def prepare(self) -> set[int]:
        """Read what all texts depend on; return those texts whose results depend on other texts' statements as such.

        These are texts that define functions or may call them, and texts that change each other's tables.
        """
        if self._prepared is None:
            defining = [one for one in self._texts if any(defines_function(part.text.lower()) for part in one.parts)]
            for text in defining:
                self._functions.learn(text.parsed())
            calling = [
                one.index for one in self._texts if any(self._functions.may_be_in(part.text) for part in one.parts)
            ]
            self.defining_functions = tuple(one.index for one in defining)
            self.tied = frozenset(self._walk_together())
            self._prepared = {*self.defining_functions, *calling, *self.tied}
        return self._prepared

    def record(self, index: int) -> TextResolution:
        """Resolve the statements of a text, and those that they need; return what they resolved to."""
        began = time.perf_counter()
        self._settle_text(index)
        self._texts[index].release()
        return replace(self.resolution(index), seconds=time.perf_counter() - began)

    def resolution(self, index: int) -> TextResolution:
        """Return what the statements of a resolved text resolved to, once: it is not kept."""
        text = self._texts[index]
        recorded = self._recorded if self._recorded is not None else {}
        schemas = (self._resolved.schema((index, number)) or () for number in range(len(text.results)))
        unsent = index in self._reads_unsent or any(type(name) is UnnamedColumn for names in schemas for name in names)
        parts = {id(part): number for number, part in enumerate(text.parts)}
        return TextResolution(
            definitions=tuple(text.definitions or ()),
            namings=tuple(text.namings) if set(text.namings) != {self.options.naming} else None,
            rolled_back=text.rolled_back,
            query_targets=tuple(text.query_targets.items()),
            variables=text.variables,
            parts=tuple(parts[id(part)] for part in text.part_of),
            resolutions=tuple(tuple(recorded.pop((index, n), ())) for n in range(len(text.results))),
            stays=index in self._looping or unsent or index in self._resolved.swapping,
            searched=tuple(text.searched.items()),
        )

    def adopt(self, found: Mapping[int, TextResolution]) -> None:
        """Take over what other processes resolved texts to, by index, before `resolve`.

        The result for a statement is used if its look-ups have the same answers here.
        """
        for index, one in found.items():
            self._texts[index].adopt(one)

    def learn(self, index: int, text_schemas: TextSchemas) -> None:
        """Take over what another process found out about the tables that a text defines."""
        text = self._texts[index]
        if text.definitions is None:
            count = len(text_schemas.definitions)
            text.adopt(TextResolution(text_schemas.definitions, None, RolledBack(), (), None, (0,) * count))
        for number, columns in enumerate(text_schemas.schemas):
            if text.results[number] is None:
                text.results[number] = _ELSEWHERE
                self._resolved.keep_schema((index, number), columns)

    def still_searches(self, index: int, found: TextResolution) -> bool:
        """Return whether the definitions that another run found in a text are those that this one would find."""
        return self._texts[index].still_searches(found)

    def _settle_text(self, index: int) -> None:
        """Resolve the statements of a text."""
        text = self._texts[index]
        text.prepare()
        for number in range(len(text.results)):
            self._settle((index, number))
        self._go_round(index)

    def _walk_together(self) -> list[int]:
        """Find the meaning of table names in texts that change each other's tables; return these texts.

        Texts run in order.
        """
        if self._candidates is None:
            return []
        walk, size = TableWalk(self.entry_of), 0
        tied = tied_by_changes(self._texts)
        for index in tied:
            self._texts[index].walk(walk)
            size += sum(len(part.text) for part in self._texts[index].parts)
            if size > _MAX_KEPT:
                self._texts[index].release()
        found = walk.result()
        for index in tied:
            self._texts[index].define(found.get(index, []))
            if size > _MAX_KEPT:
                self._texts[index].release()
        return tied

    def _settle(self, position: Position) -> None:
        """Resolve a statement after those that it needs; uses an explicit stack, so chains may have any length."""
        stack = [position]
        while stack:
            current = stack[-1]
            text = self._texts[current[0]]
            if current[1] < len(text.results) and text.results[current[1]] is not None:
                stack.pop()
                continue
            self._open[current] = None
            try:
                self._resolve(current)
            except NeedsDefinitionError as needed:
                stack.append(needed.position)
                continue
            del self._open[current]
            stack.pop()

    def _resolve(self, position: Position) -> None:
        """Resolve a statement, and store what other statements may need.

        Raises:
            NeedsDefinitionError: another statement has to be resolved first.
        """
        text = self._texts[position[0]]
        tables, statement, left = self._resolve_over(position, self._is_lasting_view(position))
        if tables.by_name and any(one.table in tables.by_name for one in statement.inferred):
            # The view does not fit the final table of that name, so it reads the table it was defined over.
            tables, statement, left = self._resolve_over(position, False)
        statement = with_cycles(statement, self._cyclic.pop(position, {}))
        if unfilled := self._unfilled.pop(position, None):
            if any(unfilled.values()):
                self._of_unknown.add(position)
            statement = with_doubtful_content(statement, unfilled, ambiguous_columns(statement.edges))
        sources = list(tables.sources(statement.sources))
        if tables.by_name or sources != statement.sources:
            statement = replace(statement, sources=sources, read_by_name=tuple(tables.by_name))
        statement = self._with_target(statement, position)
        if statement.changes:
            lasting = tuple(c for c in statement.changes if not self._of_session(c.table, position))
            kind = statement.target_kind if lasting else DatasetKind.TEMPORARY
            statement = replace(statement, changes=lasting, target_kind=kind)
            self.renames.note(position, lasting)
        if self._resolved.keep(position, statement, left):
            self._contents.forget()
            self._variables.forget()
        self._decisions[position] = tables.decisions
        if position[1] in text.rolled_back.unknown:
            statement = of_another_session(statement)
        if position[1] == text.rolled_back.left_open:
            statement = without_commit(statement)
        undone = position[1] in text.rolled_back.undone
        text.results[position[1]] = without_effect(statement) if undone else statement

    def _resolve_over(
        self, position: Position, follows_names: bool
    ) -> tuple[ScriptTables, StatementLineage, Left | None]:
        """Return the tables that a statement sees, its lineage over them, and what it leaves for others."""
        text, number = self._texts[position[0]], position[1]
        if text.elsewhere is not None and (found := self._from_elsewhere(text.elsewhere, position, follows_names)):
            return found
        self.resolved_here.add(position[0])
        naming = text.namings[number]
        options = self.options if naming is self.options.naming else replace(self.options, naming=naming)
        written = text.parsed()
        parsed = self._functions.inline(written[number])
        assigned = text.variables
        names = self._variables.named(assigned, parsed, number) if assigned is not None else ()
        variables = self._contents_of_variables(assigned, position, names) if assigned is not None else None
        target = text.query_targets.get(number)
        kept = self._kept
        if kept is not None and (target is not None or text.has_contents or not can_keep(parsed, written, number)):
            kept = None
        for earlier in kept.like(parsed, naming, follows_names) if kept is not None else ():
            tables = ScriptTables(self, position, follows_names=follows_names)
            if kept is not None and are_alike(earlier.look_ups, tables):
                return tables, kept.use(earlier, parsed, naming, follows_names), earlier.left
        tables = ScriptTables(self, position, follows_names=follows_names)
        source = RecordingTables(tables) if self._recorded is not None or kept is not None else tables
        statement, outcome = resolve_statement(parsed, options, source, target, variables)
        left = Left.of(outcome) if outcome is not None else None
        if kept is not None and isinstance(source, RecordingTables):
            kept.keep(parsed, naming, follows_names, source, statement, left)
        if self._recorded is not None and isinstance(source, RecordingTables):
            if source.finds_unsent:
                self._reads_unsent.add(position[0])
            self._recorded[position].append(
                StatementResolution(
                    follows_names,
                    names,
                    source.look_ups(),
                    statement,
                    left is not None,
                    left.schema if left is not None else None,
                    left is not None and (left.relation or left.assigned) is not None,
                    tuple(left.additions) if left is not None else (),
                )
            )
        return tables, statement, left

    def _from_elsewhere(
        self, text_resolution: TextResolution, position: Position, follows_names: bool
    ) -> tuple[ScriptTables, StatementLineage, Left | None] | None:
        """Return what another process resolved a statement to, if that is what it resolves to here.

        If it is not, and the statement may read contents that are not here, its text is doubtful.
        """
        for resolution in text_resolution.resolutions[position[1]]:
            if text_resolution.variables is not None:
                self._contents_of_variables(text_resolution.variables, position, resolution.variables)
            tables = ScriptTables(self, position, follows_names=follows_names)
            if resolution.follows_names is follows_names and are_alike(resolution.look_ups, tables):
                if self._recorded is not None:
                    self._recorded[position].append(resolution)
                return tables, resolution.statement, Left.of_resolution(resolution) if resolution.has_outcome else None
        if text_resolution.has_contents:
            self.doubtful.add(position[0])
        return None

    def _contents_of_variables(
        self, variables: Variables, position: Position, names: Iterable[str]
    ) -> dict[str, Relation | None]:
        held = self._variables.at(variables, position, names)
        for name in held:
            self._note_unfilled(
                name, position, ((position[0], at) for at in variables.reaching(name, position[1]).before)
            )
        return held

    def _note_unfilled(self, name: str, use: Position, fillers: Iterable[Position]) -> None:
        """Note that a temporary table or variable is read at `use` if a statement that fills it was not resolved."""
        for index, number in fillers:
            result = self._texts[index].results[number]
            if result is None:
                continue
            if result.operation in _CALLS or (index, number) in self._of_unknown or leaves_doubt(result):
                self._unfilled[use][name] = True
            elif result.completeness is not Completeness.FULL:
                self._unfilled[use].setdefault(name, False)

    def _with_target(self, statement: StatementLineage, position: Position) -> StatementLineage:
        """Return a statement with its target's kind; with a diagnostic if another text drops or replaces it."""
        text, number = self._texts[position[0]], position[1]
        own = (text.definitions or [])[number]
        if statement.defines and (later := replacing_text(own, position)) is not None:
            statement = with_replacement(statement, self._texts[later].name)
        if (statement.target or "").startswith(SHARED_PREFIX):  # its own session composes it, others read the table
            temporary = tuple(name for name in statement.temporary if name != statement.target)
            return replace(statement, target_kind=DatasetKind.TABLE, temporary=temporary)
        if statement.defines and any(d.temporary and d.name == statement.target for d in own):
            temporary = (*statement.temporary, str(statement.target))
            return replace(statement, target_kind=DatasetKind.TEMPORARY, temporary=temporary)
        if number in text.query_targets and text.part_of[number].target is not None:
            return replace(statement, target_kind=DatasetKind.TABLE)
        return statement

    def _go_round(self, index: int) -> None:
        """Resolve a loop and what follows it again, until its variables and temporary tables gain no more sources."""
        first = self._loops.take(index)
        if first is None:
            return
        self._looping.add(index)
        text = self._texts[index]
        if text.elsewhere is not None:
            self.doubtful.add(index)
        for _ in range(_MAX_ROUNDS):
            known = [self._resolved.contents((index, number)) for number in range(first, len(text.results))]
            for number in range(first, len(text.results)):
                self._resolve((index, number))
            self._loops.take(index)
            if all(self._resolved.has((index, number), left) for number, left in enumerate(known, first)):
                break

    def _decide_ambiguous(self) -> None:
        """Resolve statements with ambiguous columns again where other statements show which table has them."""
        for index, text in enumerate(self._texts):
            again = [
                number for number, result in enumerate(text.results) if result is not None and self._decides(result)
            ]
            for number in again:
                self._resolve((index, number))
            text.release()

    def _decides(self, result: StatementLineage) -> bool:
        """Return whether one, and only one, of an ambiguous column's tables is now known to have it."""
        if not any(found.code is DiagnosticCode.AMBIGUOUS_COLUMN for found in result.diagnostics):
            return False
        return any(
            sum(self.seen(table, column) for table in tables) == 1 for column, tables in ambiguous_columns(result.edges)
        )

    # The meaning of table names

    def definition(self, name: str, use: Position) -> tuple[Position, Definition] | None:
        """Return the definition that a use of a table refers to: the latest before it, else the first after it."""
        return self._definitions.find(name, use)

    def final(self, name: str, use: Position) -> tuple[Position, Definition] | None:
        """Return the final definition of a name, for a view; None if that definition needs the view."""
        last = self._definitions.last(name, use)
        return last if last is not None and last[0] not in self._open else None

    def makes(self, name: str) -> bool:
        """Return whether a statement creates the table for other statements; call `definition` first."""
        return self._definitions.makes(name)

    def _is_lasting_view(self, position: Position) -> bool:
        """Return whether a statement creates a view that exists at the end: its names then have their final meaning."""
        own = (self._texts[position[0]].definitions or [()])[position[1]]
        return any(d.view and not d.temporary and d.until is None for d in own)

    def content(self, definition: Definition, position: Position, use: Position) -> Content:
        """Return the content, at a use, of a temporary table that a statement creates or alters, with later changes.

        Raises:
            NeedsDefinitionError: one of these statements has to be resolved first.
        """
        if position[0] != use[0] and self._texts[position[0]].elsewhere is not None:
            self.doubtful.add(position[0])
        name, made = definition.name, definition.made_by
        changes = self._definitions.changes_of_rows.get(made, [])
        emptied = [one for one in self._definitions.emptied.get(made, ()) if position < one < use]
        start = max(emptied, default=position)
        additions = changes[bisect_right(changes, start) : bisect_left(changes, use)]
        self._note_unfilled(name, use, (position, *additions))
        if definition.outside:
            self._unfilled[use][name] = True
        known = self._contents.count_merged(start, additions)
        additions = [*additions[:known], *(one for one in additions[known:] if self.require(one, name, use))]
        additions += self._from_earlier_runs(made, changes, use)
        # An ALTER keeps the rows.
        earlier = (*self._definitions.makers.get(made, ()), *changes)
        first = self._resolved.creation(position, name, self._resolved.tables_behind(position, earlier, self.renames))
        if emptied:
            first = without_rows(first)
        found = partial(self._resolved.addition, made=made)
        return self._contents.after(first, start, additions, found, self.renames, self._base.shared)

    def _from_earlier_runs(self, made: Position | None, changes: Sequence[Position], use: Position) -> list[Position]:
        """Return the changes of a table's rows that earlier runs of a loop around a use made, if they are resolved."""
        results = self._texts[use[0]].results
        later = changes_in_loop(self._texts[use[0]].variables, made, changes, use)
        resolved = [one for one in later if results[one[1]] is not None]
        if len(resolved) < len(later):
            self._loops.note(use)
        return resolved

    def _of_session(self, name: str, position: Position) -> bool:
        """Return whether a name is a temporary table that only this session sees, at a position."""
        found = self.definition(name, position)
        return found is not None and found[1].session and found[0] < position

    def require(self, position: Position, name: str, use: Position) -> bool:
        """Return True if a statement is resolved, False if it depends on the use itself.

        Raises:
            NeedsDefinitionError: the statement has to be resolved first.
        """
        results = self._texts[position[0]].results
        if results[position[1]] is not None:
            return True
        if position in self._open:
            self._cyclic[use][name] = None
            if (found := self._texts[use[0]].elsewhere) is not None and found.has_contents:
                self.doubtful.add(use[0])
            return False
        raise NeedsDefinitionError(position)

    def schema(self, position: Position, name: str) -> dict[str, str | None] | None:
        """Return the columns of a table of this name after a resolved statement; None if they are not known."""
        return self._resolved.schema(position, name)

    def entry_of(self, name: str, naming: Naming) -> TableEntry:
        """Return the catalog's entry for a table of that full name."""
        return self.catalog_tables(naming).find([part for part, _ in split_name(name)])

    def seen(self, table: str, column: str) -> bool:
        """Return whether a statement resolved so far shows that the table has the column."""
        return (
            self._resolved.uses(table, column)
            or self._base.infers(table, column)
            or self._seen_elsewhere(table, column)
        )

    def decisions(self) -> list[Decision]:
        """Return the unprefixed columns whose table was found by use elsewhere, each with its candidate tables."""
        return list(dict.fromkeys(one for found in self._decisions.values() for one in found))

    def catalog_tables(self, naming: Naming) -> CatalogTables:
        """Return the catalog as a statement with this naming sees it."""
        tables = self._catalog_tables.get(naming)
        if tables is None:
            tables = self._catalog_tables[naming] = CatalogTables(self._catalog, naming)
        return tables

    def temporary_name(self, parts: Sequence[str], position: Position) -> str | None:
        """Return the full name of the temporary table of this name that a statement creates, if any."""
        for definition in (self._texts[position[0]].definitions or [()])[position[1]]:
            own = split_name(definition.name)
            if definition.session and definition.made_by == position and len(own) == 1 and own[0][0] == parts[-1]:
                return definition.name
        return None

    def naming(self, position: Position) -> Naming:
        """Return the naming of a statement: its defaults and its temporary tables."""
        return self._texts[position[0]].namings[position[1]]
