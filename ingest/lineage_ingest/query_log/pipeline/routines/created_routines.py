"""The routines that a log creates, and the procedures that it calls: creating a routine runs none of its statements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from lineage.model.diagnostics import Diagnostic
from lineage.model.names import Naming
from lineage.model.statement import StatementLineage
from lineage.sql.resolve.calls.procedure_calls import called_procedure, name_parts, procedures_in, unknown_procedure
from lineage.sql.scan.fingerprinting.fingerprints import fingerprint
from lineage_ingest.query_log.pipeline.extraction_units import LogStatement

__all__ = ["Call", "Routine", "calls_of", "routines_of"]

_CREATES = frozenset(f"CREATE_{kind}" for kind in ("PROCEDURE", "FUNCTION", "PACKAGE", "TRIGGER", "EVENT", "TASK"))


class Routine(NamedTuple):
    """A part of a unit that only creates a routine."""

    part: int
    procedures: tuple[str, ...]
    """The full names of the procedures that it defines."""
    statements: tuple[str, ...]
    """The fingerprints of the routine's statements."""


class Call(NamedTuple):
    """A call of a procedure, by its full name: `statement` is the number of the statement in its unit."""

    part: int
    statement: int
    procedure: str
    if_unknown: Diagnostic


def routines_of(
    statements: Sequence[StatementLineage], parts: Sequence[LogStatement], namings: Sequence[Naming]
) -> Iterator[Routine]:
    """Yield the routines that the parts of a unit create."""
    for number, (part, naming) in enumerate(zip(parts, namings, strict=True)):
        own = [one for one in statements if int(one.source or 0) == number]
        if own and own[0].operation in _CREATES:
            names = procedures_in(part.text) if own[0].operation in ("CREATE_PROCEDURE", "CREATE_PACKAGE") else []
            first = names[:1] if own[0].operation == "CREATE_PROCEDURE" else names
            yield Routine(
                number, tuple(_full_name(name, naming) for name in first), tuple(_fingerprints(own[1:], part, naming))
            )


def calls_of(
    statements: Sequence[StatementLineage], parts: Sequence[LogStatement], namings: Sequence[Naming]
) -> Iterator[Call]:
    """Yield the calls of procedures in a unit."""
    for number, statement in enumerate(statements):
        part = int(statement.source or 0)
        if (name := called_procedure(statement, parts[part].text, namings[part].dialect)) is not None:
            yield Call(part, number, _full_name(name, namings[part]), unknown_procedure(name, statement.span))


def _full_name(name: str, naming: Naming) -> str:
    return naming.qualify(name_parts(name)).lower()


def _fingerprints(statements: Iterable[StatementLineage], part: LogStatement, naming: Naming) -> Iterator[str]:
    for statement in statements:
        if statement.span is not None and statement.target is not None:
            yield fingerprint(part.text[statement.span.start : statement.span.end], naming.dialect.name)
