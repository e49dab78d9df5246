"""Each form that a product writes its log in gives the same rows, users, times, order and lineage."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.query_logs.forms import Form, forms, listed_files, read_edges, read_rows, usual_forms

ALL = [pytest.param(form, id=f"{form.source}-{form.path.name}") for form in (*usual_forms(), *forms())]
FORMS = [pytest.param(form, id=f"{form.source}-{form.path.name}") for form in forms()]
PACKED = {
    "gzip": gzip.compress,
    "bz2": bz2.compress,
    "zstd": lambda data: pa.Codec("zstd").compress(data, asbytes=True),
    "lz4": lambda data: pa.Codec("lz4").compress(data, asbytes=True),
}


def test_every_sample_is_listed() -> None:
    assert {form.path for form in forms()} == set(listed_files())


@pytest.mark.parametrize("form", ALL)
def test_a_form_gives_its_rows(form: Form) -> None:
    assert read_rows(form) == form.expected_rows


@pytest.mark.parametrize("form", ALL)
def test_a_form_gives_its_lineage(form: Form, tmp_path: Path) -> None:
    assert read_edges(form, tmp_path / "s.db") == form.expected_edges


@pytest.mark.parametrize("codec", PACKED)
@pytest.mark.parametrize("form", FORMS)
def test_a_packed_form_of_any_name_gives_the_same(form: Form, codec: str, tmp_path: Path) -> None:
    if form.path.is_dir() or form.path.suffix == ".parquet":
        return
    packed = tmp_path / "log.of.something"
    pack: Any = PACKED[codec]
    packed.write_bytes(pack(form.path.read_bytes()))
    assert read_rows(form, packed) == form.expected_rows


@pytest.mark.parametrize("form", FORMS)
def test_a_form_by_other_bytes_gives_the_same(form: Form, tmp_path: Path) -> None:
    """A byte order mark, UTF-16, lines that end as Windows ends them."""
    if form.path.is_dir() or form.path.suffix == ".parquet":
        return
    text = form.path.read_text(encoding="utf-8")
    (tmp_path / "a").write_bytes(text.encode("utf-8-sig"))
    (tmp_path / "b").write_bytes(text.encode("utf-16"))
    for name in "ab":
        assert read_rows(form, tmp_path / name) == form.expected_rows


@pytest.mark.parametrize("form", FORMS)
def test_a_form_that_is_cut_says_so(form: Form, tmp_path: Path) -> None:
    if form.path.is_dir() or form.path.suffix == ".parquet":
        return
    (tmp_path / "log").write_bytes(form.path.read_bytes().rstrip()[:-40])
    found = read_rows(form, tmp_path / "log")
    lost = [row for row in found if row.get("problem")]
    shorter = [row for row in found if row not in form.expected_rows]
    assert lost or shorter or len(found) < len(form.expected_rows)
    assert all(row in form.expected_rows for row in found[:1] if not row.get("problem"))
