"""What of a statement identifies it: its text without literals, names of temporary tables and order of constants."""
