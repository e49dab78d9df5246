"""The routes of the service and its middleware."""
