"""Print what a comparison with a database's own analysis has found."""

from __future__ import annotations

from lineage.screen.listing import counted, note, say
from lineage_ingest.live_database.verification.view_comparison import VerificationReport, ViewVerdict

__all__ = ["print_verification"]


def print_verification(report: VerificationReport, show: int = 20, what: str = "view") -> None:
    """Print the number of views or queries by verdict, and at most `show` of those that differ (0: all)."""
    for verdict, colour in (
        (ViewVerdict.DIFFERENT, "red"),
        (ViewVerdict.REJECTED, "red"),
        (ViewVerdict.NOT_COMPARED, "yellow"),
        (ViewVerdict.EXPLAINED, None),
    ):
        views = report.having(verdict)
        for view in views[: show or None]:
            reason = f" ({view.reason})" if view.reason else ""
            note(f"{view.name}: {verdict}{reason}", colour)
            for line in view.differences[: show or None]:
                note(f"  {line}")
        if show and len(views) > show:
            note(f"… and {len(views) - show:,} more; --show 0 prints all")
    counts = [(verdict, len(report.having(verdict))) for verdict in ViewVerdict]
    others = "".join(f", {number:,} {verdict}" for verdict, number in counts[1:] if number)
    same = f"{counts[0][1]:,} the same as in PostgreSQL's analysis"
    say(f"verified {counted(len(report.views), what)}: {same}{others}")
