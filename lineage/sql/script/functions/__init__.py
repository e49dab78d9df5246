"""Functions that a script defines, inlined where it calls them."""
