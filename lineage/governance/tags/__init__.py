"""Which columns hold personal data, who says so, and why."""
