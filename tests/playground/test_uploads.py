"""Files that a page sends to the server: guarded like everything else, and soon removed."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

import panmatch as pm
from panmatch.playground import State
from panmatch.playground import _dropped_files as dropped
from tests.playground.pages import opened, serving
from tests.playground.test_dropped_files import LABELS, nifti, npy

STATE = State(None).to_dict()


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def port(temporary: Path) -> Iterator[int]:
    with serving() as found:
        yield found
    assert list(temporary.iterdir()) == []


def post(port: int, name: str, content: bytes, **headers: str) -> tuple[int, dict[str, Any]]:
    """Send a file as the page does; headers replace those of the page."""
    sent = {"Origin": f"http://127.0.0.1:{port}", "X-File-Name": quote(name), **headers}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        kept = {key.replace("_", "-"): value for key, value in sent.items() if value}
        connection.request("POST", "/files", content, kept)
        response = connection.getresponse()
        text = response.read().decode()
        is_json = response.getheader("content-type") == "application/json"
        return response.status, json.loads(text) if is_json else {"problem": text}
    finally:
        connection.close()


def key_of(port: int, name: str, content: bytes) -> str:
    status, answer = post(port, name, content)
    assert status == 200, answer
    key: str = answer["key"]
    return key


def test_files_that_were_sent_are_opened_on_that_page_only(port: int, temporary: Path) -> None:
    prediction = np.roll(LABELS, 1, axis=0)
    with opened(port) as page, opened(port) as other:
        keys = {
            "reference": key_of(port, "ré f.npy", npy(LABELS)),
            "prediction": key_of(port, "pred.npy", npy(prediction)),
        }
        assert len(list(temporary.rglob("*.npy"))) == 2
        found = page.answer("open", 3, **keys)
        assert (found["is"], found["seq"]) == ("opened", 3)
        assert (found["pair"]["reference"], found["pair"]["dropped"]) == ("ré f.npy", True)
        assert list(temporary.rglob("*.npy")) == []
        numbers = page.answer("numbers", state=STATE)
        expected = pm.match(pm.count_overlaps(LABELS, prediction)).tally
        assert numbers["tally"]["pq"] == expected.pq
        assert page.answer("slice", axis=0)["shape"] == [20, 24]
        assert page.answer("hello")["pair"] == found["pair"]
        assert other.answer("hello")["pair"] is None
        assert "no files are open" in other.answer("numbers", state=STATE)["problem"]
        again = page.answer("open", 1, **keys)
        assert again["problem"] == "the reference has not arrived. Choose the files again."
        assert page.answer("close", 9) == {"seq": 9, "is": "closed", "pair": None}
        assert page.answer("link", link="")["state"]["scene"] is not None


def test_what_cannot_be_opened_leaves_the_page_as_it_was(port: int, temporary: Path) -> None:
    with opened(port) as page:
        keys = [key_of(port, "a.npy", npy(LABELS)), key_of(port, "b.npy", npy(LABELS[:-1]))]
        refused = page.answer("open", reference=keys[0], prediction=keys[1])
        assert (refused["is"], refused["about"]) == ("problem", "open")
        assert "(20, 24)" in refused["problem"]
        assert page.answer("hello")["pair"] is None
        assert list(temporary.rglob("*.npy")) == []


def test_headers_that_disagree_are_marked_as_such(port: int) -> None:
    shifted = np.eye(4)
    shifted[0, 3] = 5
    files = nifti(LABELS, np.eye(4)), nifti(LABELS, shifted)
    with opened(port) as page:
        for allowed in (False, True):
            keys = [key_of(port, "a.nii", content) for content in files]
            found = page.answer(
                "open", reference=keys[0], prediction=keys[1], allow_header_mismatch=allowed
            )
            assert found["is"] == ("opened" if allowed else "problem")
            assert found.get("headers", False) is not allowed


@pytest.mark.parametrize(
    "origin", ["", "null", "http://evil.example", "https://127.0.0.1:{port}", "http://localhost:1",
               "http://127.0.0.1:{port}.evil.example"],
)  # fmt: skip
def test_files_of_other_pages_are_refused(port: int, origin: str, temporary: Path) -> None:
    status, answer = post(port, "a.npy", npy(LABELS), Origin=origin.format(port=port))
    assert (status, answer["problem"]) == (403, "This server only talks to its own page.")
    assert list(temporary.iterdir()) == []


def test_files_for_other_hosts_are_refused(port: int) -> None:
    headers = {"Host": "evil.example", "Origin": "http://evil.example"}
    assert post(port, "a.npy", npy(LABELS), **headers)[0] == 403


def test_what_is_too_large_is_refused_with_the_limit(
    port: int, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = npy(LABELS)
    monkeypatch.setattr(dropped, "LARGEST_FILE", len(content))
    assert post(port, "a.npy", content)[0] == 200
    status, answer = post(port, "b.npy", content + b"!")
    assert status == 413
    assert "'b.npy' is too large to be sent from the page" in answer["problem"]
    # In pieces, without a length that could be checked beforehand.
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {"Origin": f"http://127.0.0.1:{port}", "X-File-Name": "c.npy"}
    connection.request("POST", "/files", iter([content, b"!"]), headers, encode_chunked=True)
    response = connection.getresponse()
    assert (response.status, b"'c.npy' is too large" in response.read()) == (413, True)
    connection.close()
    assert len(list(temporary.rglob("*.npy"))) == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [("notes.txt", "is not an image"), ("", "is not an image"), ("a.mhd", "one of the files")],
)
def test_other_files_are_refused_at_once(
    port: int, name: str, message: str, temporary: Path
) -> None:
    status, answer = post(port, name, b"hello")
    assert status == 422
    assert message in answer["problem"]
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["../../x.npy", "/etc/x.npy", "..\\x.npy", "a/b/c.npy", "x\0y.npy"]
)
def test_the_page_cannot_choose_where_a_file_is_written(
    port: int, name: str, temporary: Path
) -> None:
    key_of(port, name, npy(LABELS))
    (folder,) = temporary.iterdir()
    (written,) = folder.iterdir()
    assert written.suffix == ".npy"
    assert len(written.stem) == 32
    assert not (temporary / "x.npy").exists()


def test_a_key_is_not_a_path(port: int) -> None:
    with opened(port) as page:
        for key in ("/etc/passwd", "..", "", "a.npy"):
            found = page.answer("open", reference=key, prediction=key)
            assert "has not arrived" in found["problem"]


@pytest.mark.skipif(os.name == "nt", reason="programs cannot be asked to end there")
@pytest.mark.parametrize("ended_by", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_ended_removes_what_was_sent(
    tmp_path: Path, ended_by: signal.Signals
) -> None:
    command = [sys.executable, "-m", "panmatch", "play", "--no-browser"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        found = re.search(r"127\.0\.0\.1:(\d+)/", process.stdout.readline())
        assert found
        key_of(int(found[1]), "a.npy", npy(LABELS))
        assert len(list(tmp_path.rglob("*.npy"))) == 1
        process.send_signal(ended_by)
    assert list(tmp_path.iterdir()) == []
