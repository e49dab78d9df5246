"""Impact, root cause, paths and neighbourhoods."""
