"""`panmatch play` as people type it."""

from __future__ import annotations

import http.client
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from panmatch.playground import State, View, listen, read_link, write_link
from tests.datasets.folders import SPACING, save_nifti, scene
from tests.playground.drawn_scenes import MIXED
from tests.playground.pages import opened

LINK = write_link(State(MIXED, View(threshold=0.2)))


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-W", "error", "-m", "panmatch", "play", *map(str, arguments)]


def panmatch(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, check=False, cwd=cwd, timeout=100
    )


@contextmanager
def playing(*arguments: object) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Yield a running playground and the line that it prints."""
    process = subprocess.Popen(
        command("--no-browser", *arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Programs that run in the background of a shell ignore interruptions, and so do theirs.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline()
    finally:
        process.kill()
        process.communicate()


def port_of(line: str) -> int:
    found = re.match(r"Playground: http://127\.0\.0\.1:(\d+)/.* \(Ctrl-C ends it\)$", line)
    assert found is not None, line
    return int(found.group(1))


def test_it_says_where_it_is_and_an_interruption_ends_it() -> None:
    with playing() as (process, line):
        port = port_of(line)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", "/")
        assert connection.getresponse().status == 200
        connection.close()
        with opened(port) as page:  # an open page does not hold it up
            assert page.answer("hello")["is"] == "hello"
            process.send_signal(signal.SIGINT)
            rest = process.communicate(timeout=60)
        assert process.returncode == 0
        assert rest == ("", "")


def test_files_a_port_and_a_link_are_taken(tmp_path: Path) -> None:
    paths = tmp_path / "ref.nii.gz", tmp_path / "pred.nii.gz"
    save_nifti(paths[0], scene(3), SPACING)
    save_nifti(paths[1], scene(4), SPACING)
    with listen() as free:
        number = free.getsockname()[1]
    view = View(threshold=0.3, axis=1)
    link = "http://somewhere/" + write_link(State(None, view))
    with playing(*paths, "--port", number, "--link", link) as (_, line):
        assert port_of(line) == number
        shown = line.split()[1].removeprefix(f"http://127.0.0.1:{number}/")
        assert read_link(shown)[0] == State(None, view)
        with opened(number) as page:
            assert page.answer("hello")["pair"]["reference"] == "ref.nii.gz"


def test_a_scene_is_exported_and_the_command_to_evaluate_it_printed(tmp_path: Path) -> None:
    done = panmatch("--export", "my scene", "--link", LINK, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in (tmp_path / "my scene").iterdir()) == [
        "prediction.png", "reference.png", "spec.yaml"
    ]  # fmt: skip
    assert "panmatch evaluate 'my scene/reference.png' 'my scene/prediction.png'" in done.stdout
    again = panmatch("--export", "my scene", "--link", LINK, cwd=tmp_path)
    assert again.returncode == 2
    assert "exists: name another folder" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ref.npy"], "PRED is missing"),
        (["ref.npy", "nowhere.npy"], "'nowhere.npy' does not exist"),
        (["ref.npy", "long.npy"], "both must lie on the same grid"),
        (["ref.npy", "ref.npy", "--export", "folder"], "--export writes a scene"),
        (["--link", "?refs=1"], "preds"),
        (["--link", "nonsense"], "is not a link"),
        (["--export", "folder", "--link", write_link(State(None))], "no scene to export"),
        (["--port", "70000"], "Invalid value"),
        (["flat.npy", "flat.npy"], "two or three dimensions"),
    ],
)
def test_what_the_user_can_mend_is_said_in_one_line_with_exit_code_2(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    for name, shape in (("ref", (4, 5)), ("long", (4, 6)), ("flat", (9,))):
        np.save(tmp_path / f"{name}.npy", np.ones(shape, np.uint8))
    done = panmatch("--no-browser", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_port_in_use_is_named() -> None:
    with listen() as taken:
        number = taken.getsockname()[1]
        done = panmatch("--no-browser", "--port", number)
    assert done.returncode == 2
    assert done.stderr.startswith(f"panmatch: --port {number} cannot be used: ")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
