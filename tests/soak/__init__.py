"""A service under a fixed rate of reads and events for a long time: `make soak`."""
