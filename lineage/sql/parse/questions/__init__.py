"""Answers to one question about a text."""
