"""`python -m panmatch`."""

from panmatch.cli import main

if __name__ == "__main__":
    main()
