"""Run the command line with ``python -m panmatch``."""

from panmatch.cli import main

main()
