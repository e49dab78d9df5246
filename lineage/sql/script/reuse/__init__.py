"""What a text gave before, kept for the next run."""
