"""What answers consist of."""
