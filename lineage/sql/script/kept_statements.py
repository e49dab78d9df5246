"""What the statements of a text resolved to, to be used again when the text is read again after a change.

A statement of the same text resolves to the same if its look-ups of tables have the same answers (see `resolutions`);
only its place is another. Kept are statements of which this certainly holds: no templates, no parts of programs. Texts
with variables or temporary tables are not kept: statements read what others leave in them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from lineage.model.diagnostics import Span
from lineage.model.names import Naming
from lineage.model.statement import StatementLineage
from lineage.sql.parse.parsed import ParsedStatement, ReadFrom
from lineage.sql.resolve.column_names.unnamed_column import UnnamedColumn
from lineage.sql.resolve.relations import Relation
from lineage.sql.script.moved_spans import moved
from lineage.sql.script.resolutions import LookUp, RecordingTables
from lineage.sql.script.resolved_statements import Left

__all__ = ["KeptStatement", "KeptStatements", "can_keep"]

_Key: TypeAlias = tuple[Naming, bool, str, tuple[TokenType, ...], tuple[str, ...]]


class KeptStatement(NamedTuple):
    """A resolved statement: where it was, its look-ups, and what was found. `seen` is what a watcher made of it."""

    span: Span
    look_ups: tuple[LookUp, ...]
    statement: StatementLineage
    left: Left
    seen: Any


class KeptStatements:
    """The statements of one reading of a text, and those of the reading before."""

    def __init__(self, before: KeptStatements | None, seen: dict[int, Any], proceed: Callable[[], None]) -> None:
        """Begin a reading; `seen` is what a watcher makes of each statement, by its start."""
        self._before: dict[_Key, list[KeptStatement]] = before._now if before is not None else {}
        self._now: defaultdict[_Key, list[KeptStatement]] = defaultdict(list)
        self._seen = seen
        self.used = 0
        """Number of statements that were not resolved again."""
        self._proceed = proceed

    def like(self, parsed: ParsedStatement, naming: Naming, follows_names: bool) -> Iterator[KeptStatement]:
        """Yield what a statement of this text resolved to before."""
        if self._before:
            yield from self._before.get(_key(parsed, naming, follows_names), ())

    def use(
        self, kept: KeptStatement, parsed: ParsedStatement, naming: Naming, follows_names: bool
    ) -> StatementLineage:
        """Return the lineage of a kept statement at its present place, after its look-ups were found to be the same."""
        self._proceed()
        self.used += 1
        found = kept
        if kept.span != parsed.span:
            statement, seen = moved((kept.statement, kept.seen), kept.span, parsed.span)
            found = kept._replace(span=parsed.span, statement=statement, seen=seen)
        self._now[_key(parsed, naming, follows_names)].append(found)
        self._seen[parsed.span.start] = found.seen
        return found.statement

    def keep(
        self,
        parsed: ParsedStatement,
        naming: Naming,
        follows_names: bool,
        tables: RecordingTables,
        statement: StatementLineage,
        left: Left | None,
    ) -> None:
        """Keep what a statement was resolved to, if the same look-ups always lead there."""
        seen = self._seen.get(parsed.span.start)
        if seen is None or left is None or tables.finds_unsent or tables.finds_content or not _is_written(parsed):
            return
        if (
            left.assigned is not None
            or left.swapped is not None
            or left.additions
            or any(type(name) is UnnamedColumn for name, _ in left.schema or ())
        ):
            return
        relation = None if left.relation is None else Relation([], [])  # of a lasting table, nobody reads it
        left = Left(left.schema, relation, {})
        kept = KeptStatement(parsed.span, tables.look_ups(), statement, left, seen)
        self._now[_key(parsed, naming, follows_names)].append(kept)


def _key(parsed: ParsedStatement, naming: Naming, follows_names: bool) -> _Key:
    text = parsed.text[parsed.span.start : parsed.span.end]
    comments = tuple(comment for token in parsed.tokens for comment in token.comments)
    return naming, follows_names, text, tuple(token.token_type for token in parsed.tokens), comments


def _is_written(parsed: ParsedStatement) -> bool:
    """Return whether all of a tree stands in the text: other nodes have positions that do not move with it."""
    for node in parsed.tree.walk() if parsed.tree is not None else ():
        meta = node._meta
        if meta and "start" in meta:
            start, end = meta["start"], meta["end"] + 1
            if not parsed.span.start <= start < end <= parsed.span.end:
                return False
            if type(node) is exp.Identifier and parsed.text[start:end].strip('"`[]').casefold() != node.name.casefold():
                return False
    return True


def can_keep(parsed: ParsedStatement, written: Sequence[ParsedStatement], number: int) -> bool:
    """Return whether the tree of a statement is a function of its text alone; `written` are all statements of a text.

    It is not with the body of a function in it, nor if several statements are read from the same place.
    """
    near = written[max(0, number - 1) : number + 2]
    if parsed is not written[number] or sum(one.span.start == parsed.span.start for one in near) > 1:
        return False
    return parsed.read_from is ReadFrom.TREE and not (
        parsed.problem or parsed.step or parsed.read_as or parsed.doubts or parsed.also_reads or parsed.placeholders
    )
