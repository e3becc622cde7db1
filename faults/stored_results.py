"""Stored results that were damaged, and inputs that were edited between two runs."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from faults.fault import Fault, check
from faults.runs import evaluate, evaluated, make_dataset, run_facts, save, tables
from panmatch import phantoms

N = 20


def damage_results(folder: Path) -> str:
    """Damage lines of cases.jsonl in every way we could think of."""
    data = make_dataset(folder, N)
    whole, out = evaluated(data, folder / "whole"), folder / "out"
    lines = (folder / "whole" / "cases.jsonl").read_bytes().splitlines(keepends=True)
    other = json.loads(lines[2]) | {"job": "another"}
    digit = lines[4].replace(b'"tp":', b'"tp":1', 1)
    check(digit != lines[4], "the line has no number to change")
    kinds: dict[str, tuple[list[bytes], int]] = {
        "cut off at the end": ([*lines[:-1], lines[-1][:-40]], 1),
        "cut off in the middle": ([*lines[:3], lines[3][:90] + b"\n", *lines[4:]], 1),
        "one digit changed": ([*lines[:4], digit, *lines[5:]], 1),
        "random bytes": ([*lines, os.urandom(300).replace(b"\n", b"") + b"\n"], 0),
        "zeros, as after a power cut": ([*lines[:5], bytes(4096) + b"\n", *lines[6:]], 1),
        "two lines joined": ([*lines[:6], lines[6].strip(), *lines[7:]], 2),
        "other JSON": ([b"[1, 2]\n", b"{}\n", b"null\n", *lines], 0),
        "100,000 brackets": ([b"[" * 100_000 + b"\n", *lines], 0),
        "a line of another run": ([*lines, json.dumps(other).encode() + b"\n"], 0),
        "empty lines": ([b"\n", *lines, b"\n"], 0),
        "every line twice": ([*lines, *lines], 0),
        "an empty file": ([], N),
    }
    for kind, (content, again) in kinds.items():
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        (out / "cases.jsonl").write_bytes(b"".join(content))
        left = evaluate(data, out, "--resume")
        check(left.code == 0, f"{kind}: it ended with code {left.code}: {left.err}")
        found = run_facts(out)["evaluated_now"]
        check(found == again, f"{kind}: {found} cases were evaluated instead of {again}")
        check(tables(out) == whole, f"{kind}: tables differ")
    return (
        f"{len(kinds)} kinds of damage ({', '.join(kinds)}). Exactly the cases with damaged lines "
        f"are evaluated again, a note says so, and the tables are the same."
    )


def edit_inputs(folder: Path) -> str:
    """Change one prediction, then the spec, then take one case away."""
    data, out = make_dataset(folder, N), folder / "out"
    evaluated(data, out)
    changed = phantoms.blobs((32, 32, 16), 5, radius=(2, 4), gap=1, seed=99)
    save(data / "pred" / "case003.nii.gz", changed)
    counts = []
    for options in ((), ("-t", "0.3")):
        left = evaluate(data, out, "--resume", *options)
        check(left.code == 0, f"it ended with code {left.code}: {left.err}")
        counts.append(run_facts(out)["evaluated_now"])
        shutil.rmtree(folder / "whole", ignore_errors=True)
        check(tables(out) == evaluated(data, folder / "whole", *options), "tables differ")
    for side in ("ref", "pred"):
        (data / side / "case005.nii.gz").unlink()
    left = evaluate(data, out, "--resume", "-t", "0.3")
    check(run_facts(out)["evaluated_now"] == 0, "a case that is gone made others run again")
    check(b"case005" not in tables(out)["scores.csv"], "a case that is gone is in the tables")
    check(counts == [1, N], f"{counts} cases were evaluated instead of 1 and {N}")
    return (
        f"After an edited prediction, that one case is evaluated again. After an edited spec, all "
        f"{N} are. A deleted case disappears from the tables. panmatch compares file size and "
        f"modification time. If an edit keeps both, use `--overwrite`."
    )


FAULTS = (
    Fault("Lines of `cases.jsonl` are damaged before `--resume`", damage_results),
    Fault("An input file or the spec changes between two runs", edit_inputs),
)
