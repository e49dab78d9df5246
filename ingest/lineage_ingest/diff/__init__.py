"""What a change of a project does: to each column, downstream, and to those who read it (`lineage diff`)."""
