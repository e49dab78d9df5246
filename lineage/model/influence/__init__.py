"""How one column influences another, and what proves it."""
