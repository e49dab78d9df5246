"""What dbt writes into its target folder, and reads beside it."""
