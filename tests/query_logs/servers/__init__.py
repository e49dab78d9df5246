"""Workloads that are played on real servers: the graph of the log is that of the statements that took effect."""
