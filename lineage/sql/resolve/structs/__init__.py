"""Structs and their fields."""
