"""Variables of programs where each statement is resolved by itself: what others assign to them is not known there."""

from __future__ import annotations

from collections import Counter

from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.dialect import Dialect
from lineage.model.statement import Completeness, StatementLineage
from lineage.sql.parse.parsed import ParsedStatement
from lineage.sql.procedural import ProgramStep
from lineage.sql.procedural.variables import Names, Variables

__all__ = ["UnfollowedVariables"]

_NO_WORDS: Counter[str] = Counter()


class UnfollowedVariables:
    """The variables of one text, collected statement by statement."""

    def __init__(self, dialect: Dialect) -> None:
        self._fold = Names(dialect).fold
        self._steps: list[ProgramStep | None] = []
        self._words: list[Counter[str]] = []
        self._is_program = False

    def add(self, parsed: ParsedStatement) -> None:
        """Add the next statement of the text."""
        self._steps.append(parsed.step)
        self._is_program |= parsed.step is not None
        if self._is_program:
            self._words.append(Counter(self._fold(token.text.lstrip("@:")) for token in parsed.tokens))
        else:
            self._words.append(_NO_WORDS)

    def report(self, statements: list[StatementLineage]) -> list[StatementLineage]:
        """Return the statements; one that reads a variable with values from tables is partial."""
        if not self._is_program:
            return statements
        valued = {
            number
            for number, (statement, step) in enumerate(zip(statements, self._steps, strict=True))
            if step is not None and step.assigns and (statement.edges or step.is_row)
        }
        if not valued:
            return statements
        variables = Variables(self._steps)
        read: dict[int, str] = {}
        known = -1
        while len(read) > known:  # `SET @b = @a` passes a value on
            known = len(read)
            for number in range(len(statements)):
                if number not in read and (name := self._read(number, valued, variables)) is not None:
                    read[number] = name
                    valued |= {number} if (step := self._steps[number]) is not None and step.assigns else set()
        return [_partial(one, read[number]) if number in read else one for number, one in enumerate(statements)]

    def _read(self, number: int, valued: set[int], variables: Variables) -> str | None:
        """Return a variable that a statement reads, and to which one of `valued` assigns."""
        words, step = self._words[number], self._steps[number]
        assigned = Counter(name.lstrip("@") for name in step.assigns) if step is not None else Counter[str]()
        for name in variables.named(sorted(words)):
            word = name.lstrip("@")
            before, around = variables.reaching(name, number)
            if words[word] > assigned[word] and variables.visible(name, number) and valued & {*before, *around}:
                return name
        return None


def _partial(statement: StatementLineage, variable: str) -> StatementLineage:
    if statement.completeness is not Completeness.FULL:
        return statement
    problem = Diagnostic(
        DiagnosticCode.UNSUPPORTED_SYNTAX,
        Severity.WARNING,
        f"the value of {variable} comes from another statement, which is not read here",
        statement.span,
        "resolve the statements together: extract_script, lineage ingest sql",
    )
    return statement.in_doubt(problem)
