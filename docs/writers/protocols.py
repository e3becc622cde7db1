"""The page about protocols, written from their files: docs/reference/protocols.md."""

from __future__ import annotations

from panmatch.protocols import Protocol, find_protocol, protocol_names

INTRODUCTION = """\
# Protocols: the numbers of published programs

<!-- Written by docs/writers/protocols.py. -->

A protocol gives the numbers of one program and version, under that program's own names, so that
they can stand beside published ones. It is a small file that chooses options of the same machinery
as everything else here: `panmatch protocol show NAME` prints it.

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

On the command line `panmatch evaluate REF PRED --protocol NAME -o OUT` does the same for files and
folders, with workers, tables and report as usual. `OUT/protocol.csv` has a row per model, case and
name, and a row without case for all cases together, put together as the program does. `--explain`
prints our score beside the program's, and the objects on which the two disagree, with reasons:

```text
                   theirs      ours  one-to-one (optimal)
dice               0.5275    0.5275  whole dice
lesion_f1_score       0.8       0.4  RQ at 0.5
Objects on which the two disagree, largest first:
p7, lesion, reference 2 (216 mm³, IoU 0.2): matched, ours missed. Any overlap
  counts as found; ours needs IoU > 0.5.
```

Programs without fixed classes take yours: `classes={"lesion": 2}` of `run`, or the classes of
`--spec`, `--class` or `--dataset-json`; with several of them names begin with the class. Variants
of a program follow after a slash, as in `autopet/third`. Where a program departs from its own
definition, the protocol follows the program and says so below; everything else in panmatch follows
the definition.
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
