"""A figure that looks the same whatever the reader's matplotlib settings are.

This is the only module that imports matplotlib at the top, because a subclass needs its base class.
So import this module inside functions only.
"""

from __future__ import annotations

import os
import sys
from contextlib import AbstractContextManager
from io import BytesIO
from typing import IO

import matplotlib.style
from matplotlib.backend_bases import RendererBase
from matplotlib.figure import Figure

from panmatch.report._style import SETTINGS


def paper_style() -> AbstractContextManager[None]:
    """Apply matplotlib's defaults and ours for a while, then restore the reader's settings."""
    return matplotlib.style.context(["default", dict(SETTINGS)])


def show_in_notebooks() -> None:
    """Tell a notebook, if there is one, to let these figures show themselves.

    Once pyplot is used, it would otherwise crop and scale them as it does pyplot's figures.
    """
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is not None:
        formatter = shell.display_formatter.formatters["image/png"]
        formatter.for_type(PaperFigure, PaperFigure._repr_png_)


class PaperFigure(Figure):
    """A figure without pyplot, drawn and saved in the style of papers.

    Matplotlib reads some settings, such as the kind of fonts in a PDF, only when it draws.
    """

    def draw(self, renderer: RendererBase) -> None:
        """Draw in the style of papers."""
        with paper_style():
            super().draw(renderer)

    def savefig(
        self,
        fname: str | os.PathLike[str] | IO[bytes],
        *,
        transparent: bool | None = None,
        **options: object,
    ) -> None:
        """Save in the style of papers; options are those of matplotlib."""
        with paper_style():
            super().savefig(fname, transparent=transparent, **options)

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """Show in a notebook at twice the resolution.

        The picture carries its display size. Without it, pages would show it twice as large, and
        blurred on high-density screens.
        """
        file = BytesIO()
        self.savefig(file, format="png")
        width, height = (round(side * self.dpi / 2) for side in self.get_size_inches())
        return file.getvalue(), {"width": width, "height": height}
