"""The same questions for AI assistants, over the Model Context Protocol: bounded answers with their evidence."""
