"""The site builds without a warning, and needs no network."""

from __future__ import annotations

import re
from pathlib import Path

from docs.site import PAGES, build


def test_the_site_builds(tmp_path: Path) -> None:
    build(tmp_path)
    site = tmp_path / "site"
    for name in PAGES.values():
        text = (site / Path(name).with_suffix(".html")).read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=\"?(https?://[^\s\">]+)", text)
        assert not loaded, f"{name} loads {loaded}"
        for source in re.findall(r"<img\b[^>]*\bsrc=\"?([^\s\">]+)", text):
            assert (site / source).exists(), f"{name}: {source}"
