"""A real JupyterLab: its own environment, which `make notebook` installs."""
