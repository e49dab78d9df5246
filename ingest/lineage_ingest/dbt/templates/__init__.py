"""Jinja templates: rendered without dbt, as far as they need no database."""
