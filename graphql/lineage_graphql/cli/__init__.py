"""The commands `lineage serve`, `lineage token` and `lineage mcp`."""
