"""What dbt runs around a model's query: materializations and hooks."""
