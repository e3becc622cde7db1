"""`panmatch play` as people type it."""

from __future__ import annotations

import http.client
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from panmatch.datasets import DatasetPaths, Job, load_run
from panmatch.playground import State, View, listen, read_link, write_link
from panmatch.spec import as_spec
from tests.commands import STRICT_PYTHON
from tests.datasets.folders import SPACING, make_folders, run, save_nifti, scene
from tests.platforms import needs_posix
from tests.playground.class_files import write_lesions, write_street
from tests.playground.drawn_scenes import MIXED
from tests.playground.pages import opened

LINK = write_link(State(MIXED, View(threshold=0.2)))


def command(*arguments: object) -> list[str]:
    return [*STRICT_PYTHON, "-m", "panmatch", "play", *map(str, arguments)]


def panmatch(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, check=False, cwd=cwd, timeout=100
    )


def heed_interruptions() -> None:
    """Undo what a shell does to programs in its background, which ignore interruptions."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def playing(*arguments: object) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Yield a running playground and the line that it prints."""
    process = subprocess.Popen(
        command("--no-browser", *arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interruptions if os.name == "posix" else None,
    )
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline()
    finally:
        process.kill()
        process.communicate()


def port_of(line: str) -> int:
    found = re.match(r"Playground: http://127\.0\.0\.1:(\d+)/.* \(press Ctrl-C to stop\)$", line)
    assert found is not None, line
    return int(found.group(1))


@needs_posix
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


def test_an_image_is_shown_beneath_the_labels(tmp_path: Path) -> None:
    save_nifti(tmp_path / "ref.nii.gz", scene(3), SPACING)
    save_nifti(tmp_path / "flair.nii.gz", 3 * scene(4), SPACING)
    files = tmp_path / "ref.nii.gz", tmp_path / "ref.nii.gz"
    shown = playing(*files, "--image", tmp_path / "flair.nii.gz")
    with shown as (_, line), opened(port_of(line)) as page:
        assert page.answer("hello")["pair"]["image"] == "flair.nii.gz"
        assert page.answer("slice", axis=0)["image"] is not None


def test_scores_give_predictions_their_confidences(tmp_path: Path) -> None:
    labels = scene(3)
    save_nifti(tmp_path / "ref.nii.gz", labels, SPACING)
    rows = [f"{one},{one / 10}\n" for one in np.unique(labels[labels != 0]).tolist()]
    (tmp_path / "scores.csv").write_text("id,score\n" + "".join(rows))
    files = tmp_path / "ref.nii.gz", tmp_path / "ref.nii.gz"
    shown = playing(*files, "--scores", tmp_path / "scores.csv")
    with shown as (_, line), opened(port_of(line)) as page:
        assert page.answer("hello")["pair"]["scores"] == "scores.csv"
        found = page.answer("numbers", state=State(None, View(cut=0.2)).to_dict())
        assert found["confidence"]["kept"] == len(rows) - 1


def test_scores_need_a_pair_of_files(tmp_path: Path) -> None:
    alone = panmatch("--scores", "scores.csv")
    assert alone.returncode == 2
    assert "--scores gives the predictions of a label file their" in " ".join(alone.stderr.split())
    of_run = panmatch(tmp_path, "--scores", "scores.csv", "--case", "a")
    assert of_run.returncode == 2
    assert "name REF and PRED instead of a run" in " ".join(of_run.stderr.split())


def test_a_scene_is_exported_and_the_command_to_evaluate_it_printed(tmp_path: Path) -> None:
    done = panmatch("--export", "my scene", "--link", LINK, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in (tmp_path / "my scene").iterdir()) == [
        "prediction.png", "reference.png", "spec.yaml"
    ]  # fmt: skip
    assert "panmatch evaluate 'my scene/reference.png' 'my scene/prediction.png'" in done.stdout
    again = panmatch("--export", "my scene", "--link", LINK, cwd=tmp_path)
    assert again.returncode == 2
    assert "already exists: choose another folder" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ref.npy"], "PRED is missing"),
        (["ref.npy", "nowhere.npy"], "'nowhere.npy' does not exist"),
        (["ref.npy", "long.npy"], "both must lie on the same grid"),
        (["ref.npy", "ref.npy", "--export", "folder"], "--export writes a drawn scene"),
        (["--link", "?refs=1"], "preds"),
        (["--link", "nonsense"], "is not a link"),
        (["--export", "folder", "--link", write_link(State(None))], "no scene to export"),
        (["--port", "70000"], "Invalid value"),
        (["flat.npy", "flat.npy"], "two or three dimensions"),
        (["--image", "ref.npy"], "--image shows an image beneath two label files: name REF"),
        (
            ["ref.npy", "ref.npy", "--image", "long.npy"],
            "the image path='long.npy' has shape (4, 6), but the labels have shape (4, 5)",
        ),
        (["ref.npy", "ref.npy", "--image", "nowhere.nii"], "nowhere.nii"),
    ],
)
def test_an_error_the_user_can_fix_is_one_line_with_exit_code_2(
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


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    run(make_folders(folder, 2, ("near", "far")), folder / "out")
    return folder / "out"


def test_a_case_of_a_run_opens_at_its_costliest_mistake(run_folder: Path) -> None:
    result = load_run(run_folder)
    (worst,) = result.look_first(1, "far", "case00")
    assert (worst.model, worst.case, worst.axis) == ("far", "case00", 2)
    with playing(run_folder, "--case", "case00", "--model", "far") as (_, line):
        state, _ = read_link(line.split()[1])
        assert (state.view.axis, state.view.slice) == (2, worst.slice)
        assert state.view.threshold == result.spec.thresholds[0]
    with playing(run_folder, "--case", "case00", "--model", "far", "--slice", 3) as (_, line):
        assert read_link(line.split()[1])[0].view.slice == 3


def test_the_command_of_the_terminal_opens_the_case(run_folder: Path) -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "panmatch", "show", str(run_folder)],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    (at,) = [i for i, line in enumerate(shown.splitlines()) if line.startswith("Look first: ")]
    words = shlex.split(shown.splitlines()[at + 1])
    (worst,) = load_run(run_folder).look_first(1, "near")
    assert f"{worst.case} of near, {worst.what}" in shown
    assert words[:2] == ["panmatch", "play"]
    with playing(*words[2:]) as (_, line):
        assert read_link(line.split()[1])[0].view.slice == worst.slice


def lesion_run(folder: Path, spec: dict[str, object]) -> Path:
    """Evaluate the lesions of one case, whose labels are not the objects."""
    reference, prediction = write_lesions(folder)
    job = Job(as_spec({"preset": "brats-mets", "void": 9, **spec}).canonical())
    run(DatasetPaths(reference, {"splits": prediction}), folder / "out", job=job)
    return folder / "out"


@pytest.mark.parametrize(
    ("spec", "strategy"),
    [
        ({}, "one-to-one/optimal"),
        ({"headline": "core", "thresholds": [0.3]}, "one-to-one/optimal"),
        ({"headline": None, "matching": "many-to-one"}, "many-to-one/merge/seed"),
        ({"matching": "union"}, "union"),
    ],
)
def test_the_page_has_the_objects_and_numbers_of_the_costliest_class(
    tmp_path: Path, spec: dict[str, object], strategy: str
) -> None:
    out = lesion_run(tmp_path, spec)
    result = load_run(out)
    (worst,) = result.look_first(1)
    (entry,) = [one for one in result.cases[0].entries if one.setting == worst.setting]
    tally = entry.level(worst.threshold).tally
    with playing(out, "--case", worst.case) as (_, line), opened(port_of(line)) as page:
        state = read_link(line.split()[1])[0]
        assert page.answer("hello")["pair"]["class_name"] == worst.setting.class_name
        numbers = page.answer("numbers", state=state.to_dict())
    assert (state.view.strategy, state.view.threshold) == (strategy, worst.threshold)
    assert len(numbers["vertices"]["reference"]) == tally.tp + tally.fn
    for score in ("tp", "fp", "fn", "pq", "sq", "rq"):
        assert numbers["tally"][score] == getattr(tally, score)
    first = numbers["budget"]["mistakes"][0]
    assert (first["kind"], first["references"]) == (worst.kind, list(worst.ref_ids))
    assert first["predictions"] == list(worst.pred_ids)


def test_a_case_without_mistakes_shows_a_class_that_it_has(tmp_path: Path) -> None:
    reference, _ = write_street(tmp_path)
    job = Job(as_spec("cityscapes").canonical())
    run(DatasetPaths(reference, {"copy": reference}), tmp_path / "out", job=job)
    (case,) = load_run(tmp_path / "out").cases
    arguments = tmp_path / "out", "--case", case.case
    with playing(*arguments) as (_, line), opened(port_of(line)) as page:
        assert page.answer("hello")["pair"]["class_name"] == "road"


def test_a_matcher_that_the_page_lacks_is_replaced_by_the_default(tmp_path: Path) -> None:
    out = lesion_run(tmp_path, {"matching": {"strategy": "many-to-one", "score": "dice"}})
    with playing(out, "--case", load_run(out).cases[0].case) as (_, line):
        assert read_link(line.split()[1])[0].view.strategy == View().strategy


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "--case is missing: name a case of the run (case00, case01)."),
        (["--case", "case0"], "--case 'case0' is not in the run; did you mean 'case0"),
        (
            ["--case", "case00"],
            "--model is missing: several models have the case 'case00' (far, near).",
        ),
        (["--case", "case00", "--model", "nea"], "did you mean 'near'?"),
        (["--case", "case00", "--model", "near", "--slice", 99], "--slice 99 does not exist"),
        (
            ["--case", "case00", "--slice", 1, "--link", "x"],
            "--link already says which slice to show",
        ),
    ],
)
def test_what_is_wrong_with_a_case_is_said(
    run_folder: Path, arguments: list[object], words: str
) -> None:
    done = panmatch(run_folder, *arguments)
    assert done.returncode == 2
    assert words in done.stderr


def test_cases_are_those_of_runs() -> None:
    done = panmatch("--case", "a")
    assert done.returncode == 2
    assert "--case needs the output folder of a run: panmatch play OUT --case …" in done.stderr
