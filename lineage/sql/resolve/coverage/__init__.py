"""Whether all that a statement reads and writes was followed."""
