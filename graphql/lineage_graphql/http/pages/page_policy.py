"""Content security policy of the service's pages."""

from __future__ import annotations

import base64
import hashlib

__all__ = ["page_headers"]


def page_headers(nonce: str | None = None, *, scripts: bool = False, style: str | None = None) -> dict[str, str]:
    """Return the security headers of a page or of its files: no external and no inline resources.

    A `<style>` element needs the nonce, or `style` is its text. Scripts are allowed only if `scripts` is set.
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
