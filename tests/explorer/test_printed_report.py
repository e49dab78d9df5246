"""The report of personal data of a real project (MIMIC-IV), opened in Chromium and printed: no table is cut."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser

import lineage_ingest
from tests.cli.running import lineage

SCRIPTS = Path(lineage_ingest.__file__).parent / "demo" / "mimic_iv"
A4 = {"width": 718, "height": 1047}
"""An A4 page within margins of a centimetre, in CSS pixels."""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mimic")
    store, file = folder / "lineage.db", folder / "report.html"
    assert lineage("ingest", "sql", SCRIPTS, "-d", "postgres", "--store", store).code in (0, 1)
    for column, kind in (("subject_id", "patient"), ("anchor_age", "age")):
        assert lineage("tag", "add", f"mimiciv_hosp.patients.{column}", kind, "--store", store).code == 0
    assert lineage("pii", "report", "--format", "html", "--output", file, "--store", store).code == 0
    return file


def test_it_is_whole_on_paper(browser: Browser, report: Path, tmp_path: Path) -> None:
    page = browser.new_page(viewport=A4)  # type: ignore[arg-type]
    page.goto(report.as_uri())
    page.emulate_media(media="print")
    cut = page.evaluate(
        "() => [...document.querySelectorAll('td, th, code, svg')].filter(one => "
        "one.getBoundingClientRect().right > innerWidth || (getComputedStyle(one).display != 'inline' && "
        "one.tagName != 'svg' && one.scrollWidth > one.clientWidth + 1)).map(one => one.textContent)"
    )
    text = page.inner_text("body")
    printed = page.pdf(format="A4", path=os.environ.get("REPORT_PDF"))
    page.close()
    assert cut == []
    for name in ("age.anchor_age", "oasis.age", "creatinine_baseline.mdrd_est", "icustay_detail.admission_age"):
        assert f"mimiciv_derived.{name}" in text
    assert "mimiciv_hosp.patients.subject_id" in text
    assert "Its values reach no other column that is known." in text  # it is a key: the others have their own
    assert "Who read it is not known." in text
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) >= 2
