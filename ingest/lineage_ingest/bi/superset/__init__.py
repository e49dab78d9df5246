"""Superset: databases, datasets, charts and dashboards, from its export (a zip of YAML, or the folder of it)."""
