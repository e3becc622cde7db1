"""`python -m studies`: evaluate, and write the pages of docs/explanation/studies."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from studies import glioma, lesions, natural, nuclei, vertebrae, white_cells
from studies.grid_data import FOLDERS
from studies.running import run
from studies.whole_grid import NAME, run_grid

ROOT = Path(__file__).parents[1]
STUDIES = {
    module.STUDY.name: module.STUDY
    for module in (lesions, vertebrae, nuclei, natural, white_cells, glioma)
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the studies that are named on the command line, or all."""
    parser = argparse.ArgumentParser(prog="python -m studies", description=__doc__)
    names = (*STUDIES, NAME)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}")
    parser.add_argument(
        "--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder of real images"
    )
    parser.add_argument(
        "--out",
        type=Path,
        help="where to write; docs/explanation/studies, or build/studies for phantoms",
    )
    chosen = parser.parse_args(arguments)
    unknown = set(chosen.names) - set(names)
    if unknown:
        parser.error(f"there is no study {sorted(unknown)[0]!r}; there are {', '.join(names)}.")
    for name in chosen.names or names:
        start = time.perf_counter()
        needed = STUDIES[name].folders if name in STUDIES else every_folder()
        real = all((chosen.data / folder).is_dir() for folder in needed)
        # The text of the pages in docs is about the real images, so phantoms go elsewhere.
        out = chosen.out or ROOT / ("docs/explanation/studies" if real else "build/studies")
        data = chosen.data if real else None
        if name in STUDIES:
            run(STUDIES[name], data, out)
        else:
            run_grid(list(STUDIES.values()), data, out)
        kind = "real images" if real else f"phantoms, as {' and '.join(needed)} are missing"
        seconds = time.perf_counter() - start
        print(f"{name}: {kind}; {out / name}.md, {seconds:.0f} s", file=sys.stderr)


def every_folder() -> tuple[str, ...]:
    """Return the folders of real images that the whole grid needs."""
    used = [folder for study in STUDIES.values() for folder in study.folders]
    return tuple(dict.fromkeys([*used, *FOLDERS]))


if __name__ == "__main__":
    main()
