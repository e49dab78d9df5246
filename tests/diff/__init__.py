"""What a change of a project does: `lineage diff`."""
