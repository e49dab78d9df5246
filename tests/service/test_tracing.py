"""Traces as a collector receives them: from a service of its own process, over OTLP."""

from __future__ import annotations

from pathlib import Path

import httpx
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from lineage.store import open_store
from tests.cli.test_serve_command import served
from tests.service.collecting import collecting
from tests.service.graph import fill


def test_a_request_is_a_trace_that_goes_on_from_the_callers(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.db") as store:
        fill(store)
    trace = "0af7651916cd43dd8448eb211c80319c"
    with (
        collecting() as (address, came),
        served("--store", str(tmp_path / "store.db"), environment={"OTEL_EXPORTER_OTLP_ENDPOINT": address}) as (
            service,
            process,
        ),
    ):
        httpx.post(
            f"{service}/graphql",
            json={"query": '{ search(text: "hunter2") { edges { cursor } } }'},
            headers={"traceparent": f"00-{trace}-b7ad6b7169203331-01"},
        )
        process.terminate()
        process.communicate(timeout=30)
    spans = {
        span.name: span
        for body in came
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    }
    assert {"POST /graphql", "store"} <= set(spans)
    assert {span.trace_id.hex() for span in spans.values()} == {trace}
    assert spans["POST /graphql"].parent_span_id.hex() == "b7ad6b7169203331"
    assert spans["store"].parent_span_id in {span.span_id for span in spans.values()}
    assert b"hunter2" not in b"".join(came)
