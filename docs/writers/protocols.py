"""The page about protocols, written from their files: docs/reference/protocols.md."""

from __future__ import annotations

from panmatch.protocols import Protocol, find_protocol, protocol_names

INTRODUCTION = """\
# Protocols: the numbers of published programs

<!-- Written by docs/writers/protocols.py. -->

A protocol gives the numbers of one program and version, under that program's own names, so you can
put them next to published ones. Each protocol is a small file of options for the same code that
computes everything else: `panmatch protocol show NAME` prints it.

```python
>>> import numpy as np
>>> import panmatch as pm
>>> reference, prediction = np.zeros((2, 40, 40, 40), int)
>>> reference[4:12, 4:12, 4:12] = 3  # enhancing tumour
>>> prediction[5:12, 4:12, 4:12] = 3
>>> prediction[30:32, 30:32, 30:32] = 3  # spurious
>>> found = pm.protocols.run(
...     "brats-2023-lesionwise", reference=reference, prediction=prediction, spacing=(1, 1, 1)
... )
>>> round(found["ET/LesionWise_Score_Dice"], 4), found["ET/LesionWise_Score_HD95"]
(0.4667, 187.5)

```

On the command line, `panmatch evaluate REF PRED --protocol NAME -o OUT` does the same for files and
folders, with workers, tables and report as usual. `OUT/protocol.csv` has one row for each model,
case and number, and one row without a case for the average that the program computes. `--explain`
prints our score next to the program's, and the objects on which the two disagree, with reasons:

```text
                   theirs      ours  one-to-one (optimal)
dice               0.5275    0.5275  whole dice
lesion_f1_score       0.8       0.4  RQ at 0.5
Objects on which the two disagree, largest first:
p7, lesion, reference 2 (216 mm³, IoU 0.2): matched, ours missed. Any overlap
  counts as found; ours needs IoU > 0.5.
```

If a program has no fixed classes, name yours: `run(…, classes={"lesion": 2})` in Python, or
`--spec`, `--class` or `--dataset-json` on the command line. With several classes, names start with
the class. A variant of a program is written after a slash, as in `autopet/third`. Where a program
differs from its own definition, the protocol follows the program and says so below. Everything else
in panmatch follows the definition.
"""


def protocols_page() -> str:
    """Return the page as Markdown."""
    found = [find_protocol(name) for name in protocol_names()]
    table = [
        "| name | program | version | classes | over cases |",
        "|---|---|---|---|---|",
        *map(_line, found),
    ]
    return "\n".join([INTRODUCTION, *table]) + "\n\n" + "\n\n".join(map(_section, found)) + "\n"


def _line(protocol: Protocol) -> str:
    cells = [
        f"[`{protocol.name}`](#{protocol.name.replace('.', '')})",
        f"[{protocol.program}]({protocol.source})",
        protocol.version,
        "the program's" if protocol.classes == "fixed" else "yours",
        protocol.over_cases,
    ]
    return "| " + " | ".join(cells) + " |"


def _section(protocol: Protocol) -> str:
    lines = [
        f"## {protocol.name}",
        "",
        f"{protocol.title}. {protocol.reproduces}",
        "",
        f"Verified: {protocol.verified}",
        "",
        *(f"- {text}" for text in protocol.departs),
        *(
            f"- Variant `{protocol.name}/{name}`: {one.about}"
            for name, one in protocol.variants.items()
        ),
    ]
    return "\n".join(lines)
