"""`panmatch spec`: a commented spec to begin with."""

from __future__ import annotations

from pathlib import Path

from panmatch.errors import FileError, check_choice
from panmatch.formats import write_atomically
from panmatch.spec import preset_names, preset_text


def run_spec(preset: str, out: Path | None, names: bool) -> None:
    """Print or write a preset, or list all."""
    if names:
        for name in preset_names():
            print(f"{name:18} {preset_text(name).splitlines()[0].lstrip('# ')}")
        return
    check_choice("PRESET", preset, preset_names())
    if out is None:
        print(preset_text(preset), end="")
        return
    if out.exists():
        raise FileError(f"--out {str(out)!r} exists: name another file, or move it away.")
    write_atomically(out, preset_text(preset).encode())
    print(f"Spec: {out}")
