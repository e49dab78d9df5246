"""Text: decoding it, and showing values in it."""
