"""A real server: who is let in, what is served, and what every message is answered."""

from __future__ import annotations

import http.client
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosedError, InvalidStatus

import panmatch as pm
from panmatch.playground import PRESETS, FilePair, State, View, listen, write_link
from panmatch.playground import _request_handler as handler
from panmatch.playground._answers import answer_numbers
from panmatch.playground._server import LARGEST_MESSAGE, STATIC
from panmatch.playground._sources import DrawnScene
from tests.datasets.folders import SPACING, save_nifti, scene
from tests.playground.drawn_scenes import DISCS, MIXED, STRATEGIES
from tests.playground.pages import opened, serving

STATE = State(MIXED, View(threshold=0.2)).to_dict()


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with serving() as found:
        yield found


def get(port: int, path: str, method: str = "GET", **headers: str) -> tuple[int, str, bytes]:
    """Return status, content type and body; the path is sent as it is."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.putrequest(method, path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        response = connection.getresponse()
        return response.status, response.getheader("content-type", ""), response.read()
    finally:
        connection.close()


def test_it_listens_on_this_machine_alone() -> None:
    with listen() as listening:
        assert listening.getsockname()[0] == "127.0.0.1"


def test_a_port_that_is_taken_is_named() -> None:
    with listen() as taken:
        number = taken.getsockname()[1]
        with pytest.raises(pm.PanmatchError, match=f"--port {number} cannot be used"):
            listen(number)


def test_the_page_and_its_files_are_served(port: int) -> None:
    status, kind, body = get(port, "/")
    assert (status, kind) == (200, "text/html; charset=utf-8")
    assert body == (STATIC / "index.html").read_bytes()
    for path in STATIC.rglob("*.*"):
        status, kind, body = get(port, f"/static/{path.relative_to(STATIC).as_posix()}")
        assert (status, body) == (200, path.read_bytes())
        if path.suffix == ".js":
            assert kind.startswith("text/javascript")


@pytest.mark.parametrize(
    "path",
    ["/static/server.py", "/static/../server.py", "/static/%2e%2e/server.py",
     "/static/..%2fserver.py", "/static/%2e%2e%2f__init__.py", "/static/....//server.py",
     "/server.py", "/static/",
     "/static/js", "/static//etc/passwd", "/static/%2fetc%2fpasswd", "/../../../../etc/passwd",
     "/static/..\\server.py", "/ws", "/static/index.html%00.js"],
)  # fmt: skip
def test_nothing_else_is_served(port: int, path: str) -> None:
    status, _, body = get(port, path)
    assert status in (400, 404)
    assert b"import" not in body
    assert b"root:" not in body


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_nothing_but_files_can_be_sent_to_an_address(port: int, method: str) -> None:
    origin = {"Origin": f"http://127.0.0.1:{port}"}
    for path in ("/", "/static/index.html"):
        assert get(port, path, method, **origin)[0] == 405
        assert get(port, path, method)[0] == 403


def test_browsers_are_told_to_be_strict_in_every_response(port: int) -> None:
    for path, status in (("/", 200), ("/static/css/page.css", 200), ("/nowhere", 404)):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", path)
        response = connection.getresponse()
        response.read()
        connection.close()
        assert response.status == status
        policy = response.headers["content-security-policy"].split("; ")
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "img-src 'self' data: blob:" in policy
        assert f"connect-src 'self' ws://127.0.0.1:{port} ws://localhost:{port}" in policy
        assert not any("script-src" in rule or "*" in rule for rule in policy)
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["referrer-policy"] == "no-referrer"
        assert response.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost",
             "127.0.0.1:{port}.evil.example", "[::1]:{port}", "0.0.0.0:{port}", ""],
)  # fmt: skip
def test_foreign_hosts_are_refused(port: int, host: str) -> None:
    status, _, body = get(port, "/", Host=host.format(port=port))
    assert status in (400, 403)
    assert b"<html" not in body
    with (
        pytest.raises(InvalidStatus) as raised,
        opened(port, additional_headers={"Host": host.format(port=port)}),
    ):
        pass
    assert raised.value.response.status_code in (400, 403)


def test_both_names_of_this_machine_are_accepted(port: int) -> None:
    for name in ("127.0.0.1", "localhost", "LOCALHOST"):
        assert get(port, "/", Host=f"{name}:{port}")[0] == 200
    with opened(port, host="localhost", origin=f"http://localhost:{port}") as page:
        assert page.answer("hello")["is"] == "hello"


@pytest.mark.parametrize(
    "origin", [None, "null", "http://evil.example", "https://127.0.0.1:{port}",
               "http://127.0.0.1", "http://127.0.0.1:1", "http://localhost:{port}",
               "http://127.0.0.1:{port}.evil.example", "http://evil.example:{port}"],
)  # fmt: skip
def test_sockets_of_other_pages_are_refused(port: int, origin: str | None) -> None:
    with (
        pytest.raises(InvalidStatus) as raised,
        opened(port, origin=origin and origin.format(port=port)),
    ):
        pass
    assert raised.value.response.status_code == 403


def test_a_message_that_is_too_large_ends_its_own_connection_only(port: int) -> None:
    with opened(port) as other, opened(port) as page:
        text = json.dumps({"ask": "hello", "more": "x" * LARGEST_MESSAGE})
        page.socket.send(text)
        with pytest.raises(ConnectionClosedError, match="1009"):
            page.hear()
        assert other.answer("hello")["is"] == "hello"


def test_hello_says_what_there_is(port: int) -> None:
    with opened(port) as page:
        found = page.answer("hello")
    assert found["version"] == pm.__version__
    assert found["pair"] is None
    whole = [one["id"] for one in found["strategies"] if not one["needs_parts"]]
    assert whole == list(STRATEGIES)
    by_parts = {one["id"] for one in found["strategies"]} - {*whole}
    assert by_parts == {f"{name}/parts" for name in whole if "optimal" in name}
    assert [one["id"] for one in found["strategies"] if one["needs_regions"]] == ["union"]
    assert all(one["label"] and one["about"] for one in found["strategies"])
    assert [one["id"] for one in found["presets"]] == [one.id for one in PRESETS]
    assert found["presets"][0]["state"] == PRESETS[0].state.to_dict()
    assert found["limits"] == {"shapes": 400, "stroke_points": 2000, "scene_points": 20000}


def test_a_link_becomes_a_complete_state(port: int) -> None:
    with opened(port) as page:
        found = page.answer("link", 4, link="?refs=0.5,0.5,0.1&preds=&matcher=hungarian")
        assert (found["is"], found["seq"]) == ("state", 4)
        assert State.from_dict(found["state"]).to_dict() == found["state"]
        assert found["state"]["view"]["strategy"] == "one-to-one/optimal"
        link = write_link(State(MIXED, View(threshold=0.2)))
        assert page.answer("link", link=link)["state"] == STATE
        start = page.answer("link", link="")
        assert start["state"]["scene"] is not None


@pytest.mark.parametrize(
    ("kind", "more", "message"),
    [
        ("link", {"link": "?refs=1,2&preds="}, "refs"),
        ("link", {"link": 7}, "link=7 must be a valid string"),
        ("link", {"link": "#%7B%22format%22:1,%22scene%22:null%7D"}, "panmatch play REF PRED"),
        ("numbers", {"state": State(None).to_dict()}, "panmatch play REF PRED"),
        ("numbers", {}, "state is missing"),
        ("numbers", {"state": {**STATE, "view": {"threshold": 1.5}}}, "threshold"),
        ("numbers", {"state": {**STATE, "view": {"tresh": 0}}}, "did you mean 'threshold'"),
        ("numbers", {"state": {**STATE, "view": {"areas": "analytic"}}}, "only for discs"),
        ("slice", {"axis": 0, "index": 0}, "a pair of files"),
        ("object", {"side": "left", "id": 1, "state": STATE}, "side='left'"),
        ("object", {"side": "reference", "id": 99, "state": STATE}, "no reference 99"),
        ("object", {"side": "reference", "id": "1", "state": STATE}, "id='1' must be a valid int"),
        ("code", {"state": {"format": 2, "scene": None}}, "format=2"),
        ("numers", {}, "did you mean 'numbers'"),
    ],
)  # fmt: skip
def test_a_problem_is_said_and_the_connection_lives_on(
    port: int, kind: str, more: dict[str, object], message: str
) -> None:
    with opened(port) as page:
        found = page.answer(kind, 11, **more)
        assert (found["is"], found["about"], found["seq"]) == ("problem", kind, 11)
        assert message in found["problem"]
        assert page.answer("hello")["is"] == "hello"


def test_numbers_are_answered_with_their_time_and_related_metrics_follow(port: int) -> None:
    with opened(port) as page:
        found = page.answer("numbers", 5, state=STATE)
        assert found.pop("milliseconds") > 0
        expected = answer_numbers(DrawnScene(MIXED), View(threshold=0.2))
        expected["certificate"].pop("gap")
        found["certificate"].pop("gap")
        assert found == json.loads(
            json.dumps({"is": "numbers", "seq": 5, "confidence": None, **expected})
        )
        related = page.hear_of("related")
        assert related["seq"] == 5
        assert len(related["rows"]) == 10


def test_of_fifty_requests_the_last_is_answered_and_not_all_others(port: int) -> None:
    with opened(port) as page:
        for seq in range(50):
            state = State(MIXED, View(threshold=seq / 100)).to_dict()
            page.ask("numbers", seq, state=state)
        answered: list[dict[str, Any]] = []
        while not answered or answered[-1]["seq"] != 49:
            answered.append(page.hear_of("numbers"))
        seqs = [message["seq"] for message in answered]
        assert seqs == sorted(seqs)
        assert len(seqs) < 50
        assert answered[-1]["tally"]["tp"] == pm.match(
            pm.count_overlaps(*MIXED.label_images()), threshold=0.49
        ).tally.tp  # fmt: skip


def test_a_page_that_hears_nothing_holds_up_no_other(port: int) -> None:
    with opened(port, max_queue=1) as deaf, opened(port) as page:
        for seq in range(300):
            deaf.ask("code", seq, state=STATE)
            deaf.ask("numbers", seq, state=STATE)
        for seq in range(3):
            assert page.answer("numbers", seq, state=STATE)["seq"] == seq


def test_numbers_are_those_of_the_scene_that_was_sent_with_them(port: int) -> None:
    with opened(port) as page:
        for scene_ in (MIXED, DISCS, MIXED):
            found = page.answer("numbers", state=State(scene_).to_dict())
            assert len(found["vertices"]["reference"]) == len(scene_.reference)


def test_pages_do_not_see_each_others_scenes(port: int) -> None:
    with opened(port) as one, opened(port) as other:
        empty = State.from_dict({"format": 1, "scene": {"reference": [], "prediction": []}})
        for _ in range(3):
            one.ask("numbers", state=STATE)
            other.ask("numbers", state=empty.to_dict())
            assert one.hear_of("numbers")["tally"]["tp"] == 5
            assert other.hear_of("numbers")["tally"]["status"] == "empty"


def test_a_bug_is_logged_and_answered_and_the_server_lives_on(
    port: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("by nothing")

    with opened(port) as page:
        with monkeypatch.context() as patch:
            patch.setattr(handler, "answer_numbers", broken)
            found = page.answer("numbers", 3, state=STATE)
        assert (found["is"], found["seq"]) == ("problem", 3)
        assert found["problem"] == (
            "this is a bug in panmatch: ZeroDivisionError: by nothing"
        )  # fmt: skip
        logged = [record for record in caplog.records if record.levelno == logging.ERROR]
        assert logged[0].exc_info is not None
        assert page.answer("numbers", 4, state=STATE)["is"] == "numbers"


def test_a_number_that_json_has_not_is_a_bug_and_never_sent(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler, "answer_numbers", lambda *_: {"tally": float("nan")})
    with opened(port) as page:
        assert "bug in panmatch" in page.answer("numbers", state=STATE)["problem"]


def test_code_is_answered(port: int) -> None:
    with opened(port) as page:
        found = page.answer("code", 8, state=STATE)
    assert "pm.count_overlaps" in found["python"]
    assert found["command"].startswith("panmatch play --export panmatch-scene --link '#")
    assert found["notes"] == []


@pytest.fixture
def pair(tmp_path: Path) -> FilePair:
    paths = tmp_path / "ref.nii.gz", tmp_path / "pred.nii.gz"
    save_nifti(paths[0], scene(3), SPACING)
    save_nifti(paths[1], np.roll(scene(3), 1, axis=0), SPACING)
    return FilePair.open(*paths)


def test_a_pair_of_files_is_shown(pair: FilePair) -> None:
    state = State(None, View(threshold=0.1)).to_dict()
    with serving(pair) as port, opened(port) as page:
        assert page.answer("hello")["pair"] == pair.describe()
        axis, index = pair.busiest_slice()
        start = State(None, View(axis=axis, slice=index))
        assert page.answer("link", link="")["state"] == start.to_dict()
        found = page.answer("numbers", 2, state=state)
        assert found["tally"]["tp"] == pm.match(pair.overlap, threshold=0.1).tally.tp > 0
        assert page.answer("slice", 3, axis=1, index=5)["index"] == 5
        assert page.answer("slice", 3, axis=1, index=None)["index"] == 10
        one = page.answer("object", 4, side="reference", id=2, state=state)
        assert one["partners"][0]["id"] == 2
        assert "read_labels" in page.answer("code", 5, state=state)["python"]
        refused = page.answer("numbers", 6, state=STATE)
        assert "a pair of files is open" in refused["problem"]


def test_metrics_of_voxels_of_a_pair_come_later_and_are_computed_once(pair: FilePair) -> None:
    state = State(None).to_dict()
    with serving(pair) as port, opened(port) as page:
        page.ask("numbers", 1, state=state)
        rows = [{row["id"]: row for row in page.hear_of("related")["rows"]} for _ in range(2)]
        assert rows[0]["cluster-dice"]["value"] is None
        assert "Computing from the voxels" in rows[0]["cluster-dice"]["note"]
        assert rows[1]["cluster-dice"]["value"] > 0
        assert rows[0]["npq"] == rows[1]["npq"]
        page.ask("numbers", 2, state=state)
        again = page.hear_of("related")
        assert again["rows"] == list(rows[1].values())


def test_a_link_of_a_pair_is_fitted_to_the_files(pair: FilePair) -> None:
    with serving(pair) as port, opened(port) as page:
        view = View(axis=2, slice=13, threshold=0.3)
        kept = page.answer("link", link=write_link(State(None, view)))
        assert (kept["state"]["view"], kept["notes"]) == (view.to_dict(), [])
        beyond = page.answer("link", link=write_link(State(None, View(axis=2, slice=14))))
        assert beyond["state"]["view"]["slice"] is None
        drawn = page.answer("link", link=write_link(State(MIXED, view)))
        assert drawn["state"]["scene"] is None
        assert "scene of the link is ignored" in drawn["notes"][0]
