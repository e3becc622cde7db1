"""The command line."""

from panmatch.cli.app import main

__all__ = ["main"]
