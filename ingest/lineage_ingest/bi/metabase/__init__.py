"""Metabase: cards, models, metrics and dashboards, from its API's JSON and from its serialization export."""
