"""What is wrong with an installation and a store, and what to do about it."""
