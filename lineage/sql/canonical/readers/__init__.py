"""From a parse tree to the forms."""
