"""What one request may ask for, measured before it is run."""
