"""SQL with template tags, as dashboards have it."""
