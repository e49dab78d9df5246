"""Faults of one line each that the tests must find, as data: `faults.toml`."""
