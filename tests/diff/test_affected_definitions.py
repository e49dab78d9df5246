"""What no edit may affect is not compared: the answer is that of comparing everything."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from lineage.model.dialects import dialect_named
from lineage.model.names import Naming
from lineage_ingest.dbt.request import prepare_project
from lineage_ingest.diff.definitions import comparison
from lineage_ingest.diff.definitions.affected_definitions import affected_definitions
from lineage_ingest.diff.definitions.comparison import compare_projects
from lineage_ingest.diff.definitions.table_definitions import ProjectRevision, TableDefinition
from lineage_ingest.diff.revisions.dbt_revision import dbt_revision
from lineage_ingest.diff.revisions.manifest_json import ManifestJson
from lineage_ingest.options import DbtOptions
from tests.diff.edits import EDITS, apply_edit, normalized
from tests.diff.shop import Shop, new_shop, write_target


def _project(shop: Shop, folder: Path) -> ProjectRevision:
    request = prepare_project(write_target(shop, folder), DbtOptions(), None)
    return dbt_revision(request, ManifestJson.of(request.artifacts), "", with_types=True)


def _everything(base: ProjectRevision, head: ProjectRevision) -> set[str]:
    return {*base.definitions, *head.definitions}


def test_an_edit_has_the_effects_that_comparing_everything_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop, rng = normalized(new_shop(0)), random.Random(0)
    base = _project(shop, tmp_path / "base")
    left_alone = edits = 0
    for name in EDITS:
        edited = apply_edit(name, rng, shop)
        if edited is None:
            continue
        head = _project(edited[0], tmp_path / "head")
        found = compare_projects(base, head)
        monkeypatch.setattr(comparison, "affected_definitions", _everything)
        whole = compare_projects(base, head)
        monkeypatch.undo()
        assert (found.tables, found.inlined) == (whole.tables, whole.inlined), f"{name} of {edited[1]}"
        left_alone += len(whole.after) - len(found.after)
        edits += 1
    assert left_alone > 5 * edits > 50


READERS = {
    "reader": 'SELECT * FROM "My Table"',
    "over_reader": "SELECT a FROM reader",
    "escaped": 'SELECT * FROM U&"\\004d\\0079 Table"',
    "other": "SELECT a FROM my_table",
    "declared": "SELECT 1 AS a",
}


def test_readers_are_found_by_the_words_of_their_sql_and_by_what_they_are_known_to_read() -> None:
    def revision(text: str) -> ProjectRevision:
        texts = {"My Table": text, **READERS}
        definitions = {
            key: TableDefinition(key, f's."{key}"', key, "", sql, reads=('s."My Table"',) if key == "declared" else ())
            for key, sql in texts.items()
        }
        return ProjectRevision("", Naming(dialect_named("postgres")), definitions)

    base = revision("SELECT 1 AS a")
    assert affected_definitions(base, base) == set()
    changed = affected_definitions(base, revision("SELECT 2 AS a"))
    assert changed == {"My Table", "reader", "over_reader", "escaped", "declared"}


def test_who_reads_one_date_shard_is_affected_by_an_edit_of_another() -> None:
    def revision(text: str) -> ProjectRevision:
        texts = {"events": text, "reader": "SELECT a FROM ds.events_20260202", "other": "SELECT b FROM ds.orders"}
        names = {"events": "ds.events_*"}
        definitions = {key: TableDefinition(key, names.get(key, key), key, "", sql) for key, sql in texts.items()}
        return ProjectRevision("", Naming(dialect_named("bigquery")), definitions)

    assert "reader" in affected_definitions(revision("SELECT 1 AS a"), revision("SELECT 2 AS a"))
