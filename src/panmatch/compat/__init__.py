"""Other people's interfaces over panmatch: change an import, keep the script."""

from panmatch.compat import panoptica

__all__ = ["panoptica"]
