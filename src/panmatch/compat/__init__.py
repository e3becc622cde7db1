"""The interfaces of other packages on top of panmatch: change an import, keep the script."""

from panmatch.compat import panoptica

__all__ = ["panoptica"]
