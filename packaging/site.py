"""The playground as plain files that any web server can host: `make site`.

Everything that the page loads is in the folder: the page, Pyodide and numpy for it (both from npm),
our Python as an archive, and our native code as WebAssembly. Nothing is fetched from elsewhere.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "site"
SOURCE = ROOT / "src" / "panmatch"
NATIVE = ROOT / "src" / "native"

# Both are compiled for Python 3.12 by the same version of Emscripten, 3.1.58. Only such a pair
# works together, and npm has no later one.
PYODIDE = "pyodide@0.27.7"
NUMPY = "@emscripten-forge/numpy@2.0.1-py312h4e66579-0"
PYODIDE_FILES = (
    "pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json",
)  # fmt: skip

# What the page computes with; the others read files, make tables or talk to people.
PACKAGES = (
    "formats",
    "labels",
    "matching",
    "native",
    "overlap",
    "playground",
    "related",
    "scoring",
)
LEFT_OUT = ("tests", "f2py", "_pyinstaller", "distutils", "include", "testing")
# numpy asks who called it before it reuses the memory of large arrays, through a function of glibc
# that Pyodide lacks. This library has it, and it answers that nobody knows: (i32, i32) -> 0.
BACKTRACE = bytes.fromhex(
    "0061736d01000000"  # WebAssembly, version 1
    "000f0864796c696e6b2e30010400000000"  # a library without memory or table of its own
    "01070160027f7f017f"  # the type
    "03020100"  # one function of it
    "070d01096261636b74726163650000"  # its name
    "0a0601040041000b"  # its body
)
TARGET = ("-target", "wasm32-wasi", "-O2", "-g0")
COMPILED = (
    "-std=c++17", "-ffp-contract=off", "-fignore-exceptions", "-DPANMATCH_WASM", "-DPANMATCH_PLAIN",
)  # fmt: skip
LINKED = ("-mexec-model=reactor", "-s")
WASM_SOURCES = (
    "wasm_module.cpp", "bind_files.cpp", "bind_graph.cpp", "bind_instances.cpp",
    "bind_masks.cpp", "bind_parts.cpp", "bind_voxels.cpp",
)  # fmt: skip

POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; script-src 'self' 'wasm-unsafe-eval'; "
    "worker-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'"
)


def main(folder: Path, zig: Path) -> None:
    """Write the site to a folder."""
    engine = folder / "engine"
    shutil.rmtree(folder, ignore_errors=True)
    (engine / "pyodide").mkdir(parents=True)
    pyodide = unpacked(PYODIDE)
    for name in PYODIDE_FILES:
        shutil.copy(pyodide / name, engine / "pyodide" / name)
    write_archive(engine / "numpy.zip", numpy_files(unpacked(NUMPY)))
    write_archive(engine / "panmatch.zip", our_files())
    write_archive(engine / "readers.zip", reader_files())
    (engine / "backtrace.wasm").write_bytes(BACKTRACE)
    shutil.copy(compiled(zig), engine / "core.wasm")
    shutil.copytree(SOURCE / "playground" / "static", folder / "static")
    page = folder / "static" / "index.html"
    (folder / "index.html").write_text(
        static_page(page.read_text("utf-8"), loaded_bytes(engine)), "utf-8"
    )
    page.unlink()
    print(f"The playground: {folder / 'index.html'}, to be served by any web server")


def unpacked(package: str) -> Path:
    """Return the folder of a package of npm, which is downloaded once."""
    folder = BUILD / "npm" / package.replace("/", "+")
    if not (folder / "done").exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = ["npm", "pack", "--json", "--pack-destination", str(folder), package]
        answer = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder)
        named = json.loads(answer.stdout)[0]["filename"]
        archive = folder / named.replace("@", "").replace("/", "-")
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
        (folder / "done").touch()
    return folder / "package"


def numpy_files(package: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of numpy that a page needs."""
    (archive,) = (package / "pkg").glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        for member in tar:
            _, found, name = member.name.partition("/site-packages/")
            parts = Path(name).parts
            if not (found and member.isfile()) or name.endswith((".pyi", ".pxd", ".a", ".h")):
                continue
            if any(part in LEFT_OUT for part in parts[:-1]) or "_simd." in name:
                continue
            content = tar.extractfile(member)
            assert content is not None
            yield name, content.read()


def our_files() -> Iterator[tuple[str, bytes]]:
    """Yield our Python and PyYAML's, which works without its compiled part."""
    import yaml

    paths = [path for package in PACKAGES for path in sorted((SOURCE / package).rglob("*.py"))]
    stories = sorted((SOURCE / "playground").glob("*.yaml"))
    for path in [*sorted(SOURCE.glob("*.py")), *paths, *stories]:
        name = path.relative_to(SOURCE.parent).as_posix()
        yield name.replace("native/_browser.py", "native/_core.py"), path.read_bytes()
    for path in sorted(Path(yaml.__file__).parent.glob("*.py")):
        yield f"yaml/{path.name}", path.read_bytes()


def reader_files() -> Iterator[tuple[str, bytes]]:
    """Yield nibabel and what it imports, which are plain Python: NIfTI files need them."""
    import nibabel
    import typing_extensions

    import packaging as versions

    for package in (nibabel, versions):
        home = Path(str(package.__file__)).parent
        for path in sorted(home.rglob("*.py")):
            if not {"tests", "benchmarks", "cmdline"} & set(path.relative_to(home).parts):
                yield path.relative_to(home.parent).as_posix(), path.read_bytes()
    yield "typing_extensions.py", Path(typing_extensions.__file__).read_bytes()


def write_archive(path: Path, files: Iterator[tuple[str, bytes]]) -> None:
    """Write a ZIP archive; the same files give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED, 9)
    path.write_bytes(buffer.getvalue())


def compiled(zig: Path) -> Path:
    """Return our native code as WebAssembly, compiled again if a source has changed."""
    made = BUILD / "core.wasm"
    newest = max(path.stat().st_mtime for path in NATIVE.iterdir())
    if not made.exists() or made.stat().st_mtime < newest:
        made.parent.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor() as pool:
            objects = list(pool.map(partial(compile_one, zig), WASM_SOURCES))
        command = [str(zig), "-m", "ziglang", "c++", *TARGET, *LINKED, *map(str, objects)]
        subprocess.run([*command, "-o", str(made)], check=True)
    return made


def compile_one(zig: Path, name: str) -> Path:
    """Compile a source file, and return its object file."""
    made = BUILD / f"{name}.o"
    command = [str(zig), "-m", "ziglang", "c++", *TARGET, *COMPILED, "-c", str(NATIVE / name)]
    subprocess.run([*command, "-o", str(made)], check=True)
    return made


def loaded_bytes(engine: Path) -> int:
    """Return how much a page fetches before it can compute."""
    later = {engine / "pyodide" / name for name in ("pyodide.mjs", "pyodide.asm.js")}
    later.add(engine / "readers.zip")  # loaded with the first file
    files = [path for path in engine.rglob("*") if path.is_file() and path not in later]
    return sum(path.stat().st_size for path in files)


def static_page(page: str, size: int) -> str:
    """Return the page for a web server that sends no headers of ours."""
    first = '<meta charset="utf-8" />'
    head = (
        first,
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}" />',
        f'<meta name="engine" content="browser" data-bytes="{size}" />',
    )
    assert page.count(first) == 1
    return page.replace(first, "\n    ".join(head))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(os.environ.get("ZIG_PYTHON", sys.executable)))
