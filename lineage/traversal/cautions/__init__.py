"""What an answer has to add to what it found."""
