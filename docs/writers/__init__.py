"""Pages of the site that are written from the package, so that they cannot drift from it.

``python -m docs.writers`` writes them all; tests compare them with what is committed.
"""

from __future__ import annotations

from collections.abc import Callable

from docs.writers.api import PAGES as API_PAGES
from docs.writers.choosing import PAGES as CHOOSING
from docs.writers.columns import columns_page
from docs.writers.command_line import command_line_page
from docs.writers.components import components_svg, over_threshold_svg
from docs.writers.graph import graph_svg
from docs.writers.metrics import metrics_page
from docs.writers.protocols import protocols_page
from docs.writers.spec_keys import spec_keys_page
from docs.writers.strategies import strategies_page

# Below docs/, what writes each page.
PAGES: dict[str, Callable[[], str]] = {
    **{f"reference/api/{name}.md": page for name, page in API_PAGES.items()},
    **CHOOSING,
    "images/components.svg": components_svg,
    "images/components-over-threshold.svg": over_threshold_svg,
    "images/graph.svg": graph_svg,
    "reference/columns.md": columns_page,
    "reference/command-line.md": command_line_page,
    "reference/metrics.md": metrics_page,
    "reference/protocols.md": protocols_page,
    "reference/spec-keys.md": spec_keys_page,
    "reference/strategies.md": strategies_page,
}
