"""What earlier ingests and other projects left."""
