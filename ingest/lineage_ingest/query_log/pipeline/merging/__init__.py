"""The results of all parts as batches for the graph."""
