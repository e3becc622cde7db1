"""Code, commands and files that give the same numbers."""
