"""Seeds whose files are no longer as they were when dbt read them: the folder is that of the head."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from lineage_ingest import ProjectDiff, diff_revisions
from tests.dbt.manifests import manifest, model, relation, write

CODES = "code,label\n1,one\n2,two\n"


def project(name: str, text: str, root: Path, **fields: Any) -> dict[str, Any]:
    """Return a project with a seed of this content, and a model that reads it."""
    checksum = hashlib.sha256(text.strip().encode()).hexdigest()
    seed = {
        **model(name, ""), "unique_id": f"seed.shop.{name}", "resource_type": "seed", "compiled_code": None,
        "original_file_path": f"seeds/{name}.csv", "checksum": {"name": "sha256", "checksum": checksum},
        "config": {"materialized": "seed"}, "root_path": str(root), **fields,
    }  # fmt: skip
    sql = f"select code, label from {relation(name)}"
    return manifest(seed, model("named", sql, f"seed.shop.{name}", config={"materialized": "view"}))


def diff(tmp_path: Path, base: dict[str, Any], head: dict[str, Any], files: dict[str, str]) -> ProjectDiff:
    """Compare two projects; the folder has these seeds."""
    (tmp_path / "seeds").mkdir()
    for name, text in files.items():
        (tmp_path / "seeds" / f"{name}.csv").write_text(text, encoding="utf-8")
    return diff_revisions(write(tmp_path / "base", base), write(tmp_path / "target", head))


def said(found: ProjectDiff) -> set[tuple[str, str, str | None]]:
    """Return each table that is not as it was, what happens to it, and its earlier name."""
    return {
        (one.title, str(one.effect), one.earlier) for one in found.tables.values() if str(one.effect) != "unchanged"
    }


def test_a_seed_of_another_name_is_renamed(tmp_path: Path) -> None:
    base, head = project("codes", CODES, tmp_path), project("labels", CODES, tmp_path)
    found = diff(tmp_path, base, head, {"labels": CODES})
    assert said(found) == {("labels", "renamed", "codes"), ("named", "cosmetic", None)}
    assert not any(one.is_content for table in found.tables.values() for one in table.columns)


def test_a_seed_with_other_types_is_another_one(tmp_path: Path) -> None:
    types = {"materialized": "seed", "column_types": {"code": "text"}}
    base, head = project("codes", CODES, tmp_path), project("labels", CODES, tmp_path, config=types)
    assert {("labels", "added", None), ("codes", "removed", None)} <= said(
        diff(tmp_path, base, head, {"labels": CODES})
    )


def test_a_seed_with_other_columns(tmp_path: Path) -> None:
    """Which columns it had is known from its file only: that they are those of now is not true, and said."""
    text = "code\n1\n2\n"
    base, head = project("codes", CODES, tmp_path), project("codes", text, tmp_path)
    found = diff(tmp_path, base, head, {"codes": text})
    assert ("codes", "changed", None) in said(found)
    [notice] = found.notices
    assert notice == (
        "codes: what dbt has read is no longer in its folder, so that columns added or removed are not compared"
    )
    again = diff_revisions(tmp_path / "base", write(tmp_path / "same", base))
    assert again.notices == ()


def test_the_type_of_one_column(tmp_path: Path) -> None:
    """dbt converts the column alone: the others, and what reads only these, are as they were."""
    base, head = (
        project("codes", CODES, tmp_path, config={"materialized": "seed", "column_types": {"code": kind}})
        for kind in ("int", "varchar(4)")
    )
    for data in (base, head):
        labels = model("labels", f"select label from {relation('codes')}", "seed.shop.codes")
        data["nodes"]["model.shop.labels"] = {**labels, "config": {"materialized": "table"}}
    found = diff(tmp_path, base, head, {"codes": CODES})
    [seed] = found.edited
    [code] = [one for one in seed.columns if one.is_content]
    assert (code.name, *map(str, code.effects)) == ("code", "type changed", "value changed")
    assert code.types == ("int", "varchar(4)")
    assert {one.title for one in found.rebuild} == {"codes", "named"}


def test_types_of_a_seed_whose_file_is_gone(tmp_path: Path) -> None:
    base, head = (
        project("codes", CODES, tmp_path, config={"materialized": "seed", "column_types": {"code": kind}})
        for kind in ("int", "text")
    )
    assert ("codes", "changed", None) in said(diff(tmp_path, base, head, {}))


def test_declared_types_are_not_compared_with_those_of_the_database(tmp_path: Path) -> None:
    """The database may have another name for a type: `varchar(2)` is VARCHAR in DuckDB."""
    types = {"materialized": "seed", "column_types": {"code": "varchar(2)"}}
    data = project("codes", CODES, tmp_path, config=types)
    (tmp_path / "seeds").mkdir()
    (tmp_path / "seeds" / "codes.csv").write_text(CODES, encoding="utf-8")
    read = write(tmp_path / "read", data)
    columns = {name: {"name": name, "type": "VARCHAR", "index": n} for n, name in enumerate(("code", "label"))}
    metadata = {"generated_at": data["metadata"]["generated_at"]}
    catalog = {"metadata": metadata, "nodes": {"seed.shop.codes": {"columns": columns}}, "sources": {}}
    (read / "catalog.json").write_text(json.dumps(catalog), encoding="utf-8")
    sides = (read, write(tmp_path / "target", data, catalog=False))
    for base, head in (sides, sides[::-1]):
        assert said(diff_revisions(base, head)) == set()
