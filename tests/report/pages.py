"""What is read back from the HTML of a report."""

from __future__ import annotations

import json
import re
from typing import Any


def data(html: str) -> dict[str, Any]:
    """Return what the scripts of the page are given."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.S)
    assert found is not None
    content: dict[str, Any] = json.loads(found.group(1))
    return content


def charts(html: str) -> dict[str, dict[str, object]]:
    content: dict[str, dict[str, object]] = data(html)["charts"]
    return content


def without_scripts(html: str) -> str:
    """Return the page without the chart library, which may hold any text."""
    return re.sub(r"<script>.*?</script>", "", html, flags=re.S)
