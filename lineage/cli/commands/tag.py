"""`lineage tag`: say which columns hold personal data, and of which class."""

from __future__ import annotations

import getpass
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from lineage.cli.store_options import FormatOption, LockTimeoutOption, StoreOption
from lineage.governance.tags.rules import ClassRules, matching_tags, read_rules
from lineage.governance.tags.sample_values import LEAST_VALUES, Verdicts, judge_samples, read_samples
from lineage.governance.tags.tag_csv import read_tag_csv
from lineage.governance.tags.tagging import ANY_CLASS, classify, column_to_tag, named_column
from lineage.governance.tags.value_checks import ChecksUnavailableError, UnknownCheckError
from lineage.governance.yaml_files import GovernanceFileError
from lineage.screen.formats import OutputFormat, print_figures, print_listing
from lineage.screen.layout import Look
from lineage.screen.listing import counted, note, say
from lineage.store import open_store
from lineage.store.protocol import GraphStore
from lineage.store.values import StoredTag, TagName
from lineage.traversal import NameLookupError
from lineage.traversal.lookup import names_of

__all__ = ["RulesOption", "app", "rules_of"]

app = typer.Typer(
    help="Say which columns hold personal data, and of which class.\n\n"
    "Example: lineage tag add shop.customers.email email --why 'asked for in the form'",
    no_args_is_help=True,
)

RulesOption = Annotated[
    Path | None,
    typer.Option("--rules", help="YAML file of classes, instead of the default ones.", metavar="FILE"),
]
_ColumnArgument = Annotated[str, typer.Argument(help="A column: schema.table.column, or its key.")]
_ClassArgument = Annotated[str, typer.Argument(help="A class: email, phone, name, address, …", metavar="CLASS")]
_ByOption = Annotated[
    str | None, typer.Option("--by", help="Who says so. Default: your user name.", envvar="LINEAGE_USER")
]
_WhyOption = Annotated[str, typer.Option("--why", help="The reason, which is shown with the tag.")]
_COLUMNS = ("column", "class", "confidence", "source", "by", "at", "why")
_LOOK = Look(names=("column",), words=("why",), cuts=("confidence",), styles={"why": "dim"})


def rules_of(path: Path | None) -> ClassRules:
    """Return the rules of a file, or the default ones.

    Raises:
        typer.BadParameter: the file is wrong; the message says where.
    """
    try:
        return read_rules(path)
    except GovernanceFileError as error:
        raise typer.BadParameter(str(error), param_hint="--rules") from error


@app.command()
def add(
    column: _ColumnArgument,
    class_: _ClassArgument,
    why: _WhyOption = "",
    confidence: Annotated[float, typer.Option(min=0.01, max=1, help="How sure it is.", metavar="N")] = 1.0,
    by: _ByOption = None,
    store: StoreOption = None,
    lock_timeout: LockTimeoutOption = None,  # noqa: ARG001
) -> None:
    """Add a tag to a column. Other tags of the column stay.

    A column that is not known keeps the tag as pending.

    Example: lineage tag add shop.customers.email email --why 'asked for in the form'
    """
    _state(store, column, class_, why, confidence, by, denied=False)


@app.command()
def deny(
    column: _ColumnArgument,
    class_: Annotated[str, typer.Argument(help="A class; pii denies all.", metavar="CLASS")] = ANY_CLASS,
    why: _WhyOption = "",
    by: _ByOption = None,
    store: StoreOption = None,
    lock_timeout: LockTimeoutOption = None,  # noqa: ARG001
) -> None:
    """Say that a column does not hold personal data. It wins over tags of rules and others.

    Reports do not follow values beyond such a column, and name it.

    Example: lineage tag deny shop.orders.email_template --why 'text of the shop'
    """
    _state(store, column, class_, why, 1.0, by, denied=True)


@app.command()
def remove(
    column: _ColumnArgument,
    class_: _ClassArgument,
    source: Annotated[str, typer.Option(help="Whose tag: manual, csv, rules, …; `all` for all of them.")] = "manual",
    store: StoreOption = None,
    lock_timeout: LockTimeoutOption = None,  # noqa: ARG001
) -> None:
    """Remove one tag, or a denial, of a column. Other tags of the column stay.

    Example: lineage tag remove shop.customers.email email
    """
    with open_store(store) as opened:
        key, _ = column_to_tag(opened, column)
        known = [one for one in opened.tags([key]) if one.name == class_.lower()]
        gone = [one.identity for one in known if source in ("all", one.source)]
        opened.change_tags(removed=gone)
    if gone:
        say(f"removed {class_.lower()} of {column}")
        return
    others = sorted({one.source for one in known})
    note(f"no tag {class_.lower()} of {column} by {source}" + (f"; by {', '.join(others)}" if others else ""), "yellow")
    raise typer.Exit(1)


@app.command("list")
def list_tags(
    column: Annotated[str | None, typer.Argument(help="Only this column.")] = None,
    class_: Annotated[list[str] | None, typer.Option("--class", help="Only this class. Repeatable.")] = None,
    rules: RulesOption = None,
    store: StoreOption = None,
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """List tags: who says them, when and why.

    Denials and pending tags are listed, too. Classes among the tags of dbt and of `describe` count.

    Example: lineage tag list --class email
    """
    with open_store(store, read_only=True) as opened:
        wanted = {one.lower() for one in class_ or ()}
        key = named_column(opened, column) if column else None
        classification = classify(opened, rules_of(rules))
        listed = [
            (where, tag)
            for tags in (classification.tags, classification.denials)
            for where, all_ in tags.items()
            for tag in all_
        ]
        listed += [(tag.column, tag) for tag in classification.pending]
        listed = [(at, tag) for at, tag in listed if key in (None, at) and (not wanted or tag.name in wanted)]
        names = names_of(opened, {at for at, _ in listed})
    pending = set(classification.pending)
    rows = [_row(names[at], tag, pending=tag in pending) for at, tag in sorted(listed)]
    empty = "no tags; `lineage tag scan` proposes some by the names of columns"
    print_listing(_COLUMNS, rows, output, _LOOK, empty=empty)


@app.command("import")
def import_csv(
    file: Annotated[Path, typer.Argument(help="CSV: column,class,action,confidence,why.")],
    by: _ByOption = None,
    store: StoreOption = None,
    lock_timeout: LockTimeoutOption = None,  # noqa: ARG001
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """Add, remove and deny tags from a CSV file, in one transaction.

    `action` is add (default), remove or deny. Columns that are not known keep their tags as pending. A wrong line is
    an error with line and column, and nothing is changed.

    Example: lineage tag import tags.csv
    """
    try:
        lines = read_tag_csv(file)
    except GovernanceFileError as error:
        note(f"error: {error}", "red")
        raise typer.Exit(1) from error
    added, removed, pending = [], [], []
    now, author = datetime.now(UTC), by or getpass.getuser()
    with open_store(store) as opened:
        for row in lines:
            try:
                key, unknown = column_to_tag(opened, row.column)
            except NameLookupError as error:
                note(f"error: {file}:{row.line}:1: {error}; nothing was changed", "red")
                raise typer.Exit(1) from error
            if unknown is not None:
                pending.append(row)
            if row.action == "remove":
                removed.append(TagName(key, row.name, "csv"))
            else:
                denied = row.action == "deny"
                tag = StoredTag(key, row.name, "csv", now, author, row.why or str(file), row.confidence, denied)
                added.append(tag)
        changed, gone = opened.change_tags(added, removed)
    for row in pending:
        note(f"pending: line {row.line}: {row.column} is not known yet", "yellow")
    print_figures(
        {"lines": len(lines), "changed": changed, "removed": gone, "pending": len(pending)},
        output,
        people=lambda: say(f"{counted(len(lines), 'line')}: {counted(changed, 'tag')} changed, {gone:,} removed"),
    )


@app.command()
def scan(
    rules: RulesOption = None,
    samples: Annotated[
        list[Path] | None,
        typer.Option(
            "--samples",
            help="CSV file of sample values, named as its table (shop.customers.csv), or a folder of such. Repeatable.",
            metavar="PATH",
            exists=True,
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List what would be tagged; change nothing.")] = False,
    store: StoreOption = None,
    lock_timeout: LockTimeoutOption = None,  # noqa: ARG001
    output: FormatOption = OutputFormat.TABLE,
) -> None:
    """Tag columns by rules on names, types, comments, sample values.

    Tags of rules that no longer match are removed. Those of people, and what they deny, stay. Of sample values only
    the number that passes a check is kept.

    Example: lineage tag scan --dry-run

    Example, values: lineage tag scan --samples samples/
    """
    found = rules_of(rules)
    by = str(rules) if rules else "default rules"
    with open_store(store, read_only=dry_run) as opened:
        columns = opened.columns(opened.dataset_keys())
        now = datetime.now(UTC)
        verdicts = _judge(opened, samples or (), found, now, by)
        tags = [*map(verdicts.with_share, matching_tags(columns, found, now, by)), *verdicts.tags]
        ours = [
            one
            for one in opened.tags()
            if one.source in ("rules", "comment") or (one.source == "samples" and one.column in verdicts.judged)
        ]
        old = {one.identity for one in ours} - {one.identity for one in tags}
        changed, gone = (len(tags), len(old)) if dry_run else opened.change_tags(tags, old)
        names = names_of(opened, {one.column for one in tags})
    if dry_run or not output.is_for_people:
        print_listing(_COLUMNS, [_row(names[one.column], one) for one in sorted(tags)], output, _LOOK)
    counts = ", ".join(
        f"{name} {number:,}"
        for name, number in sorted(Counter(name for _, name in {(one.column, one.name) for one in tags}).items())
    )
    done = "would be tagged" if dry_run else f"tagged ({changed:,} changed, {gone:,} removed)"
    note(f"{counted(len({one.column for one in tags}), 'column')} of {len(columns):,} {done}: {counts or 'none'}")


def _judge(store: GraphStore, paths: Sequence[Path], rules: ClassRules, at: datetime, by: str) -> Verdicts:
    """Return what sample values say, and name what of them was not used; exit with 1 or 2 if a file is wrong."""
    if not paths:
        return Verdicts(frozenset(), (), {})
    try:
        samples = read_samples(store, paths)
        verdicts = judge_samples(samples, rules, at, by)
    except GovernanceFileError as error:
        note(f"error: {error}", "red")
        raise typer.Exit(1) from error
    except (ChecksUnavailableError, UnknownCheckError) as error:
        note(f"error: {error}", "red")
        if isinstance(error, ChecksUnavailableError):
            note(error.hint)
        raise typer.Exit(2) from error
    for problem in samples.problems:
        note(f"not used: {problem}", "yellow")
    few = len(samples.values) - len(verdicts.judged)
    rest = f"; {few:,} with fewer than {LEAST_VALUES} different ones say nothing" if few else ""
    note(f"sample values of {counted(len(verdicts.judged), 'column')} checked{rest}")
    return verdicts


def _state(
    store: str | None, column: str, class_: str, why: str, confidence: float, by: str | None, *, denied: bool
) -> None:
    """Store a tag of a person, and say what is stored."""
    name = class_.strip().lower()
    if not name or len(name) > 100:
        raise typer.BadParameter("a class has 1 to 100 characters", param_hint="CLASS")
    with open_store(store) as opened:
        key, unknown = column_to_tag(opened, column)
        others = _others(opened, key, name)
        tag = StoredTag(key, name, "manual", datetime.now(UTC), by or getpass.getuser(), why, confidence, denied)
        changed, _ = opened.change_tags([tag])
        shown = names_of(opened, [key])[key]
    what = f"not {name}" if denied else name
    say(f"{shown}: {what}{others}" if changed else f"{shown}: {what}, as before{others}", subject=shown)
    if unknown is not None:
        note(f"pending: {unknown}; the tag counts once the column is known", "yellow")
        if unknown.hint:
            note(unknown.hint)


def _others(store: GraphStore, key: str, name: str) -> str:
    others: Iterable[str] = sorted({("not " if one.denied else "") + one.name for one in store.tags([key])} - {name})
    return f" (also: {', '.join(others)})" if others else ""


def _row(name: str, tag: StoredTag, *, pending: bool = False) -> tuple[object, ...]:
    shown = f"not {tag.name}" if tag.denied else tag.name
    why = f"pending: the column is not known{f'; {tag.why}' if tag.why else ''}" if pending else tag.why
    at = None if tag.at.year == 1970 else f"{tag.at:%Y-%m-%d %H:%M}"
    return (name, shown, f"{tag.confidence:.2f}", tag.source, tag.stated_by, at, why)
