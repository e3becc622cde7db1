"""The command line."""


def main() -> None:
    """Run the command line.

    Workers of a pool import this module as well, and have no use for the rest of it.
    """
    from panmatch.cli.app import main as run

    run()


__all__ = ["main"]
