"""A report as PDF: the HTML page, set by WeasyPrint (extra `pdf`), which uses Pango, a library of the system."""

from __future__ import annotations

from typing import NoReturn

from lineage.governance.report.pii_report import PiiReport
from lineage.governance.report.report_text import html_page

__all__ = ["PdfUnavailableError", "pdf_document"]

_PANGO = (
    "Debian and Ubuntu: apt install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0; "
    "Fedora: dnf install pango; macOS: brew install pango"
)


class PdfUnavailableError(RuntimeError):
    """A PDF cannot be made here; `hint` says what to install."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def pdf_document(report: PiiReport) -> bytes:
    """Return the report as PDF. Nothing from elsewhere is loaded.

    Raises:
        PdfUnavailableError: WeasyPrint or Pango is not installed.
    """
    try:
        import weasyprint  # noqa: PLC0415  an extra
    except ImportError as error:
        raise PdfUnavailableError("PDF needs WeasyPrint", "pip install '.[pdf]' in a checkout of lineage") from error
    except OSError as error:  # it loads the libraries when it is imported
        raise PdfUnavailableError("PDF needs the library Pango, which is not installed", _PANGO) from error
    made: bytes = weasyprint.HTML(string=html_page(report), url_fetcher=_refuse).write_pdf(pdf_tags=True)
    return made


def _refuse(url: str, *_: object, **__: object) -> NoReturn:
    raise ValueError(f"a report loads nothing: {url[:80]}")
