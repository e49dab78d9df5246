"""Faults against real processes on both stores: `make faults` runs all of them and writes docs/faults.md."""
