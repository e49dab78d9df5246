"""Statements about who may see what: read by their words, since the parser has no trees for most of them."""
