"""`lineage pii`: where personal data goes, who reads it, and how to erase it."""

from __future__ import annotations

import io
from collections.abc import Iterable
from contextlib import redirect_stdout
from dataclasses import asdict
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from lineage.cli.commands.pii_access import access, grants
from lineage.cli.commands.tag import RulesOption, rules_of
from lineage.cli.pii_options import BreakersOption, ClassOption, FunctionsOption, breakers_of, functions_of
from lineage.cli.store_options import FormatOption, StoreOption
from lineage.governance.erasure.erasure_plan import plan_erasure
from lineage.governance.erasure.erasure_text import check_script, erasure_script, plan_values
from lineage.governance.exposure import EXPOSURES
from lineage.governance.report.pii_report import PiiReport, SourceColumn, make_report
from lineage.governance.report.policy import Policy, read_policy
from lineage.governance.report.report_diff import ExposureChange, changed_exposures, read_saved_report
from lineage.governance.report.report_pdf import PdfUnavailableError, pdf_document
from lineage.governance.report.report_text import REPORT_COLUMNS, html_page, markdown, report_rows, summary_sentences
from lineage.governance.report.tag_coverage import tag_coverage
from lineage.governance.tags.tagging import classify, named_column
from lineage.governance.yaml_files import GovernanceFileError
from lineage.model.names import dataset_of
from lineage.screen.formats import OutputFormat, print_listing, print_object
from lineage.screen.json_text import json_text
from lineage.screen.layout import Look
from lineage.screen.listing import counted, note, say
from lineage.store import open_store
from lineage.traversal import resolve_table

__all__ = ["app"]

app = typer.Typer(
    help="Where does personal data go, who reads it, and how is it erased?\n\n"
    "Example: lineage pii report --format html --output report.html",
    no_args_is_help=True,
)


class ReportFormat(StrEnum):
    """Formats of the report."""

    TABLE = "table"
    HTML = "html"
    PDF = "pdf"
    MARKDOWN = "markdown"
    CSV = "csv"
    JSON = "json"


class PlanFormat(StrEnum):
    """Formats of a plan."""

    SQL = "sql"
    JSON = "json"


_LOOK = Look(
    names=("column", "source"), words=("proof",), cuts=("exposure",),
    styles={"proof": "dim"},
)  # fmt: skip
_TABLE = (
    "column", "exposure", "source", "confidence", "hops", "since", "verdict", "reads", "users", "last read",
    "warehouse", "proof",
)  # fmt: skip


@app.command()
def report(
    class_: ClassOption = None,
    output: Annotated[ReportFormat, typer.Option("--format", "-f", help="Output format.")] = ReportFormat.TABLE,
    file: Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file.", metavar="FILE")] = None,
    policy: Annotated[
        Path | None, typer.Option("--policy", help="YAML file of what may be where.", metavar="FILE")
    ] = None,
    diff: Annotated[
        Path | None,
        typer.Option("--diff", help="Only what is new since this report (--format json).", metavar="REPORT"),
    ] = None,
    rules: RulesOption = None,
    functions: FunctionsOption = None,
    breakers: BreakersOption = None,
    store: StoreOption = None,
) -> None:
    """Where do the values of tagged columns go?

    Each reached column is unmasked, partial, aggregated or masked, with a shortest path and the SQL that proves it. A
    tagged column whose values come unmasked from another tagged column is listed under that one. Exit status 1: the
    policy denies what is there, or, with --diff, more is shown than before.

    --format pdf needs the extra `pdf`: pip install '.[pdf]' in a checkout of lineage.

    Example: lineage pii report --class email --policy policy.yaml
    """
    rulings, saved = _files(policy, diff)
    if output is ReportFormat.PDF and file is None:
        raise typer.BadParameter("PDF needs a file: --output report.pdf", param_hint="--format")
    if file is not None and (output is ReportFormat.TABLE or saved is not None):
        raise typer.BadParameter("a table, or what is new (--diff), is not written to a file", param_hint="--output")
    with open_store(store, read_only=True) as opened:
        classes = rules_of(rules)
        found = classify(opened, classes)
        wanted = {one.lower() for one in class_ or ()}
        known = functions_of(functions)
        made = make_report(
            opened, found, known, datetime.now(UTC), classes=wanted, policy=rulings,
            breakers=breakers_of(breakers, opened),
        )  # fmt: skip
    if not made.sources:
        what = f"of class {', '.join(sorted(wanted))}" if wanted else "with personal data"
        note(f"no column {what} is tagged: `lineage tag scan` tags by names, `lineage tag add` by hand", "yellow")
    if rulings is not None:
        tagged = {one.name for tags in found.tags.values() for one in tags}
        for name in rulings.unknown_classes({*classes.classes, *tagged}):
            note(f"policy without effect: there is no class {name}", "yellow")
    is_worse = False
    if saved is not None:
        is_worse = _print_changes(changed_exposures(saved, made), output)
    elif file is not None or output is not ReportFormat.TABLE:
        _print_text(made, output, file)
    else:
        _print_table(made)
        _print_ends(made.sources)
    for source, holder in made.denied:
        note(f"denied: {holder.name} is {holder.exposure}, from {source.name}", "red")
    if made.denied or is_worse:
        raise typer.Exit(1)


@app.command()
def where(
    column: Annotated[str, typer.Argument(help="A column, tagged or not.")],
    rules: RulesOption = None,
    functions: FunctionsOption = None,
    breakers: BreakersOption = None,
    store: StoreOption = None,
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """Where are the values of this column?

    Each other column that holds them, and what it shows of them.

    Example: lineage pii where shop.customers.email
    """
    with open_store(store, read_only=True) as opened:
        found = classify(opened, rules_of(rules))
        key = named_column(opened, column)
        known = functions_of(functions)
        anonymous = breakers_of(breakers, opened)
        made = make_report(opened, found, known, datetime.now(UTC), columns=[key], breakers=anonymous)
    [source] = made.sources

    def values() -> dict[str, Any]:
        whole = made.to_dict()
        return {**whole["sources"][0], "blind_spots": whole["blind_spots"]}

    people = partial(_print_source, made, source)
    print_listing(REPORT_COLUMNS, report_rows(made), output, values=values, people=people)


def _print_source(made: PiiReport, source: SourceColumn) -> None:
    classes = ", ".join(one.name for one in source.tags) or "no tag"
    counts = ", ".join(f"{source.by_exposure[one]:,} {one}" for one in EXPOSURES if source.by_exposure[one])
    holders = f"{counted(len(source.holders), 'other column')}: {counts}" if counts else "no other column that is known"
    say(f"{source.name} ({classes}) is in {holders}", subject=source.name)
    for sentence in source.own.protection.sentences:
        note(f"in the warehouse: {sentence}")
    if source.holders:
        _print_holders(made, with_source=False)
    for one in source.influenced:
        note(f"it decides about {one.name} ({', '.join(one.how)}){', masked' if one.masked else ''}")
    _print_ends([source])
    for spot in made.blind_spots:
        note(f"not known: {spot.what} ({spot.why})", "yellow")


def _print_ends(sources: Iterable[SourceColumn]) -> None:
    """Name the columns at which values were not followed, and the tables that may hold them."""
    for name in sorted({name for source in sources for name in source.stopped}):
        note(f"not followed into {name}, which is marked as no personal data (lineage tag list {name})", "yellow")
    for name in sorted({name for source in sources for name in source.possibly}):
        note(f"values may be in {name}, which is written by SQL whose columns are not known", "yellow")


@app.command()
def drift(
    class_: ClassOption = None,
    tag: Annotated[
        str | None, typer.Option("--tag", help="Name of the tag to set; default: the most frequent.", metavar="TAG")
    ] = None,
    sql: Annotated[bool, typer.Option("--sql", help="Only the statements that would set tags and masks.")] = False,
    rules: RulesOption = None,
    functions: FunctionsOption = None,
    breakers: BreakersOption = None,
    store: StoreOption = None,
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """Which columns with personal data have no tag in the warehouse?

    By number of hops from the source: how many columns have the tag in the warehouse, and how many a mask. Then the
    columns without the tag, and the statements that would set it. Nothing is run here.

    Example: lineage pii drift --class email --sql
    """
    wanted = {one.lower() for one in class_ or ()}
    with open_store(store, read_only=True) as opened:
        known = rules_of(rules)
        found = classify(opened, known)
        made = make_report(
            opened, found, functions_of(functions), datetime.now(UTC), classes=wanted,
            breakers=breakers_of(breakers, opened),
        )  # fmt: skip
        coverage = tag_coverage(opened, made, found, known, tag=tag)
    if not coverage.is_known:
        note("nothing that was ingested states tags or policies: the warehouse may have them all the same", "yellow")
    if sql:
        print("".join(f"{statement}\n" for one in coverage.drift for statement in one.statements), end="")
        return
    columns = ("column", "class", "hops", "tag", "mask", "other tags", "statements")
    rows = [
        (
            one.column, one.classes, one.hops, "yes" if one.has_tag else "no", "yes" if one.has_mask else "no",
            one.has_other, one.statements,
        )
        for one in coverage.drift
    ]  # fmt: skip
    if output.is_for_people:
        for hop in coverage.hops:
            at = "sources" if not hop.hops else f"{counted(hop.hops, 'hop')} away"
            say(f"{at}: {counted(hop.columns, 'column')}, {hop.tagged / hop.columns:.0%} tagged, "
                f"{hop.masked / hop.columns:.0%} masked in the warehouse")  # fmt: skip
    values = {
        "is_known": coverage.is_known,
        "hops": [asdict(one) for one in coverage.hops],
        "drift": [dict(zip(columns, row, strict=True)) for row in rows],
    }
    print_listing(columns, rows, output, Look(names=("column",), words=("statements",)), values=lambda: values)


app.command()(access)
app.command()(grants)


@app.command("erase-plan")
def erase_plan(
    column: Annotated[str, typer.Argument(help="A column with data of the person.")],
    key: Annotated[str, typer.Option("--key", help="The column that identifies the person, of the same table.")],
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", help="Keep the rows of this table, and clear its personal columns. Repeatable."),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Only the queries that count what is left.")] = False,
    rules: RulesOption = None,
    functions: FunctionsOption = None,
    store: StoreOption = None,
    output: Annotated[PlanFormat, typer.Option("--format", "-f", help="Output format.")] = PlanFormat.SQL,
) -> None:
    """Plan the erasure of a person, as SQL text.

    Table by table, in order. Nothing is run here.

    Rows are tied to the person by copies of the key and by columns that SQL joins, else by names (marked CHECK). What
    the statements do not reach is named: sums, hashes, exports, backups.

    Example: lineage pii erase-plan shop.customers.email --key shop.customers.id
    """
    with open_store(store, read_only=True) as opened:
        found = classify(opened, rules_of(rules))
        target, person = named_column(opened, column), named_column(opened, key)
        if dataset_of(target) != dataset_of(person):
            raise typer.BadParameter("it has to be a column of the same table", param_hint="--key")
        kept = [resolve_table(opened, one).key for one in keep or ()]
        plan = plan_erasure(opened, found, functions_of(functions), target, person, kept)
    if output is PlanFormat.JSON:
        print_object(plan_values(plan))
    else:
        print(check_script(plan) if check else erasure_script(plan), end="")


def _files(policy: Path | None, diff: Path | None) -> tuple[Policy | None, dict[str, object] | None]:
    """Return the policy and the earlier report, or exit with 2: an error names the line of a file."""
    try:
        return read_policy(policy) if policy else None, read_saved_report(diff) if diff else None
    except GovernanceFileError as error:
        note(f"error: {error}", "red")
        raise typer.Exit(2) from error


def _text(made: PiiReport, output: ReportFormat) -> str | None:
    if output is ReportFormat.HTML:
        return html_page(made)
    if output is ReportFormat.MARKDOWN:
        return markdown(made)
    if output is ReportFormat.JSON:
        return json_text(made.to_dict()) + "\n"
    if output is ReportFormat.CSV:
        with redirect_stdout(io.StringIO()) as written:
            print_listing(REPORT_COLUMNS, report_rows(made), OutputFormat.CSV)
        return written.getvalue()
    return None


def _write_pdf(made: PiiReport, file: Path) -> None:
    """Write the report as PDF, or exit with 2 and say what to install."""
    try:
        document = pdf_document(made)
    except PdfUnavailableError as error:
        note(f"error: {error}", "red")
        note(error.hint)
        raise typer.Exit(2) from error
    file.write_bytes(document)
    note(f"written to {file}")


def _print_table(made: PiiReport) -> None:
    for sentence in summary_sentences(made):
        say(sentence)
    if made.sources:
        print()
        _print_holders(made, with_source=True)


def _print_holders(made: PiiReport, *, with_source: bool) -> None:
    places = [REPORT_COLUMNS.index(name) for name in _TABLE]
    hidden = set() if made.has_policy else {_TABLE.index("verdict")}
    if not with_source:
        hidden.add(_TABLE.index("source"))
    rows = [
        [None if at in hidden else row[place] or None for at, place in enumerate(places)]
        for row, (_, holder) in zip(report_rows(made), made.rows, strict=True)
        if holder.path or made.has_policy or len(made.sources) > 1
    ]
    print_listing(_TABLE, rows, OutputFormat.TABLE, _LOOK)


def _print_text(made: PiiReport, output: ReportFormat, file: Path | None) -> None:
    """Print the report as text, or write it to a file."""
    if output is ReportFormat.PDF and file is not None:
        _write_pdf(made, file)
    text = _text(made, output)
    if file is not None and text is not None:
        file.write_text(text, encoding="utf-8")
        note(f"written to {file}")
    elif text is not None:
        print(text, end="")


def _print_changes(changes: list[ExposureChange], output: ReportFormat) -> bool:
    """Print what has changed, and return whether more is shown than before."""
    worse = sum(one.is_worse for one in changes)
    rows = [(one.source, one.column, one.before, one.now, "more" if one.is_worse else "less") for one in changes]
    formats = {ReportFormat.JSON: OutputFormat.JSON, ReportFormat.CSV: OutputFormat.CSV}
    listed = formats.get(output, OutputFormat.TABLE)
    print_listing(("source", "column", "before", "now", "shows"), rows, listed, Look(names=("source", "column")))
    note(f"{counted(len(changes), 'change')} since that report; {worse:,} show more than before")
    return worse > 0
