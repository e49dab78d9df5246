"""Draw docs/answer.svg, the terminal output of two commands on the demo. Run it after `make demo`."""

from __future__ import annotations

import io
import os
import pty
import re
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

LINEAGE = Path(sys.executable).with_name("lineage")
QUESTIONS = (
    "impact mimiciv_icu.chartevents.valuenum --max-references 0 --rows 6",
    "path mimiciv_icu.chartevents.valuenum mimiciv_derived.sofa.sofa_24hours --limit 1",
)
WIDTH = 112


def main(store: str) -> None:
    """Run the commands on a store and write the picture."""
    out = Console(record=True, width=WIDTH, file=io.StringIO())
    for question in QUESTIONS:
        out.print(Text.assemble(("$ ", "bold green"), f"lineage {question}"))
        out.print(Text.from_ansi(answer(f"{question} --store {store}")))
    svg = out.export_svg(title="lineage")
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)  # the picture must not download fonts
    Path(__file__).with_name("answer.svg").write_text(svg, encoding="utf-8")


def answer(command: str) -> str:
    """Return the command's output on a terminal, with colours."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(COLUMNS=str(WIDTH), LINES="60", TERM="xterm-256color")
        os.execv(LINEAGE, [str(LINEAGE), *command.split()])
    pieces = []
    try:
        while piece := os.read(terminal, 4096):
            pieces.append(piece)
    except OSError:  # Linux reports the end of a terminal's output as an error
        pass
    os.waitpid(pid, 0)
    return b"".join(pieces).decode().replace("\r\n", "\n")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "demo.db")
