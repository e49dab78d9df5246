"""The query blocks of a text, with the place of every name, for editors: `outlined_text.py` first."""
