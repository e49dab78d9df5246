"""Faults of one line each that the tests must find, as data in the folder `faults`."""
