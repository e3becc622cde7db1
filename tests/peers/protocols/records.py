"""Writing what another program says about our scenes as test data: stdlib and numpy only."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.peers.protocols.scenes import FAMILIES, Scene

DATA = Path(__file__).parents[2] / "data" / "protocols"


def flat(results: Mapping[Any, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    """Yield the numbers of nested results, their names joined by slashes."""
    for key, value in results.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{key}/")
        else:
            yield f"{prefix}{key}", float(value)


def answer(evaluate: Callable[[Scene], Mapping[str, Any]], scene: Scene) -> dict[str, Any]:
    """Return the numbers of a scene, or the name of the error that the program raised."""
    try:
        return {"numbers": dict(flat(evaluate(scene)))}
    except (ArithmeticError, IndexError, ValueError) as error:
        return {"raises": type(error).__name__}


def write(
    protocol: str,
    evaluate: Callable[[Scene], Mapping[str, Any]],
    *,
    packages: tuple[str, ...],
    family: str,
    tolerance: float = 1e-9,
    **more: Any,
) -> None:
    """Run a program on a family of scenes and write tests/data/protocols/PROTOCOL.json."""
    head = {
        "protocol": protocol,
        "programs": {package: version(package) for package in packages},
        "family": family,
        "tolerance": tolerance,
        **more,
    }
    lines = [
        json.dumps(
            {
                "name": scene.name,
                "made": scene.made,
                "seed": scene.seed,
                "spacing": scene.spacing,
                "shape": scene.reference.shape,
                "checksum": scene.checksum,
                **answer(evaluate, scene),
            }
        )
        for scene in FAMILIES[family]()
    ]
    DATA.mkdir(parents=True, exist_ok=True)
    scenes = ",\n".join(lines)
    text = f'{json.dumps(head)[:-1]},\n"scenes": [\n{scenes}\n]}}\n'
    (DATA / f"{protocol}.json").write_text(text, encoding="utf-8")
