"""A figure that looks the same whatever the reader's matplotlib settings are.

The one module that imports matplotlib on top, because a subclass needs its base: import it inside
functions only.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from io import BytesIO
from typing import IO

import matplotlib.style
from matplotlib.backend_bases import RendererBase
from matplotlib.figure import Figure

from panmatch.report._style import SETTINGS


def paper_style() -> AbstractContextManager[None]:
    """Set matplotlib's defaults and ours for a while; afterwards all is as it was."""
    return matplotlib.style.context(["default", dict(SETTINGS)])


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

    def _repr_png_(self) -> bytes:
        """Show in a notebook, which knows only figures of pyplot."""
        file = BytesIO()
        self.savefig(file, format="png")
        return file.getvalue()
