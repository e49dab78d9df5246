"""A program's text: tokens, and where its statements end."""
