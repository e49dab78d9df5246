"""Ways out: the graph as events and documents of other formats."""
