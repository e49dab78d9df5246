"""From rows of the log schema to lineage and statistics: stages that are the same functions in-process and on Spark."""
