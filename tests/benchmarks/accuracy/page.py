"""docs/accuracy.md: the tables as Markdown."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from tests.benchmarks.accuracy.corpora import Corpus
from tests.benchmarks.accuracy.scoring import Score
from tests.benchmarks.accuracy.tools import OURS, TOOLS

__all__ = ["PAGE", "Figures", "Measured", "as_markdown", "row"]

PAGE = Path(__file__).parents[3] / "docs" / "accuracy.md"
_COLUMNS = ("tool", "exact statements", "exact columns", "coverage", "wrong though full", "at most")


class Measured(NamedTuple):
    """A tool's answers on a corpus, with statements per second of the processor's time and the peak memory."""

    score: Score
    speed: float | None
    peak_mb: int | None


Figures: TypeAlias = "dict[str, Measured]"
"""A tool's answers, by corpus."""


def row(tool: str, found: Score) -> str:
    """Return a tool's row in the table of a corpus."""
    cells = (
        tool,
        f"{found.exact} of {found.statements}",
        _share(found.exact_columns, found.columns),
        _share(found.covered, found.sourced),
        f"{found.wrong_though_full} of {found.claimed}",
        f"{found.bound * 100:.1f} %" if found.claimed else "",
    )
    return f"| {' | '.join(cells)} |"


def as_markdown(corpora: Sequence[Corpus], figures: Mapping[str, Figures | str], seconds: int) -> str:
    """Return the page; `figures` are by tool and corpus, or say why a tool could not be installed."""
    lines = [*_introduction(seconds)]
    for corpus in corpora:
        lines += ["", f"## {corpus.title}", "", f"{len(corpus.statements)} statements; truth: {corpus.truth}.", ""]
        lines += [f"| {' | '.join(_COLUMNS)} |", f"|{'---|' * len(_COLUMNS)}"]
        for tool, found in figures.items():
            if isinstance(found, str):
                lines.append(f"| {tool} | not installed |{' |' * (len(_COLUMNS) - 2)}")
            elif corpus.name in found:
                lines.append(row(tool, found[corpus.name].score))
        lines += _examples(corpus, figures)
    return "\n".join([*lines, *_tools(figures)]) + "\n"


def _introduction(seconds: int) -> list[str]:
    return f"""\
# Accuracy

Column lineage of real statements, compared with what somebody else says of them: a database, or an engine. One command
writes this page. It installs the other tools from PyPI, each into its own environment:

<!-- parsed only: it takes a quarter of an hour, and needs a package index -->
```sh
python -m tests.benchmarks accuracy
```

`python -m tests.benchmarks.accuracy` asks this project only, and keeps the figures of the others. A test compares this
project's rows with what it answers now.

- **exact statements**: for every output column every source of its value is reported, and no other one.
- **exact columns**: the same for each output column.
- **coverage**: of the output columns whose value has a source, those for which any was reported.
- **wrong though full**: of the answers that the tool itself calls complete, those that are not exact. Tools that do not
  say whether an answer is complete claim it by answering without an error.
- **at most**: with 95 % confidence, the chance that such an answer is wrong is not higher (Clopper and Pearson,
  one-sided; about 3/n if none of n is wrong). It holds for statements like those of the corpus.

Names compare without case and quotes, tables by their last part, a nested field as its column. Every tool gets the
schema of a statement's tables, if it takes one. Only values are compared, since the other tools do not agree on what a
reference is; the test of a CASE counts as a source. A statement may take {seconds} seconds of the processor.

Truth: PostgreSQL 15 resolved the queries of MIMIC-IV (MIT-LCP/mimic-code) and TPC-H, and the sources were read off its
parse tree; the concepts for DuckDB and BigQuery have the same lineage as those for PostgreSQL. Hive prints the lineage
of each statement of its tests. That is not always what the text says: every difference between Hive and this project
was read and judged (`tests/truth/hive_differences.json`); where Hive is wrong, every tool may give the text's sources
or Hive's. The other tools' differences were not judged one by one, so a few of them may be right. For TPC-DS the
sources were read off Spark's analysed plan, of the 96 files of which it has them all; columns that the text does not
name are left out (`tests/data/README.md` has the details).""".splitlines()


def _examples(corpus: Corpus, figures: Mapping[str, Figures | str]) -> list[str]:
    """Return what our own answers get wrong, and how many errors the tools report."""
    lines: list[str] = []
    own = figures.get(OURS.name)
    if isinstance(own, dict) and corpus.name in own and (wrong := own[corpus.name].score.first_wrong):
        listed = "; ".join(f"`{name}`: {problem}" for name, problem in wrong.items())
        lines += ["", *textwrap.wrap(f"Ours that are not exact, the first {len(wrong)}: {listed}.", 120)]
    errors = [
        f"{tool} {found[corpus.name].score.errors}"
        for tool, found in figures.items()
        if isinstance(found, dict) and corpus.name in found and found[corpus.name].score.errors
    ]
    if errors:
        lines += ["", f"No answer, by number of statements: {', '.join(errors)}."]
    return lines


def _tools(figures: Mapping[str, Figures | str]) -> list[str]:
    lines = ["", "## Tools", ""]
    for tool in TOOLS:
        packages = f"`{' '.join(tool.packages)}`: " if tool.packages else ""
        text = f"- {tool.name}: {packages}{tool.note}."
        lines += textwrap.wrap(text, 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        why = figures.get(tool.name)
        if isinstance(why, str):
            lines.append(f"  It could not be installed: {why}.")
    return lines


def _share(part: int, whole: int) -> str:
    """Return a share rounded down: 100 % means all."""
    return f"{int(part / whole * 1000) / 10:.1f} %" if whole else ""
