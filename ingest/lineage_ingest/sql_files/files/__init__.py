"""SQL files, their projects and dialects."""
