"""What several commands share: options, errors, summaries."""
