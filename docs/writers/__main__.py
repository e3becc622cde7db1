"""``python -m docs.writers``: write every page that comes from the package."""

from __future__ import annotations

from pathlib import Path

from docs.writers import PAGES

for name, write in PAGES.items():
    (Path(__file__).parents[1] / name).write_text(write(), encoding="utf-8")
