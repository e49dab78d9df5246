"""What browsers may do on the service's own pages."""

from __future__ import annotations

import base64
import hashlib

__all__ = ["page_headers"]


def page_headers(nonce: str | None = None, *, scripts: bool = False, style: str | None = None) -> dict[str, str]:
    """Return the headers of a page or of a file that one refers to: nothing from elsewhere, nothing inline.

    A `<style>` needs the nonce, or is the one whose text is given; a page has no scripts unless it says so.
    """
    styles = f"'self' 'nonce-{nonce}'" if nonce else "'self'"
    if style is not None:
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        styles = f"'sha256-{digest}'"
    policy = {
        "default-src": "'none'",
        "script-src": "'self'" if scripts else "'none'",
        "style-src": styles,
        "font-src": "data:",
        "img-src": "'self' data:",
        "connect-src": "'self'" if scripts else "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    return {"Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items())}
