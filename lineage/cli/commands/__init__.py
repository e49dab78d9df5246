"""The commands of this package, a module a subject."""
