"""Writing what another program says about our scenes as test data: stdlib and numpy only."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from importlib.metadata import version
from importlib.util import module_from_spec, spec_from_file_location
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
    scripts: tuple[Path, ...] = (),
    second: str = "",
    **more: Any,
) -> None:
    """Run a program on a family of scenes and write tests/data/protocols/PROTOCOL.json.

    A program is known by its packages and their versions, or by a script and its digest. A
    `second` opinion has a file of its own, PROTOCOL.SECOND.json. Scenes without any number or
    error are left out.
    """
    head = {
        "protocol": protocol,
        "programs": {package: version(package) for package in packages}
        | {script.name: f"sha256 {sha256(script.read_bytes()).hexdigest()}" for script in scripts},
        "family": family,
        "tolerance": tolerance,
        **more,
    }
    lines = []
    for scene in FAMILIES[family]():
        found = answer(evaluate, scene)
        entry = {
            "name": scene.name,
            "made": scene.made,
            "seed": scene.seed,
            "spacing": scene.spacing,
            "shape": scene.reference.shape,
            "checksum": scene.checksum,
        }
        if any(found.values()):
            lines.append(json.dumps(entry | found))
    DATA.mkdir(parents=True, exist_ok=True)
    scenes = ",\n".join(lines)
    text = f'{json.dumps(head)[:-1]},\n"scenes": [\n{scenes}\n]}}\n'
    (DATA / f"{protocol}{'.' * bool(second)}{second}.json").write_text(text, encoding="utf-8")


def load(script: Path) -> Any:
    """Return the module that a script is."""
    spec = spec_from_file_location(script.stem, script)
    if spec is None or spec.loader is None:
        raise ImportError(f"{script} is not a Python file.")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
