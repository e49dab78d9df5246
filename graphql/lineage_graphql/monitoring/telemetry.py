"""OpenTelemetry tracing: one span per request, one per store read."""

from __future__ import annotations

import importlib.util
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.trace import Span, StatusCode

from lineage import __version__

__all__ = ["current_span", "set_up_tracing", "tracer"]

_LOGGER = logging.getLogger(__name__)
_SDK = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")

tracer = trace.get_tracer("lineage", __version__)
"""Creates spans; a no-op without a tracer provider."""


@contextmanager
def current_span(span: Span) -> Iterator[None]:
    """Make a span current; record the type of an error, not its message, which may quote SQL."""
    try:
        with trace.use_span(span, record_exception=False, set_status_on_exception=False):
            yield
    except BaseException as error:
        span.set_attribute("error.type", type(error).__name__)
        span.set_status(StatusCode.ERROR)
        raise


def set_up_tracing() -> None:
    """Export traces if OpenTelemetry's environment variables name an endpoint (`OTEL_EXPORTER_OTLP_ENDPOINT`)."""
    if not (os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or os.environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")):
        return
    if any(_missing(name) for name in _SDK):
        _LOGGER.warning("traces are not sent: pip install '.[tracing]' in a checkout of lineage")
        return
    # An optional extra.
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    resource = Resource.create({"service.name": os.environ.get("OTEL_SERVICE_NAME", "lineage")})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)


def _missing(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is None
    except ModuleNotFoundError:
        return True
