"""Plan how a batch changes the graph: pure functions on values, shared by all stores."""
