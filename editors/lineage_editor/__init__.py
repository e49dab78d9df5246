"""The language server of editors (`lineage lsp`): `language_server.py` first."""
