"""The command line."""

import sys

from panmatch.errors import MissingExtraError, needs_extra


def main() -> None:
    """Run the command line.

    Workers of a pool import this module as well, and have no use for the rest of it.
    """
    try:
        with needs_extra("all", "Commands"):
            from panmatch.cli._app import main as run
    except MissingExtraError as error:
        sys.exit(f"panmatch: {error}")
    run()


__all__ = ["main"]
