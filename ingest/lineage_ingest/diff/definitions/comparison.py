"""`compare_projects`: the tables of two revisions of a project, compared as far as an edit may affect them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from lineage.frozen import frozen
from lineage_ingest.diff.definitions.affected_definitions import affected_definitions
from lineage_ingest.diff.definitions.classification import TableDiff, TableEffect, compare_forms
from lineage_ingest.diff.definitions.forms import Form, ProjectForms
from lineage_ingest.diff.definitions.table_definitions import Build, ProjectRevision

__all__ = ["ProjectComparison", "compare_projects"]

Progress = Callable[[str, int, int], None]


@frozen
class ProjectComparison:
    """What happens to each table, by key, and the canonical forms of those that were compared.

    `inlined` are the definitions that become no relation: the models that read them contain their SQL.
    """

    before: Mapping[str, Form]
    after: Mapping[str, Form]
    tables: dict[str, TableDiff]
    inlined: dict[str, TableDiff]


def compare_projects(
    base: ProjectRevision, head: ProjectRevision, progress: Progress | None = None
) -> ProjectComparison:
    """Compare two revisions. What no edit may affect is unchanged, and is not parsed.

    The tables of `head` come first, each after those that it reads, as far as both were compared.
    """
    notify = progress or (lambda _stage, _done, _total: None)
    earlier = ProjectForms(base)
    later = ProjectForms(head, earlier)
    wanted = _needed(earlier, later, affected_definitions(base, head))
    before = earlier.build(wanted, lambda done, total: notify("reading base", done, total))
    after = later.build(wanted, lambda done, total: notify("reading head", done, total))
    dialect, is_moved = head.naming.dialect.name, base.naming == head.naming
    inlined, tables = (
        compare_forms(
            _built(before, is_built=is_built), _built(after, is_built=is_built), dialect, is_moved=is_built and is_moved
        )
        for is_built in (False, True)
    )
    for key, one in head.definitions.items():
        if key not in after:
            found = inlined if one.build is Build.EPHEMERAL else tables
            found[key] = TableDiff(
                key, one.name, one.title, one.source, one.build, TableEffect.UNCHANGED, name_before=one.name
            )
    return ProjectComparison(before, after, tables, inlined)


def _needed(base: ProjectForms, head: ProjectForms, keys: Collection[str]) -> set[str]:
    """Return these keys and those of all that they read in either revision: what is compared must be there in both."""
    closure = set(keys)
    while True:
        needed = closure.union(base.in_order(closure), head.in_order(closure))
        if needed == closure:
            return closure
        closure = needed


def _built(forms: Mapping[str, Form], *, is_built: bool) -> dict[str, Form]:
    """Return the forms of the definitions that become relations, or of those that their readers contain."""
    return {key: form for key, form in forms.items() if (form.definition.build is not Build.EPHEMERAL) == is_built}
