"""Run a notebook in a real JupyterLab: the picture, the live line, and the file reopened without a kernel.

python -m tests.notebook_lab PYTHON [--screenshots FOLDER]

docs/python.md has such a cell. PYTHON is that of an environment with JupyterLab, anywidget and this project.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

CELLS = (
    "from lineage import extract_script\nfrom lineage.notebook import show\n"
    "sql = 'CREATE VIEW v AS SELECT a + b AS c FROM t; CREATE VIEW w AS SELECT c FROM v'",
    "show(extract_script(sql, 'postgres'), sql=sql, dialect='postgres')",
    "chosen = show(extract_script(sql, 'postgres'), sql=sql, dialect='postgres', live=True)\nchosen",
    "print('chosen is', chosen.live.selected)",
    "chosen.live.select('t.b')\nprint('chosen is', chosen.live.selected)",
)


def main() -> None:
    """Run the notebook, and print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python", type=Path)
    parser.add_argument("--screenshots", type=Path)
    arguments = parser.parse_args()
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as made, sync_playwright() as playwright:
        folder = Path(made)
        (folder / "cells.ipynb").write_text(json.dumps(notebook()), encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        with jupyter(arguments.python, folder) as address:
            page = browser.new_page(viewport={"width": 1300, "height": 1900})
            page.goto(f"{address}/lab/tree/cells.ipynb")
            try:
                ran(page)
            finally:
                shot(page, arguments.screenshots, "live")
            page.keyboard.press("Control+s")
            pictures = saved_pictures(folder / "cells.ipynb")
            assert pictures == 2, pictures
            page.close()
            kernels = json.loads(urllib.request.urlopen(f"{address}/api/kernels").read())
            for kernel in kernels:
                asked = urllib.request.Request(f"{address}/api/kernels/{kernel['id']}", method="DELETE")
                urllib.request.urlopen(asked)
        with jupyter(arguments.python, folder) as address:
            page = browser.new_page(viewport={"width": 1300, "height": 1900})
            page.goto(f"{address}/lab/tree/cells.ipynb?reset")
            reopened(page)
            shot(page, arguments.screenshots, "reopened")
        browser.close()
    print("JupyterLab: the picture, what is chosen in it and from Python, and both pictures reopened without a kernel")


def notebook() -> dict[str, object]:
    """Return the notebook."""
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "execution_count": None, "id": f"c{n}", "metadata": {}, "outputs": [], "source": text}
        for n, text in enumerate(CELLS)
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


@contextmanager
def jupyter(python: Path, folder: Path) -> Iterator[str]:
    """Run JupyterLab over a folder, on a free port of loopback; yield its address."""
    command = (
        python, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", "--port=0", "--allow-root",
        "--IdentityProvider.token=", "--ServerApp.disable_check_xsrf=True",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    )  # fmt: skip
    log = folder.with_suffix(".log")
    with log.open("w") as said, subprocess.Popen(command, cwd=folder, stdout=said, stderr=said) as process:
        try:
            yield address_in(log, process)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


def address_in(log: Path, process: subprocess.Popen[bytes]) -> str:
    """Return the address that a server has written into its log."""
    for _ in range(240):
        found = re.search(r"http://127\.0\.0\.1:\d+", log.read_text(errors="replace"))
        if found:
            return found[0]
        if process.poll() is not None:
            break
        time.sleep(0.5)
    raise SystemExit(f"JupyterLab does not start:\n{log.read_text(errors='replace')[-3_000:]}")


def ran(page: Page) -> None:
    """Run all cells but the last two, choose a column in the live picture, and run these."""
    cell = page.locator(".jp-Notebook .jp-CodeCell")
    expect(cell).to_have_count(len(CELLS), timeout=90_000)
    for _ in range(20):  # what is run before the kernel is there is lost
        cell.nth(0).locator(".jp-InputPrompt").click()
        page.keyboard.press("Shift+Enter")
        page.wait_for_timeout(2_000)
        if cell.nth(0).locator(".jp-InputPrompt").inner_text() != "[ ]:":
            break
    expect(cell.nth(0).locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[\d+\]:"), timeout=60_000)
    for number in (1, 2):
        cell.nth(number).locator(".jp-InputPrompt").click()
        page.keyboard.press("Shift+Enter")
    frame = page.frame_locator("iframe >> nth=1")
    expect(frame.locator(".card")).to_have_count(3, timeout=60_000)
    expect(page.get_by_text("Chosen in the picture: v", exact=True)).to_be_visible(timeout=30_000)
    frame.locator(".card", has_text="w").get_by_text("c", exact=True).click()
    expect(page.get_by_text("Chosen in the picture: w.c")).to_be_visible()
    cell.nth(3).locator(".jp-InputPrompt").click()
    page.keyboard.press("Shift+Enter")
    expect(cell.nth(3)).to_contain_text("chosen is w.c")
    page.keyboard.press("Shift+Enter")
    expect(cell.nth(4)).to_contain_text("chosen is t.b")
    expect(page.get_by_text("Chosen in the picture: t.b")).to_be_visible()
    expect(frame.locator(".card").first).to_be_visible()


def saved_pictures(path: Path) -> int:
    """Return how many pictures a notebook's file has, as soon as it is written."""
    pictures = 0
    for _ in range(60):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        outputs = [output for cell in cells for output in cell.get("outputs", ())]
        pictures = sum("srcdoc" in json.dumps(output.get("data", {})) for output in outputs)
        if pictures:
            break
        time.sleep(0.5)
    return pictures


def reopened(page: Page) -> None:
    """Look at a notebook that was saved, of which no kernel runs."""
    for number in range(2):
        expect(page.frame_locator(f"iframe >> nth={number}").locator(".card")).to_have_count(3, timeout=60_000)


def shot(page: Page, folder: Path | None, name: str) -> None:
    """Take a screenshot, if a folder is given for them."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=folder / f"{name}.png")


if __name__ == "__main__":
    main()
