"""What a batch changes in the graph: pure functions on values, the same for every store."""
