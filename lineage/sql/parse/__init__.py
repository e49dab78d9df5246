"""SQL text into syntax trees; what cannot be parsed whole is recovered as far as it can be."""
