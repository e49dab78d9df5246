"""Options of `lineage ingest openlineage` for a Kafka topic."""

from __future__ import annotations

from typing import Annotated, ClassVar

import typer

from lineage.frozen import frozen
from lineage_ingest.cli.shared.parameter_errors import parse_pairs
from lineage_ingest.openlineage.topics.event_topic import EventTopic

__all__ = ["TopicFlags"]


@frozen(slots=False)
class TopicFlags:
    """Options of a topic."""

    panel: ClassVar[str | None] = "Kafka"

    kafka: Annotated[
        str | None,
        typer.Option(
            "--kafka",
            metavar="BROKERS",
            help="Ingest the events of a Kafka topic at host:port,host:port, until Ctrl-C or SIGTERM.",
        ),
    ] = None
    topic: Annotated[str | None, typer.Option(metavar="NAME", help="Kafka topic; each message is one event.")] = None
    group: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Consumer group. Offsets are committed for it when events are durable in the store; its next member "
            "resumes there. A group reads into one store.",
        ),
    ] = "lineage"
    once: Annotated[
        bool, typer.Option("--once", help="Stop after the last message that exists at the start: for a scheduler.")
    ] = False
    at_once: Annotated[
        int, typer.Option("--at-once", metavar="N", min=1, max=10_000, help="Maximum number of messages in a batch.")
    ] = 2_000
    kafka_option: Annotated[
        list[str] | None,
        typer.Option(
            "--kafka-option",
            metavar="NAME=VALUE",
            help="Setting of the Kafka client, librdkafka: security.protocol=SASL_SSL, sasl.username=…, "
            "auto.offset.reset=latest. Repeatable.",
        ),
    ] = None
    kafka_wait: Annotated[
        float,
        typer.Option(
            "--kafka-wait", metavar="SECONDS", min=0, help="Time to wait at the start for Kafka and the topic."
        ),
    ] = 60

    def event_topic(self) -> EventTopic | None:
        """Return the topic to read; None without `--kafka`.

        Raises:
            typer.BadParameter: they do not go together.
        """
        if (self.kafka is None) != (self.topic is None):
            raise typer.BadParameter("--kafka and --topic go together", param_hint="--kafka")
        if self.kafka is None or self.topic is None:
            if self.once or self.kafka_option:
                raise typer.BadParameter("required by the other options of Kafka", param_hint="--kafka")
            return None
        return EventTopic(
            self.kafka,
            self.topic,
            self.group,
            parse_pairs(self.kafka_option, "--kafka-option"),
            wait=self.kafka_wait,
            once=self.once,
            at_once=self.at_once,
        )
