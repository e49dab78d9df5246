"""The plan to erase a person."""
