"""The command `lineage`."""
