"""The two revisions that are compared: dbt projects and folders of SQL files."""
