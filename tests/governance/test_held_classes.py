"""What a picture marks as personal data, against the report on all columns, and on random graphs with nested fields."""

from __future__ import annotations

import random
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path

from lineage.governance.exposure import Exposure
from lineage.governance.held_classes import HeldClasses, held_classes
from lineage.governance.propagation import load_value_graph, spread
from lineage.governance.report.pii_report import make_report
from lineage.governance.tags.rules import default_rules, matching_tags
from lineage.governance.tags.tagging import Classification, classify
from lineage.sql.resolve.calls.functions import value_functions
from lineage.store import GraphStore, open_store
from lineage.store.values import StoredTag
from tests.store.batch_builders import batch, day, job, key, table

NOW = datetime(2026, 3, 1, tzinfo=UTC)
COLUMNS = tuple(f"{name}.{path}" for name in "abcde" for path in ("x", "y", "s", "s.m", "s.m.n", "s.o"))
GRAPHS = 40


def _tag(column: str, name: str, *, denied: bool = False) -> StoredTag:
    return StoredTag(key(column), name, source="manual", stated_by="ana", at=day(3), denied=denied)


def _marked(store: GraphStore, *columns: str, **options: object) -> HeldClasses:
    known = classify(store, default_rules())
    return held_classes(store, known, value_functions(), [key(one) for one in columns], **options)  # type: ignore[arg-type]


def _said(found: HeldClasses) -> dict[str, dict[str, Exposure]]:
    return {column: {one.name: one.exposure for one in classes} for column, classes in found.by_column.items()}


def test_the_marks_of_a_company_are_those_of_its_report(company: GraphStore) -> None:
    named = matching_tags(company.columns(company.dataset_keys()), default_rules(), NOW, "")
    tags: defaultdict[str, tuple[StoredTag, ...]] = defaultdict(tuple)
    for tag in named:
        tags[tag.column] += (tag,)
    known = Classification(tags, {}, ())
    expected: defaultdict[str, dict[str, Exposure]] = defaultdict(dict)
    for source in make_report(company, known, value_functions(), NOW).sources:
        for holder in (source.own, *source.holders):
            for tag in source.tags:
                best = expected[holder.key].get(tag.name, Exposure.MASKED)
                expected[holder.key][tag.name] = min(best, holder.exposure, key=lambda one: one.rank)
    columns = {one.key for one in company.columns(company.dataset_keys())}
    found = _said(held_classes(company, known, value_functions(), columns))
    assert len(found) > 10
    assert found == {column: classes for column, classes in expected.items() if column in columns}
    assert len({exposure for classes in found.values() for exposure in classes.values()}) > 2
    for column in columns:
        alone = _said(held_classes(company, known, value_functions(), [column]))
        assert alone == ({column: found[column]} if column in found else {})


def _family(column: str) -> set[str]:
    return {
        one
        for one in COLUMNS
        if one == column or f"{one}.".startswith(f"{column}.") or f"{column}.".startswith(f"{one}.")
    }


def _expected(store: GraphStore, known: Classification) -> dict[str, dict[str, Exposure]]:
    """Return all marks, by a search from every tag over the whole graph."""
    starts = known.columns_of()
    graph = load_value_graph(store, starts, value_functions())
    reached: defaultdict[str, dict[str, Exposure]] = defaultdict(dict)
    for start in starts:
        for tag in known.tags[start]:
            stops = {one for one in known.denials if one != start and known.denies(one, {tag.name})}
            for column, exposure in [(start, Exposure.UNMASKED)] + [
                (column, one.exposure) for column, one in spread(graph, start, stops).reached.items()
            ]:
                best = reached[column].get(tag.name, Exposure.MASKED)
                reached[column][tag.name] = min(best, exposure, key=lambda one: one.rank)
    marks: dict[str, dict[str, Exposure]] = {}
    for column in COLUMNS:
        classes: dict[str, Exposure] = {}
        for member in _family(column):
            for name, exposure in reached[key(member)].items():
                if not known.denies(key(column), {name}):
                    classes[name] = min(classes.get(name, Exposure.MASKED), exposure, key=lambda one: one.rank)
        if classes:
            marks[key(column)] = classes
    return marks


def test_marks_of_some_columns_are_those_of_a_search_over_everything(tmp_path: Path) -> None:
    random_ = random.Random(7)
    marked = 0
    for number in range(GRAPHS):
        with open_store(tmp_path / f"{number}.db") as store:
            pairs = {tuple(random_.sample(COLUMNS, 2)) for _ in range(random_.randint(4, 16))}
            lines = [f"{one} -> {two}{random_.choice(('', '', ' MASKING'))}" for one, two in sorted(pairs)]
            tables = [table(name, "x", "y", "s", "s.m", "s.m.n", "s.o") for name in "abcde"]
            jobs = [job(f"{at}.sql", line, at=2) for at, line in enumerate(lines)]
            store.apply(batch(*tables, *jobs))
            tags = [_tag(one, random_.choice(("email", "phone"))) for one in random_.sample(COLUMNS, 2)]
            tags += [_tag(one, "email", denied=True) for one in random_.sample(COLUMNS, random_.randint(0, 2))]
            store.change_tags(tags)
            expected = _expected(store, classify(store, default_rules()))
            assert _said(_marked(store, *COLUMNS)) == expected, (lines, tags)
            some = random_.sample(COLUMNS, 3)
            wanted = {key(one): expected[key(one)] for one in some if key(one) in expected}
            assert _said(_marked(store, *some)) == wanted, (some, lines, tags)
            marked += len(expected)
    assert marked > 5 * GRAPHS


def test_marks_are_of_a_time_and_name_their_source_and_what_cut_them(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        tables = [table(name, "x") for name in "abc"]
        store.apply(batch(*tables, job("one.sql", "a.x -> b.x", at=1), run="first"))
        store.apply(batch(job("two.sql", "b.x -> c.x", at=4), run="second"))
        store.change_tags([_tag("a.x", "email")])
        [mark] = _marked(store, "c.x").by_column[key("c.x")]
        assert (mark.name, mark.exposure, mark.source) == ("email", Exposure.UNMASKED, key("a.x"))
        assert not _marked(store, "c.x", as_of=day(2)).by_column
        assert _marked(store, "b.x", as_of=day(2)).by_column
        assert not _marked(store, "c.x").cuts
        assert _marked(store, "c.x", most=1).cuts
        assert not _marked(store, "nowhere.at_all", "a").by_column
