"""Text for people: tables, counts, evidence, progress."""
