"""Events against the published schemas."""
