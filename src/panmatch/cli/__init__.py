"""The command line."""

import os
import sys

from panmatch.errors import MissingExtraError, needs_extra


def main() -> None:
    """Run the command line.

    Worker processes import this module too, so it loads the rest only when needed.
    """
    # Before numpy is loaded: threads of products of matrices would compete with the workers.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        with needs_extra("all", "Commands"):
            from panmatch.cli._app import main as run
    except MissingExtraError as error:
        sys.exit(f"panmatch: {error}")
    run()


__all__ = ["main"]
