"""How far the warehouse itself knows: which columns with personal data carry their class as a tag there, hop by hop.

The statements that would close the difference are text, and nothing runs them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime

from lineage.frozen import frozen
from lineage.governance.exposure import Exposure
from lineage.governance.report.pii_report import Holder, PiiReport
from lineage.governance.sql_names import quoted_name, quoted_table
from lineage.governance.tags.rules import ClassRules
from lineage.governance.tags.tagging import Classification
from lineage.governance.warehouse.warehouse_policies import WarehousePolicies, class_of_tag, load_warehouse_policies
from lineage.model.names import split_column_key
from lineage.store.protocol import GraphStore

__all__ = ["Drift", "HopCoverage", "TagCoverage", "tag_coverage"]

_SHOWING = (Exposure.UNMASKED, Exposure.PARTIAL)
_DEFAULT_TAG = "pii"


@frozen
class HopCoverage:
    """Of the columns that are reached in so many steps: how many carry the class as a tag, and how many a mask."""

    hops: int
    columns: int
    tagged: int
    masked: int


@frozen
class Drift:
    """A column whose class the warehouse does not have as a tag, or which no policy masks there."""

    column: str
    classes: tuple[str, ...]
    hops: int
    has_tag: bool
    has_mask: bool
    has_other: tuple[str, ...]
    """Classes that it has there instead."""
    statements: tuple[str, ...]


@frozen
class TagCoverage:
    """The coverage by hop, and the columns that differ, those nearest to a source first.

    Unless `is_known`, nothing that was ingested says which tags and policies the warehouse has.
    """

    at: datetime
    hops: tuple[HopCoverage, ...]
    drift: tuple[Drift, ...]
    is_known: bool


def tag_coverage(
    store: GraphStore, report: PiiReport, classification: Classification, rules: ClassRules, *, tag: str | None = None
) -> TagCoverage:
    """Return how the tags and masks of the warehouse differ from where a report finds personal data.

    Columns count that show the value, or a part of it; each once, at its nearest source. `tag` is the name of the tag
    that the statements set; without one, the one that most columns have.

    Raises:
        StoreError: the store could not be read.
    """
    nearest: dict[str, Holder] = {}
    classes: defaultdict[str, set[str]] = defaultdict(set)
    bare: set[str] = set()  # shows a value that no mask is on, whatever masks are on others
    for source, holder in report.rows:
        if holder.exposure in _SHOWING and holder.kind in ("table", "view"):
            names = {one.name for one in source.tags}
            own = {one.name for one in classification.tags.get(holder.key, ())}
            classes[holder.key] |= _meeting(names, own, rules)
            if not holder.protection.is_masked:
                bare.add(holder.key)
            if holder.key not in nearest or holder.hops < nearest[holder.key].hops:
                nearest[holder.key] = holder
    policies = load_warehouse_policies(store, nearest)
    known = _masks_of_classes(nearest, classes) | dict(policies.mask_of_classes)
    dialects = {one.key: one.dialect or "" for one in store.datasets({split_column_key(key)[0] for key in nearest})}
    wanted = tag or _usual_tag(policies)
    rows = []
    counts: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for key, holder in nearest.items():
        there = {class_of_tag(one) for one in policies.tags(key)}
        has_tag, has_mask = classes[key] <= there, key not in bare
        counts[holder.hops].update(columns=1, tagged=has_tag, masked=has_mask)
        if has_tag and has_mask:
            continue
        missing = tuple(sorted(classes[key] - there))
        dialect = dialects[split_column_key(key)[0]]
        said = list(_statements(dialect, holder, missing, wanted)) if missing else []
        if not has_mask:
            said += _mask_statements(dialect, holder, classes[key], known)
        others = tuple(sorted(there & rules.classes.keys() - classes[key]))
        rows.append(
            Drift(holder.name, tuple(sorted(classes[key])), holder.hops, has_tag, has_mask, others, tuple(said))
        )
    hops = tuple(HopCoverage(n, c["columns"], c["tagged"], c["masked"]) for n, c in sorted(counts.items()))
    drift = tuple(sorted(rows, key=lambda one: (one.hops, one.column)))
    return TagCoverage(report.at, hops, drift, not policies.is_empty)


def _meeting(arriving: set[str], own: set[str], rules: ClassRules) -> set[str]:
    """Return the classes that a column should have: with `keep`, one that arrives gives way to one that it has."""
    others = own - arriving
    kept = {one for one in arriving if one in own or not others or _how(one, rules) != "keep"}
    return kept | own


def _how(name: str, rules: ClassRules) -> str:
    rule = rules.classes.get(name)
    return rule.on_conflict if rule is not None else "both"


def _usual_tag(policies: WarehousePolicies) -> str:
    counts = Counter(one.name for tags in policies.tagged.values() for one in tags if one.value)
    return counts.most_common(1)[0][0] if counts else _DEFAULT_TAG


def _statements(dialect: str, holder: Holder, classes: tuple[str, ...], tag: str) -> Iterator[str]:
    """Yield what sets the tag, in products that have tags of columns; one tag has one value."""
    value, *others = (one.replace("'", "''") for one in classes)
    kind, table, column = _names(holder, dialect)
    if others and dialect in ("snowflake", "databricks"):
        yield f"-- {table}.{column} has other classes, too, and a tag one value: {', '.join(others)}"
    if dialect == "snowflake":
        yield f"ALTER {kind} {table} MODIFY COLUMN {column} SET TAG {tag} = '{value}';"
    elif dialect == "databricks":
        yield f"ALTER {kind} {table} ALTER COLUMN {column} SET TAGS ('{tag}' = '{value}');"


def _masks_of_classes(holders: Mapping[str, Holder], classes: Mapping[str, set[str]]) -> dict[str, str]:
    """Return the policy that most columns of each class have, of those with one class."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for key, holder in holders.items():
        own = [one.policy for one in holder.protection.masks if one.behind is None]
        for name in classes[key] if len(classes[key]) == 1 else ():
            counts[name].update(own)
    return {name: max(sorted(found), key=found.__getitem__) for name, found in counts.items() if found}


def _mask_statements(dialect: str, holder: Holder, classes: set[str], known: Mapping[str, str]) -> Iterator[str]:
    """Yield what sets a mask: the policy that columns of the class have elsewhere, else a name to fill in."""
    policy = next((known[one] for one in sorted(classes) if one in known), f"mask_{sorted(classes)[0]}")
    kind, table, column = _names(holder, dialect)
    if dialect == "snowflake":
        yield f"ALTER {kind} {table} MODIFY COLUMN {column} SET MASKING POLICY {policy};"
    elif dialect == "databricks" and kind == "TABLE":
        yield f"ALTER TABLE {table} ALTER COLUMN {column} SET MASK {policy};"
    elif dialect == "tsql" and kind == "TABLE":
        yield f"ALTER TABLE {table} ALTER COLUMN {column} ADD MASKED WITH (FUNCTION = 'default()');"


def _names(holder: Holder, dialect: str) -> tuple[str, str, str]:
    """Return the kind of a column's table, and the names of both as SQL takes them."""
    kind = "VIEW" if holder.kind == "view" else "TABLE"
    path = split_column_key(holder.key)[1]
    return kind, quoted_table(holder.table, dialect), quoted_name(path, dialect)
