"""Scripts that are edited at random: what is read again after an edit is what a first reading finds."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from unittest import mock

import pytest

from lineage import Catalog
from lineage.model.diagnostics import Span
from lineage.sql.extraction import ExtractionOptions, options_for
from lineage.sql.outline.outlined_text import outline_again, outline_text
from lineage.sql.script import kept_statements
from lineage.sql.script.kept_statements import KeptStatements
from lineage.sql.script.sources import Text
from tests.sql.case_files import read_cases
from tests.sql.random_edits import FAULTS
from tests.sql.random_folders import edited, random_folder

_EDITS = 12


def _typed(text: str, others: list[str], rng: random.Random) -> str:
    """Return a text after an edit as people make them: a line, a word or a statement, away, new or elsewhere."""
    at = rng.randrange(len(text) + 1)
    match rng.randrange(6):
        case 0:
            return text[:at] + rng.choice((" ", "\n", "-- note\n", "/* x */", ",", ";", "a", "'")) + text[at:]
        case 1:
            return text[:at] + text[at + rng.randint(1, 12) :]
        case 2:
            statements = text.split(";")
            rng.shuffle(statements)
            return ";".join(statements)
        case 3:
            statements = text.split(";")
            del statements[rng.randrange(len(statements))]
            return ";".join(statements)
        case 4:
            return f"{text};\n{rng.choice(others)}" if rng.random() < 0.5 else f"{rng.choice(others)};{text}"
        case _:
            words = text.split(" ")
            one, two = rng.randrange(len(words)), rng.randrange(len(words))
            words[one] = words[two]
            return " ".join(words)


class _Document:
    """A text as an editor has it: each version is read with what is kept of the one before."""

    def __init__(self, options: ExtractionOptions, counts: Counter[str]) -> None:
        self.kept: KeptStatements | None = None
        self._options = options
        self._counts = counts

    def read(self, text: str, catalog: Catalog, what: str) -> None:
        before = self.kept
        found, self.kept = outline_again(before, text, self._options, catalog)
        expected = outline_text(text, self._options, catalog)
        assert found == expected, f"{what}: {text}"
        assert repr(found) == repr(expected), f"{what}: {text}"
        self._counts["statements"] += len(found)
        self._counts["again"] += self.kept.used


def _edit_folders(count: int, seed: int, first: int = 0) -> Counter[str]:
    """Edit folders, each read as one script, with a catalog that changes, too."""
    counts: Counter[str] = Counter()
    for number in range(first, first + count):
        rng = random.Random(f"{seed} {number}")
        folder = random_folder(rng)
        document = _Document(folder.options(), counts)
        for step in range(_EDITS):
            text = ";\n".join(folder.texts.values())
            document.read(text, folder.catalog(), f"seed {seed}, folder {number}, edit {step}")
            folder = edited(folder, rng)
    return counts


def _edit_cases(count: int, seed: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    cases = [case for case in read_cases() if len(case.sql) < 3_000]
    rng = random.Random(seed)
    for case in rng.sample(cases, min(count, len(cases))):
        others = [one.sql for one in cases if one.dialect == case.dialect]
        document = _Document(options_for(case.dialect), counts)
        catalog = Catalog.from_dict(case.schemas, case.dialect)
        text = ";\n".join((case.sql, *rng.sample(others, min(2, len(others)))))
        for step in range(_EDITS):
            document.read(text, catalog, f"seed {seed}, {case.name}, edit {step}")
            text = _typed(text, others, rng)
    return counts


def test_scripts_that_are_edited_at_random() -> None:
    for counts in (_edit_folders(6, seed=5), _edit_cases(10, seed=5)):
        assert counts["again"] > counts["statements"] / 10


def test_a_statement_that_only_moved_is_not_resolved_again() -> None:
    options = options_for("postgres")
    views = [f"create view v{n} as\nselect a + {n} as b from t" for n in range(5)]
    _, kept = outline_again(None, ";\n".join(views), options)
    changed = ["\n  " + views[0], views[1].replace("a +", "c -"), *views[2:]]
    found, again = outline_again(kept, ";\n".join(changed), options)
    assert again.used == 4
    assert [one.span.line for one in found] == [2, 4, 6, 8, 10]
    assert found[0].blocks[0].span == Span(21, 45, 3, 1)
    _, third = outline_again(again, ";\n".join(views[3:]), options)
    assert third.used == 1  # v3 is the first now that shows that `t` has the column


def _without_contents() -> AbstractContextManager[object]:
    return mock.patch.object(Text, "has_contents", False)


def _at_the_old_place() -> AbstractContextManager[object]:
    return mock.patch.object(kept_statements, "moved", lambda value, *_: value)


@pytest.mark.parametrize(
    ("mistake", "folder"),
    [(FAULTS["find"], 2), (FAULTS["seen"], 2), (FAULTS["catalog"], 7), (_without_contents, 15), (_at_the_old_place, 1)],
)
def test_random_edits_find_a_mistake_in_what_a_statement_depends_on(
    mistake: Callable[[], AbstractContextManager[object]], folder: int
) -> None:
    with mistake(), pytest.raises(AssertionError):
        _edit_folders(1, 5, folder)
