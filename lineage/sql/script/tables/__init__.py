"""The tables that a script makes and loses."""
