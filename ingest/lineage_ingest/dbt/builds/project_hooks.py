"""What the hooks of a project do to tables: the statements that can be read, and what is to be reported of others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from lineage.catalog import Catalog, TableSchema
from lineage.frozen import frozen
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.names import split_name
from lineage.model.statement import ColumnSchema, Completeness, DatasetKind, StatementLineage
from lineage.model.text.name_lists import name_list
from lineage.saved_file import digest_of
from lineage.sql.extraction import ExtractionOptions
from lineage.sql.parse.questions.user_functions import user_functions
from lineage.sql.script.script import Script
from lineage_ingest.dbt.builds.build_steps import BuildSteps
from lineage_ingest.dbt.builds.hooks import OF_PROJECT, Hook
from lineage_ingest.dbt.schemas import comparable_columns
from lineage_ingest.dbt.templates.known_results import RunValue

__all__ = ["HOOK_TEXT", "HookEffects", "HookTables", "ReadHook", "read_hooks", "tables_of_hooks", "temporary_reads"]

HOOK_TEXT = "\x1ftext "
"""Between a hook's key and the number of another text of it, in the name of that text."""
_WORST = (Completeness.FULL, Completeness.PARTIAL, Completeness.TABLES, Completeness.NONE)
_HINT_OF_CALLS = "ingest the warehouse's query log as well: it shows what the function does"
_HINT = "write it in one statement, or ingest the warehouse's query log as well"
_REMOVES = ("DELETE", "TRUNCATE")
_MOVES_NO_ROWS = frozenset(
    ("ANALYZE", "COMMENT", "COMMIT", "CREATE_INDEX", "CREATE_SCHEMA", "GRANT", "OPTIMIZE", "REVOKE", "TRANSACTION",
     "VACUUM")
)  # fmt: skip
_NOT_FOLLOWED = ("CALL", "EXECUTE", "UNKNOWN", "ALTER_TABLE", "ALTER_VIEW")


@frozen
class ReadHook:
    """A hook with statements that are followed: its texts by name, and their lineage in the order of the texts."""

    hook: Hook
    texts: Mapping[str, str]
    statements: Sequence[StatementLineage]
    temporary: tuple[str, ...] = ()
    """The temporary tables that it creates, by the full names that others read them by."""

    @property
    def writes(self) -> tuple[str, ...]:
        """The full names of the tables that it writes."""
        return tuple(
            dict.fromkeys(
                name for one in self.statements for name in one.targets if name not in _temporary_targets(one)
            )
        )

    @property
    def completeness(self) -> Completeness:
        """How far its statements are resolved, all together."""
        return max((one.completeness for one in self.statements), key=_WORST.index)

    def statements_of(self, name: str) -> list[StatementLineage]:
        """Return the statements of one of its texts."""
        return [one for one in self.statements if (one.source or next(iter(self.texts))) == name]

    @property
    def reads(self) -> tuple[str, ...]:
        """The full names of the tables that it reads."""
        return tuple(dict.fromkeys(name for one in self.statements for name in one.sources))


@frozen
class HookEffects:
    """The hooks of a project that may move data: what is `unread` of each, by key, and those that are followed."""

    hooks: Mapping[str, Hook] = field(default_factory=dict)
    unread: Mapping[str, Sequence[Diagnostic]] = field(default_factory=dict)
    followed: Mapping[str, ReadHook] = field(default_factory=dict)
    by_session: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The keys of the hooks that share a session, by what identifies it: the unique id of a node."""

    def unread_of(self, unique_id: str) -> Iterator[Diagnostic]:
        """Yield what is not read of the hooks of a node."""
        for key in self.by_session.get(unique_id, ()):
            yield from self.unread[key]

    def read_for(self, unique_id: str) -> tuple[str, ...]:
        """Return the tables that the hooks of a node read."""
        return tuple(dict.fromkeys(name for one in self._followed_in(unique_id) for name in one.reads))

    def temporary_for(self, unique_id: str) -> tuple[str, ...]:
        """Return the names of the temporary tables that the hooks of a node create, which its query may read."""
        return tuple(dict.fromkeys(name for one in self._followed_in(unique_id) for name in one.temporary))

    def _followed_in(self, session: str) -> Iterator[ReadHook]:
        return (self.followed[key] for key in self.by_session.get(session, ()) if key in self.followed)

    def created_columns(self) -> dict[str, tuple[str, ...] | None]:
        """Return the columns of the tables that hooks create, by full name: None where others determine them."""
        found: dict[str, tuple[str, ...] | None] = {}
        for one in self.followed.values():
            for made in one.statements:
                if made.defines and made.target is not None and made.target in one.writes:
                    names = tuple(column.name for column in made.schema) or None
                    found[made.target] = names if found.get(made.target, names) == names else None
        return found

    def of_project(self) -> Iterator[tuple[Hook, Diagnostic]]:
        """Yield what is not read of the project's own hooks."""
        for key in self.by_session.get(OF_PROJECT, ()):
            yield from ((self.hooks[key], problem) for problem in self.unread[key])

    def named_columns(
        self,
        known: Mapping[str, Collection[ColumnSchema]],
        learnt: Callable[[str], Collection[str] | None],
    ) -> dict[str, tuple[ColumnSchema, ...]]:
        """Return the columns of the tables that the hooks that are followed name, by full name, sorted.

        `known` are columns by full name; `learnt` returns those of any other table.
        """
        named = {name for one in self.followed.values() for name in (*one.reads, *one.writes)}
        columns = {name: tuple(known[name]) for name in named if known.get(name)}
        for name in sorted(named - columns.keys()):
            columns[name] = tuple(ColumnSchema(one) for one in learnt(name) or ())
        return dict(sorted(columns.items()))

    def digest(self, columns: Mapping[str, tuple[ColumnSchema, ...]]) -> str:
        """Return a digest of all that `resolve` depends on besides its options."""
        read: list[object] = []
        for read_hook in self.followed.values():
            hook = read_hook.hook
            about = hook.title, hook.kind, hook.session, hook.node.original_file_path, hook.doubts
            followed = [(found.source, found.span) for found in read_hook.statements]
            read.append((hook.key, *about, read_hook.texts, read_hook.temporary, followed))
        return digest_of(*read, *((name, comparable_columns(listed)) for name, listed in columns.items()))

    def resolve(
        self, options: ExtractionOptions, columns: Mapping[str, tuple[ColumnSchema, ...]]
    ) -> Iterator[ReadHook]:
        """Yield the hooks that are followed; `columns` are those of the tables that they name, by full name."""
        if not self.followed:
            return
        tables = [TableSchema(name, listed, exact=True) for name, listed in columns.items() if listed]
        catalog = Catalog(tables, options.naming.dialect)
        resolved = _resolve([self.hooks[key] for key in self.followed], options, catalog)
        for key, read_hook in self.followed.items():
            positions = {(found.source, found.span) for found in read_hook.statements}
            statements = [found for found in resolved[key] if (found.source, found.span) in positions]
            beside = (other for other in self._followed_in(read_hook.hook.session) if other is not read_hook)
            others = {name for other in beside for name in other.temporary}
            yield replace(
                read_hook,
                statements=[
                    _in_doubt(found, (*read_hook.hook.doubts, *temporary_reads(read_hook.hook.title, (found,), others)))
                    for found in statements
                ],
            )


def read_hooks(
    hooks: Iterable[Hook], steps: BuildSteps, options: ExtractionOptions, built: Collection[str]
) -> HookEffects:
    """Return what is read of hooks; `built` are the full names of the tables that the project builds.

    Which columns the tables have does not matter here.
    """
    listed = list(hooks)
    queries = {hook.key: list(steps.unread_query(hook.title, hook.raw)) for hook in listed}
    moving = [
        hook for hook in listed
        if queries[hook.key] or any(any(steps.unread_statement(hook.title, text)) for text in (hook.raw, *hook.texts))
    ]  # fmt: skip
    if not moving:
        return HookEffects()
    resolved = _resolve(moving, options, Catalog())
    unread, followed = {}, {}
    for hook in moving:
        texts = _texts_of(hook)
        statements, problems = [], list(queries[hook.key])
        for statement in resolved[hook.key]:
            text = _text_of(statement, texts)
            if "{{" not in text and _is_followed(statement):
                statements.append(statement)
                problems += _replaced(hook, statement, built)
            elif "{{" not in text and statement.operation == "SELECT" and not statement.targets:
                problems += _calls(hook.title, user_functions(text, options.naming.dialect))
            elif "{{" in text or not _moves_nothing(statement, built):
                problems += steps.unread_statement(hook.title, text)
        if hook.doubts:
            problems += steps.unread_statement(hook.title, hook.raw)
        unread[hook.key] = list({one.message: one for one in problems}.values())
        if statements:
            created = dict.fromkeys(name for one in statements for name in _temporary_targets(one))
            temporary = (options.naming.qualify([part for part, _ in split_name(name)]) for name in created)
            followed[hook.key] = ReadHook(hook, texts, statements, tuple(map(str, temporary)))
    by_session: dict[str, list[str]] = defaultdict(list)
    for hook in moving:
        by_session[hook.session].append(hook.key)
    return HookEffects({hook.key: hook for hook in moving}, unread, followed, by_session)


@frozen
class HookTables:
    """The full names of the tables that a hook writes and reads, if it is known to do nothing else."""

    writes: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()


def tables_of_hooks(hooks: Iterable[Hook], steps: BuildSteps, options: ExtractionOptions) -> dict[str, HookTables]:
    """Return the tables of hooks that only move rows or grant something, by key; the others are left out.

    Not there are hooks that a template decides, that call or create functions, change settings, or cannot be read.
    """
    plain = [
        hook for hook in hooks
        if not hook.doubts and not any(steps.unread_query(hook.title, hook.raw))
        and not any(mark in text for text in hook.texts for mark in ("{{", "{%"))
    ]  # fmt: skip
    resolved = _resolve(plain, options, Catalog()) if plain else {}
    found = {}
    for hook in plain:
        texts = _texts_of(hook)
        statements = resolved.get(hook.key, [])
        if all(_is_of_tables(one, _text_of(one, texts), options) for one in statements):
            found[hook.key] = HookTables(
                frozenset(name for one in statements for name in one.targets),
                frozenset(name for one in statements for name in one.sources),
            )
    return found


def _is_of_tables(statement: StatementLineage, text: str, options: ExtractionOptions) -> bool:
    """Return whether all that a statement does is to move rows, or to say something about tables."""
    if user_functions(text, options.naming.dialect) or _temporary_targets(statement):
        return False
    if statement.operation in _MOVES_NO_ROWS or (statement.operation in _REMOVES and statement.targets):
        return statement.completeness is not Completeness.NONE
    return _is_followed(statement) or (statement.operation == "SELECT" and not statement.targets)


def _resolve(hooks: Sequence[Hook], options: ExtractionOptions, catalog: Catalog) -> dict[str, list[StatementLineage]]:
    """Return the statements of hooks by the key of the hook."""
    texts = {name: text for hook in hooks for name, text in _texts_of(hook).items()}
    found: dict[str, list[StatementLineage]] = defaultdict(list)
    for one in Script(texts, options, catalog, models=False).resolve():
        found[(one.source or next(iter(texts))).partition(HOOK_TEXT)[0]].append(one)
    return found


def _texts_of(hook: Hook) -> dict[str, str]:
    return {f"{hook.key}{HOOK_TEXT}{n}" if n else hook.key: text for n, text in enumerate(hook.texts)}


def _text_of(statement: StatementLineage, texts: Mapping[str, str]) -> str:
    text = texts[statement.source or next(iter(texts))]
    span = statement.span
    return text[span.start : span.end] if span is not None else text


def _moves_nothing(statement: StatementLineage, built: Collection[str]) -> bool:
    """Return whether a statement without edges is known to concern no rows that the project knows."""
    if statement.operation in _REMOVES:
        return statement.target not in built
    is_other = statement.operation.startswith("CREATE_") and statement.operation not in ("CREATE_TABLE", "CREATE_VIEW")
    return is_other and not statement.targets and statement.completeness is Completeness.FULL


def _is_followed(statement: StatementLineage) -> bool:
    """Return whether the edges of a statement say all that it does to tables."""
    if statement.changes or statement.altered or statement.operation in _NOT_FOLLOWED or not statement.targets:
        return False
    if statement.completeness is Completeness.NONE or (statement.operation in _REMOVES and not statement.edges):
        return False
    names = (*statement.targets, *statement.sources)
    return not any(RunValue.MARK in name for name in names)


def _calls(what: str, functions: Sequence[str]) -> Iterator[Diagnostic]:
    if functions:
        message = f"{what} calls {name_list(functions, 3)}: what it does to rows is not read"
        yield Diagnostic(DiagnosticCode.NOT_FOLLOWED, Severity.WARNING, message, hint=_HINT_OF_CALLS)


def _replaced(hook: Hook, one: StatementLineage, built: Collection[str]) -> Iterator[Diagnostic]:
    """Yield a diagnostic if a statement creates anew what a node has built: it may have other columns then."""
    if hook.runs_after and one.defines and one.target in built:
        message = f"{hook.title} creates {one.target} anew: the columns that it has then are not followed"
        yield Diagnostic(DiagnosticCode.NOT_FOLLOWED, Severity.WARNING, message, hint="write it as a model")


def temporary_reads(
    what: str, statements: Iterable[StatementLineage], temporary: Collection[str]
) -> Iterator[Diagnostic]:
    """Yield a diagnostic if statements read temporary tables that hooks beside them create."""
    read = sorted({name for one in statements for name in one.sources}.intersection(temporary))
    if read:
        message = f"{what} reads {name_list(read, 5)}, a temporary table of a hook, which is not followed"
        yield Diagnostic(DiagnosticCode.NOT_FOLLOWED, Severity.WARNING, message, hint=_HINT)


def _temporary_targets(statement: StatementLineage) -> tuple[str, ...]:
    is_temporary = statement.target_kind is DatasetKind.TEMPORARY and statement.target is not None
    return (*statement.temporary, *([str(statement.target)] if is_temporary else ()))


def _in_doubt(statement: StatementLineage, doubts: Iterable[Diagnostic]) -> StatementLineage:
    for problem in doubts:
        statement = statement.in_doubt(problem)
    return statement
