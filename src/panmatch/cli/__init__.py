"""The command line."""

import sys

from panmatch.errors import MissingExtraError, needs_extra


def main() -> None:
    """Run the command line.

    Worker processes import this module too, so it loads the rest only when needed.
    """
    try:
        with needs_extra("all", "Commands"):
            from panmatch.cli._app import main as run
    except MissingExtraError as error:
        sys.exit(f"panmatch: {error}")
    run()


__all__ = ["main"]
