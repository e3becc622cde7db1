"""`python -m studies`: evaluate, and write the pages of docs/explanation/studies."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from studies import glioma, lesions, natural, nuclei, vertebrae, white_cells
from studies.running import run

ROOT = Path(__file__).parents[1]
STUDIES = {
    module.STUDY.name: module.STUDY
    for module in (lesions, vertebrae, nuclei, natural, white_cells, glioma)
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the studies that are named on the command line, or all."""
    parser = argparse.ArgumentParser(prog="python -m studies", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(STUDIES)}")
    parser.add_argument(
        "--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder of real images"
    )
    parser.add_argument(
        "--out",
        type=Path,
        help="where to write; docs/explanation/studies, or build/studies for phantoms",
    )
    chosen = parser.parse_args(arguments)
    unknown = set(chosen.names) - set(STUDIES)
    if unknown:
        parser.error(f"there is no study {sorted(unknown)[0]!r}; there are {', '.join(STUDIES)}.")
    for name in chosen.names or STUDIES:
        study, start = STUDIES[name], time.perf_counter()
        real = study.has_data(chosen.data)
        # The text of the pages in docs is about the real images, so phantoms go elsewhere.
        out = chosen.out or ROOT / ("docs/explanation/studies" if real else "build/studies")
        run(study, chosen.data if real else None, out)
        kind = "real images" if real else f"phantoms, as {' and '.join(study.folders)} are missing"
        seconds = time.perf_counter() - start
        print(f"{name}: {kind}; {out / name}.md, {seconds:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
