"""An MCP (Model Context Protocol) server for AI assistants: bounded answers with evidence."""
