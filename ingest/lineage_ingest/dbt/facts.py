"""What a project states of its tables besides lineage: documentation, labels, contracts, tests with their last results.

dbt's manual: https://docs.getdbt.com/reference/resource-properties/data-tests, …/constraints, …/freshness
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from lineage.frozen import frozen
from lineage.model.diagnostics import Diagnostic, DiagnosticCode, Severity
from lineage.model.dialect import Dialect
from lineage.model.facts import MAX_CHECKS, MAX_TEXT, Check, Constraint, Facts
from lineage.model.names import column_text
from lineage.model.text.name_lists import name_list
from lineage.saved_file import digest_of
from lineage.sql import mask_literals
from lineage_ingest.dbt.artifacts.manifest_nodes import Consumer, DbtNode, DeclaredConstraint, DescribedColumn, TestNode
from lineage_ingest.dbt.artifacts.target_folder import Artifacts
from lineage_ingest.dbt.project import DbtTable
from lineage_ingest.dbt.relation_names import ProjectNames

__all__ = ["ProjectFacts", "TableFacts", "absent_columns"]

_NAMES_COLUMNS = re.compile(r"column|field|(?:\A|_)cols?(?:\Z|_)", re.IGNORECASE)
"""Arguments of generic tests that name columns of the tested table: `column_name`, `combination_of_columns`, …"""
_OF_THE_OTHER = re.compile(r"field|(?:to|compare|other)_\w+", re.IGNORECASE)
"""Those that name columns of the table that it is compared with."""
_CONDITIONS = ("where", "row_condition", "condition")
"""Arguments of generic tests that choose rows, as the setting `where` does."""
_WORST_FIRST = ("error", "fail", "warn", "skipped", None, "pass")


@frozen
class TableFacts:
    """The facts of a node about its table and the table's columns (by path).

    `absent` are the columns that are described or tested, and that the table does not have.
    """

    table: Facts
    columns: Mapping[str, Facts]
    absent: tuple[str, ...] = ()

    def digest(self) -> str:
        """Return a digest of what they say, whenever they say it; empty if they say nothing."""
        if not (self.columns or _says(self.table)):
            return ""
        return digest_of(_said(self.table), *((path, *_said(one)) for path, one in self.columns.items()))


class ProjectFacts:
    """The facts in a project's artifacts; a node's are those of its own properties file and of the tests on it."""

    def __init__(self, artifacts: Artifacts, names: ProjectNames, at: datetime) -> None:
        self._artifacts = artifacts
        self._names = names
        self._at = at
        self._folded: dict[tuple[str, bool], str] = {}
        self._tests: dict[str, list[TestNode]] = defaultdict(list)
        manifest = artifacts.manifest
        self._owners = digest_of(sorted(manifest.owners.items()))
        self._nodes: Mapping[str, DbtNode] = {**manifest.sources, **manifest.nodes}
        for test in manifest.tests.values():
            for key in self._tested(test):
                self._tests[key].append(test)

    def digest_given(self, key: str, columns: Collection[str] | None) -> str:
        """Return a digest of all that `of_table` reads: if it is the same, so are the facts."""
        artifacts = self._artifacts
        tests = [
            (
                artifacts.manifest.stated[test.unique_id],
                artifacts.results.results.get(test.unique_id),
                [self._nodes[other].name for other in test.depends_on.nodes if other in self._nodes],
            )
            for test in self._tests.get(key, ())
        ]
        freshness = artifacts.freshness.get(key)
        return digest_of(artifacts.manifest.stated[key], columns, tests, freshness, self._owners)

    def of_table(self, table: DbtTable, columns: Collection[str] | None) -> TableFacts:
        """Return the facts of a node about its table, whose columns are these; None: they are not known."""
        node = table.node
        source = str(self._names.file_key(node.unique_id))
        paths = {path.lower(): path for path in map(column_text, columns or ())}
        described = {self._path(one.name, paths, bool(one.quote)): one for one in node.columns.values()}
        checks = [self._check(test, node.unique_id, paths, described) for test in self._tests.get(node.unique_id, ())]
        group = node.config.group
        facts = Facts(
            source,
            self._at,
            description=_cut(node.description),
            tags=_tags(node.tags, node.config.tags),
            meta=_meta(node.meta, node.config.meta),
            owner=self._artifacts.manifest.owners.get(group) if group is not None else None,
            is_contracted=node.config.contract.enforced,
            constraints=tuple(self._constraint(one, paths) for one in node.constraints),
            checks=_bounded(checks),
            freshness=self._artifacts.freshness.get(node.unique_id),
        )
        own = {path: self._of_column(source, path, column) for path, column in described.items()}
        for check in checks:
            for path in check.columns:
                known = own.get(path) or Facts(source, self._at)
                own[path] = replace(known, checks=(*known.checks, check))
        absent = tuple(path for path in own if columns is not None and path not in paths.values())
        stated = {path: _with_fewer_checks(one) for path, one in own.items() if _says(one)}
        return TableFacts(facts, stated, absent)

    def of_consumer(self, consumer: Consumer) -> TableFacts:
        """Return the facts of an exposure, metric, semantic model or saved query about itself."""
        group = consumer.group or consumer.config.group
        owner = consumer.owner.name or consumer.owner.email
        facts = Facts(
            str(self._names.file_key(consumer.unique_id)),
            self._at,
            description=_cut(consumer.description),
            tags=_tags(consumer.tags, consumer.config.tags),
            meta=_meta(consumer.meta, consumer.config.meta),
            owner=owner or (self._artifacts.manifest.owners.get(group) if group is not None else None),
        )
        return TableFacts(facts, {})

    def _of_column(self, source: str, path: str, column: DescribedColumn) -> Facts:
        return Facts(
            source,
            self._at,
            description=_cut(column.description),
            tags=_tags(column.tags, column.config.tags),
            meta=_meta(column.meta, column.config.meta),
            data_type=column.data_type,
            constraints=tuple(replace(self._constraint(one, {}), columns=(path,)) for one in column.constraints),
        )

    def _tested(self, test: TestNode) -> Iterable[str]:
        """Return the nodes that a test is about: of a singular test all that its SQL reads."""
        if test.attached_node in self._nodes:
            return (str(test.attached_node),)
        if test.resource_type == "unit_test" and test.tested_node_unique_id in self._nodes:
            return (str(test.tested_node_unique_id),)
        return tuple(dict.fromkeys(key for key in test.depends_on.nodes if key in self._nodes))

    def _check(self, test: TestNode, node: str, paths: Mapping[str, str], described: Collection[str]) -> Check:
        metadata = test.test_metadata
        named = [test.column_name] if test.column_name else []
        for argument, value in metadata.kwargs.items():
            if _NAMES_COLUMNS.search(argument) and not _OF_THE_OTHER.fullmatch(argument):
                named += (
                    one for one in _texts(value) if self._path(one, paths, False) in (*paths.values(), *described)
                )
        others = [self._nodes[key].name for key in test.depends_on.nodes if key != node and key in self._nodes]
        is_generic = bool(metadata.name)
        kind = f"{metadata.namespace}.{metadata.name}" if metadata.namespace else metadata.name
        return Check(
            test.unique_id,
            kind if is_generic else "unit" if test.resource_type == "unit_test" else "singular",
            tuple(dict.fromkeys(self._path(one, paths, False) for one in named)),
            (test.config.severity or "error").lower(),
            others[0] if is_generic and others else None,
            self._artifacts.results.results.get(test.unique_id),
            self._condition(test),
        )

    def _condition(self, test: TestNode) -> str | None:
        """Return which rows a test is about; None: all."""
        arguments = (test.test_metadata.kwargs.get(name) for name in _CONDITIONS)
        found = [one for one in (test.config.where, *arguments) if isinstance(one, str) and one.strip()]
        return _cut(mask_literals(" and ".join(dict.fromkeys(found)), self._dialect)) if found else None

    def _constraint(self, one: DeclaredConstraint, paths: Mapping[str, str]) -> Constraint:
        masked = mask_literals(one.expression, self._dialect) if one.expression else None
        return Constraint(one.type, tuple(self._path(name, paths, False) for name in one.columns), _cut(masked))

    @property
    def _dialect(self) -> Dialect:
        return self._names.naming.dialect

    def _path(self, name: str, paths: Mapping[str, str], quoted: bool) -> str:
        """Return the path of a column named in YAML: that of the table's column, whose case may differ."""
        folded = self._folded.get((name, quoted))
        if folded is None:
            folded = str(column_text(self._dialect.fold_column(name.strip('"`'), quoted=quoted)))
            self._folded[name, quoted] = folded
        return paths.get(folded.lower(), folded)


def absent_columns(table: DbtTable, absent: Collection[str]) -> tuple[str, Diagnostic]:
    """Return the diagnostic of columns that properties describe or test and the table does not have, with the file."""
    names = name_list([f"`{name}`" for name in sorted(absent)], 5)
    message = f"{table.node.name} has no column {names}, which its properties describe or test"
    file = (table.node.patch_path or table.node.original_file_path).partition("://")
    hint = "if it was renamed, rename it in the YAML file as well; its tests are shown with the table"
    return file[2] or file[0], Diagnostic(DiagnosticCode.UNKNOWN_COLUMN, Severity.INFO, message, hint=hint)


def _says(facts: Facts) -> bool:
    return any(_said(facts))


def _said(facts: Facts) -> tuple[object, ...]:
    """Return what facts say, without who says it when."""
    return (
        facts.description, facts.tags, facts.meta, facts.owner, facts.data_type, facts.is_contracted,
        facts.constraints, facts.checks, facts.freshness,
    )  # fmt: skip


def _with_fewer_checks(facts: Facts) -> Facts:
    return facts if len(facts.checks) <= MAX_CHECKS else replace(facts, checks=_bounded(facts.checks))


def _tags(*lists: Collection[str]) -> tuple[str, ...]:
    return tuple(sorted({tag for one in lists for tag in one if tag.strip()})) if any(lists) else ()


def _texts(value: Any) -> Iterator[str]:
    for one in value if isinstance(value, list) else (value,):
        if isinstance(one, str):
            yield one


def _cut(text: str | None) -> str | None:
    if text is None or len(text) <= MAX_TEXT:
        return text or None
    return f"{text[: MAX_TEXT - 1]}…"


def _meta(*levels: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return metadata as JSON values, of the last level that has a name; what exceeds the maximum is left out."""
    if not any(levels):
        return ()
    values = {name: value for level in levels for name, value in level.items()}
    found, length = [], 0
    for name, value in values.items():
        text = json.dumps(value, ensure_ascii=False, default=str, sort_keys=True)
        length += len(name) + len(text)
        if length > MAX_TEXT:
            break
        found.append((str(name), text))
    return tuple(found)


def _bounded(checks: Collection[Check]) -> tuple[Check, ...]:
    """Return the tests, of too many the worst."""
    if len(checks) <= MAX_CHECKS:
        return tuple(checks)
    order = {status: number for number, status in enumerate(_WORST_FIRST)}
    return tuple(sorted(checks, key=lambda one: order.get(one.result.status if one.result else None, 0))[:MAX_CHECKS])
