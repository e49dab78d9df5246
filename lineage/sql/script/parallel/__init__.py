"""Scripts in several processes."""
