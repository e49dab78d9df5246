"""The forms that are compared."""
