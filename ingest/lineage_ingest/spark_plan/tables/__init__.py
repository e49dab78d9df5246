"""The tables and files that plans read."""
