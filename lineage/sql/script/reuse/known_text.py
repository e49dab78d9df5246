"""What is kept of one resolved text: what others depend on, and what it depends on, as digests and names' digests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import chain
from pathlib import PurePath
from typing import Any, NamedTuple

from lineage.catalog.mentioned_tables import words_of
from lineage.model.diagnostics import DiagnosticCode
from lineage.model.dialect import Dialect
from lineage.model.spelling import own_spelling
from lineage.model.statement import ColumnRef, StatementLineage
from lineage.saved_values import from_saved, to_saved
from lineage.sql.resolve.calls.procedure_calls import defined_procedures
from lineage.sql.script.definitions import Definition
from lineage.sql.script.mentioned_names import changed_names, defined_names, defines_function, name_parts
from lineage.sql.script.resolutions import LookUp, TextResolution, TextSchemas
from lineage.sql.script.reuse.saved_resolutions import is_by_chance, without_dialect

__all__ = [
    "NOTHING",
    "SHORT",
    "KnownText",
    "digest_of_text",
    "known_text",
    "short_digest",
    "unpacked",
    "use_of",
    "words_of_names",
    "written",
]

_CLASSES = ("lineage.model.", "lineage.sql.script.definitions", "lineage.sql.script.resolutions")
_OF_OTHERS = frozenset((DiagnosticCode.CYCLIC_DEFINITION, DiagnosticCode.REPLACED_LATER))
"""Results with these depend on more of other texts than on the columns of their tables."""
_CALLS = frozenset(("CALL", "EXEC", "EXECUTE"))
"""Operations that depend on which procedures other texts define."""

SHORT = 8
"""Bytes of a name's digest."""
NOTHING = b""
"""Stands for the digest of what a text states of a table that it only names."""


class KnownText(NamedTuple):
    """A text, as it was resolved. Names are given by short digests.

    `digest` is that of the text and its name. `frame` is that of which tables its statements define, and how: if it is
    another one, all texts are to be resolved; None if the text cannot be resolved without others. `columns` is that of
    the columns of these tables, on which those depend that look them up. `schemas` is both, packed; None if others
    depend on its statements as such. `makes` are the tables that it defines or changes, `looks` those that it looked
    up, `uses` the columns that it shows tables of unknown schema to have. `names` are all tables that it names, with
    the digest of what it says of each beyond that: its columns, as far as it shows or defines them, and its spelling.
    """

    digest: bytes
    frame: bytes | None
    columns: bytes
    schemas: bytes | None
    makes: frozenset[bytes]
    looks: frozenset[bytes]
    uses: frozenset[bytes]
    names: dict[bytes, bytes]


def known_text(
    name: str,
    text: str,
    resolution: TextResolution,
    statements: Sequence[StatementLineage],
    dialect: Dialect,
    *,
    is_alone: bool = True,
    is_tied: bool = False,
) -> KnownText:
    """Return what is to be kept of a resolved text.

    `is_alone`: no other text decides what its statements mean, apart from look-ups. `is_tied`: it changes other texts'
    tables, or these its own.
    """
    looks: set[bytes] = set()
    for look_up in _look_ups(resolution):
        looks.update(map(short_digest, _looked_up(look_up)))
    makes = {one.name for one in _definitions(resolution)}.union(*(one.targets for one in statements))
    names = _said_of_tables(statements, dialect)
    uses = {use_of(one.table, one.column) for each in statements for one in each.inferred if one.table is not None}
    frame = None
    if is_alone and not resolution.stays and not resolution.searched and not any(map(is_by_chance, statements)):
        frame = _frame(name, text, resolution, statements)
    return KnownText(
        digest_of_text(name, text),
        frame,
        _digest(
            [schema and [(written(column), kind) for column, kind in schema] for schema in resolution.schemas.schemas]
        ),
        _pack(resolution, is_tied=is_tied),
        frozenset(map(short_digest, makes)),
        frozenset(looks),
        frozenset(uses),
        {short_digest(table): _digest(said) if said else NOTHING for table, said in names.items()},
    )


def _frame(name: str, text: str, resolution: TextResolution, statements: Sequence[StatementLineage]) -> bytes | None:
    """Return the digest of what a text defines, and how; None if its results depend on more than look-ups by name."""
    if defines_function(text.lower()) or _has_shared_temporary(resolution):
        return None
    if any(one.method == "in_schema" for one in _look_ups(resolution)):
        return None
    how = []
    for statement in statements:
        codes = {problem.code for problem in statement.diagnostics}
        if statement.operation in _CALLS or not codes.isdisjoint(_OF_OTHERS):
            return None
        if any(before.source != name for edge in statement.edges for before in edge.earlier):
            return None
        how.append(
            (
                statement.target,
                statement.target_kind,
                statement.defines,
                statement.temporary,
                statement.other_targets,
                statement.spells,
            )
        )
    return _digest(
        (
            [[one.moved(0) for one in listed] for listed in resolution.definitions],
            resolution.rolled_back,
            resolution.query_targets,
            resolution.parts,
            None if resolution.namings is None else [without_dialect(naming) for naming in resolution.namings],
            sorted(defined_procedures([text])),
            [[(one.has_outcome, one.creates, one.adds) for one in listed] for listed in resolution.resolutions],
            how,
        )
    )


def _said_of_tables(statements: Iterable[StatementLineage], dialect: Dialect) -> dict[str, list[object]]:
    """Return what statements say of each table that they name, in order."""
    said: dict[str, list[object]] = {}
    for statement in statements:
        spelled = dict(statement.spellings)
        read = {edge.source.table for edge in statement.edges} | {
            edge.source.table for edge in statement.row_references
        }
        ends = {edge.target.table for edge in statement.edges}
        for table in (*statement.sources, *statement.targets, *spelled, *read, *ends):
            if table is not None:
                said.setdefault(table, [])
        if dialect.shows_tables:  # the first reference spells a table
            for table in dict.fromkeys((*statement.sources, *statement.targets, *spelled)):
                said[table].append(spelled.get(table))
        for reference in statement.inferred:
            if reference.table is not None:
                said.setdefault(reference.table, []).append(written(reference.column))
        if statement.target is not None:
            said[statement.target].append(
                (
                    statement.target_kind,
                    statement.defines,
                    statement.spells,
                    list(map(written, statement.output_columns)),
                    [(written(column.name), column.data_type) for column in statement.schema],
                )
            )
        for edge in statement.edges:
            to = edge.target
            if to.table is not None and to.table != statement.target and isinstance(to, ColumnRef):
                said[to.table].append(to.column)
    return said


def digest_of_text(name: str, text: str) -> bytes:
    """Return the digest of a text with its name: a single query defines a table of the text's name."""
    digest = blake2b(name.encode(errors="surrogatepass"), digest_size=16)
    digest.update(b"\0")
    digest.update(text.encode(errors="surrogatepass"))
    return digest.digest()


def short_digest(name: str | bytes) -> bytes:
    """Return the digest of a name, or of a word: what stands behind `table` may be a part of a literal."""
    content = name.encode(errors="surrogatepass") if isinstance(name, str) else name
    return blake2b(content, digest_size=SHORT).digest()


def unpacked(packed: bytes, index: int) -> TextSchemas:
    """Return what a text defines, with the text at a position of the script."""
    found: TextSchemas = from_saved(packed, _CLASSES)
    return TextSchemas(tuple(tuple(one.moved(index) for one in listed) for listed in found.definitions), found.schemas)


def use_of(table: str, column: str) -> bytes:
    """Return the digest of a column that a statement shows a table to have."""
    return short_digest(f"{table}\0{column}")


def words_of_names(name: str, text: str) -> Iterator[list[bytes]]:
    """Yield the words of each name that a text may define or change; none of a name that stands for several."""
    words = text.lower()
    names = {PurePath(name).stem.lower(), *defined_names(words), *changed_names(words)}
    for last in {name_parts(one)[-1] for one in names}:
        yield [] if "*" in last else words_of(last)


def written(name: str) -> tuple[str, str, str | None]:
    """Return a name with its spelling."""
    return type(name).__name__, str(name), own_spelling(name)


def _digest(value: object) -> bytes:
    return blake2b(repr(value).encode(errors="surrogatepass"), digest_size=16).digest()


def _definitions(found: TextResolution) -> Iterator[Definition]:
    return chain.from_iterable(found.definitions)


def _has_shared_temporary(found: TextResolution) -> bool:
    """Return whether a text may create a temporary table that other texts see."""
    return any(one.temporary and not one.session for one in _definitions(found))


def _look_ups(found: TextResolution) -> Iterator[LookUp]:
    return (look_up for listed in found.resolutions for one in listed for look_up in one.look_ups)


def _looked_up(look_up: LookUp) -> Iterator[str]:
    """Yield the names of the tables that an answer of the script is about; the catalog's own entries are left out."""
    answer: Any = look_up.answer
    if look_up.method == "find" and not isinstance(answer, bytes):
        answer = answer[0]
    elif look_up.method not in ("name", "existing_name"):
        return
    yield answer if isinstance(answer, str) else answer[1]


def _pack(resolution: TextResolution, *, is_tied: bool) -> bytes | None:
    if resolution.stays or is_tied or _has_shared_temporary(resolution):
        return None
    definitions = tuple(tuple(one.moved(0) for one in listed) for listed in resolution.definitions)
    return to_saved(TextSchemas(definitions, resolution.schemas.schemas))
