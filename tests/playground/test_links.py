"""Links: both grammars are read to the last digit, and what is wrong is refused by name."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from panmatch.errors import LinkError, PanmatchError
from panmatch.playground import (
    PRESETS,
    STRATEGIES,
    Disc,
    Ellipse,
    Scene,
    State,
    Stroke,
    View,
    read_link,
    write_link,
)
from panmatch.playground._links import LONGEST
from panmatch.playground._presets import START
from panmatch.playground._shapes import Shape

coordinates = st.floats(-2000, 2000)
sizes = st.floats(0, 2000)
parts = st.lists(st.floats(0, 1, exclude_min=True, exclude_max=True), max_size=4, unique=True).map(
    lambda factors: tuple(sorted(factors, reverse=True))
)
shapes: st.SearchStrategy[Shape] = st.one_of(
    st.builds(Disc, coordinates, coordinates, sizes, parts),
    st.builds(
        Ellipse,
        coordinates,
        coordinates,
        sizes,
        sizes,
        st.floats(allow_nan=False).filter(lambda angle: abs(angle) < float("inf")),
        parts,
    ),
    st.builds(
        Stroke,
        st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=5).map(tuple),
        sizes,
        parts,
    ),
)
sides = st.lists(shapes, max_size=4).map(tuple)
names = [name for name, listed in STRATEGIES.items() if not listed.needs_regions]
views = st.builds(
    View,
    strategy=st.sampled_from(names),
    compared=st.lists(st.sampled_from(names), unique=True).map(tuple),
    threshold=st.floats(0, 1, exclude_max=True),
    regions=st.booleans(),
    parts=st.booleans(),
    background=st.sampled_from(["image", "none"]),
    voronoi=st.booleans(),
    curves=st.lists(st.sampled_from(["pq", "sq", "rq", "ap"]), unique=True).map(tuple),
    grid=st.booleans(),
    table=st.sampled_from(["pq", "sq", "rq"]),
    axis=st.integers(0, 2),
    slice=st.none() | st.integers(0, 10**6),
)
states = st.builds(State, st.none() | st.builds(Scene, sides, sides), views)


@given(states)
def test_a_link_carries_a_state_to_the_last_digit(state: State) -> None:
    link = write_link(state)
    found, notes = read_link(link)
    assert found == state
    assert notes == []
    assert write_link(found) == link


@given(states)
def test_links_hold_nothing_that_a_message_or_a_browser_would_change(state: State) -> None:
    assert re.fullmatch(r"#[A-Za-z0-9._~:,=-]*", write_link(state))


def as_link(state: Any) -> str:
    return "#" + quote(json.dumps(state))


EMPTY = {"format": 1, "scene": {"reference": [], "prediction": []}}


def test_keys_that_are_not_there_have_their_defaults() -> None:
    assert read_link(as_link(EMPTY)) == (State(Scene(), View()), [])
    assert read_link(as_link(EMPTY | {"view": {"threshold": 0.25}}))[0].view == View(threshold=0.25)
    assert read_link(as_link({"format": 1, "scene": None}))[0] == State(None)


@pytest.mark.parametrize(
    "link", ["", "  ", "?", "#", "?#", "http://localhost:8000/", "https://a.b"]
)
def test_no_scene_at_all_is_the_start(link: str) -> None:
    assert read_link(link) == (START, [])


@pytest.mark.parametrize("before", ["http://127.0.0.1:8000/", "https://a.b/c/d.html", "a.b/c", " "])
def test_scheme_and_host_are_ignored(before: str) -> None:
    assert read_link(before + as_link(EMPTY))[0] == State(Scene())
    assert read_link(before + "?refs=&preds=")[0].scene == Scene()
    assert read_link(before + "?refs=&preds=#")[0].scene == Scene()


QUERY = "?refs=0.25,0.5,0.1&preds=0.5,0.25,0.05;0.75,1,0"


def test_discs_are_relative_to_the_canvas() -> None:
    state, notes = read_link(QUERY)
    assert state == State(
        Scene(
            (Disc(0.25 * 600, 0.5 * 362, 0.1 * 600),),
            (Disc(0.5 * 600, 0.25 * 362, 0.05 * 600), Disc(0.75 * 600, 362, 0)),
        ),
        View(
            strategy="one-to-one/greedy",
            compared=(
                "one-to-one/greedy",
                "one-to-one/optimal",
                "many-to-one/merge/seed",
                "one-to-many/best",
            ),
            areas="analytic",
        ),
    )
    assert notes == ["matcher=greedy is one-to-one/greedy here."]


@pytest.mark.parametrize(
    ("matcher", "compared"),
    [
        (
            "hungarian",
            ("one-to-one/optimal", "many-to-one/merge/seed", "one-to-many/best"),
        ),
        (
            "maximize-merge",
            ("many-to-one/merge/seed", "one-to-one/optimal", "one-to-many/best"),
        ),
    ],
)
def test_the_matcher_is_the_strategy_and_compared_first(
    matcher: str, compared: tuple[str, ...]
) -> None:
    state, notes = read_link(f"{QUERY}&matcher={matcher}")
    assert state.view == View(strategy=compared[0], compared=compared, areas="analytic")
    assert notes == [f"matcher={matcher} is {compared[0]} here."]


def test_discs_that_hide_each_other_are_counted_in_pixels() -> None:
    state, _ = read_link("?refs=0.3,0.5,0.1;0.35,0.5,0.1&preds=0.5,0.5,0.1")
    assert state.view.areas == "raster"


@pytest.mark.parametrize(
    ("more", "curves"),
    [
        ("", ("pq",)),
        ("&autc=0", ()),
        ("&sap=1&asq=1&arq=1", ("pq", "sq", "rq", "ap")),
        ("&sap=1&autc=0", ("ap",)),
        ("&arq=1&asq=0", ("pq", "rq")),
    ],
)
def test_curves_are_those_that_the_link_asks_for(more: str, curves: tuple[str, ...]) -> None:
    assert read_link(QUERY + more)[0].view.curves == curves


def test_mode_says_whether_the_curve_is_marked_on_a_grid() -> None:
    assert not read_link(QUERY + "&mode=scene")[0].view.grid
    assert read_link(QUERY + "&mode=discrete")[0].view.grid


def test_percent_signs_and_the_order_of_keys_do_not_matter() -> None:
    link = "?matcher=greedy&preds=0.5%2C0.25%2C0.05%3B0.75%2C1%2C0&refs=0.25%2C0.5%2C0.1"
    assert read_link(link)[0] == read_link(QUERY)[0]


def test_overlapping_discs_of_a_side_are_noted() -> None:
    _, notes = read_link("?refs=0.5,0.5,0.1;0.55,0.5,0.1&preds=")
    assert notes[1:] == ["Discs of refs overlap: a later one covers an earlier one."]
    _, notes = read_link("?refs=&preds=0.5,0.5,0.1;0.55,0.5,0.1")
    assert notes[1:] == ["Discs of preds overlap: a later one covers an earlier one."]


@pytest.mark.parametrize(
    ("link", "message"),
    [
        (
            QUERY + as_link(EMPTY),
            r"^the link has both a query \(\?…\) and a fragment \(#…\), and each describes a scene",
        ),
        (
            "refs=0.5,0.5,0.1",
            r"^'refs=0\.5,0\.5,0\.1' is not a link: it has neither '\?refs=…&preds=…' nor '#' and",
        ),
        ("#" + "0" * LONGEST, r"^the link is longer than the maximum of 2,000,000 bytes"),
        (
            QUERY + "&tau=0.5",
            r"^the key 'tau' of the link is not known.* Accepted: refs, preds, matcher, mode",
        ),
        (QUERY + "&mod=scene", r"^the key 'mod' of the link is not known; did you mean 'mode'\? "),
        (QUERY + "&refs=", r"^the link gives refs twice\.$"),
        (QUERY + "&sap", r"^'sap' in the link is not key=value\.$"),
        (QUERY + "&", r"^'' in the link is not key=value\.$"),
        ("?refs=0.5,0.5,0.1", r"^the link has no preds\. Give discs, or preds= for none\.$"),
        ("?preds=", r"^the link has no refs\. Give discs, or refs= for none\.$"),
        (
            QUERY + "&matcher=optimal",
            r"^matcher='optimal' is not known\. Accepted: greedy, hungarian, maximize-merge\.$",
        ),
        (QUERY + "&mode=", r"^mode='' is not known\. Accepted: discrete, scene\.$"),
        (QUERY + "&sap=2", r"^sap='2' is not known\. Accepted: 0, 1\.$"),
        (QUERY + "&autc=true", r"^autc='true' is not known\. Accepted: 0, 1\.$"),
        *(
            (
                f"?refs=&preds=0.5,0.5,0.1;0.1,0.1,0.1;{triple}",
                rf"^the 3rd disc of preds, '{re.escape(unquote(triple))}', must be three numbers",
            )
            for triple in (
                "",
                "0.5,0.5",
                "0.5,0.5,0.1,0.2",
                "0.5,0.5,",
                "0.5,0.5,nan",
                "inf,0.5,0.1",
                "1_0,0.5,0.1",
                " 1,0.5,0.1",
                "0x1,0.5,0.1",
                "0.5,0.5,a",
                "%D9%A1,0.5,0.1",
            )
        ),
        (
            "?refs=0.5,0.5,-0.1&preds=",
            r"^the 1st disc of refs, '0\.5,0\.5,-0\.1': r=-60\.0 must be",
        ),
        (
            "?refs=0.5,1e9,0.1&preds=",
            r"^the 1st disc of refs, '0\.5,1e9,0\.1': y=362000000000\.0 must be",
        ),
        (
            "?refs=0.5,0.5,1e999&preds=",
            r"^the 1st disc of refs, '0\.5,0\.5,1e999': r=inf must be",
        ),
        (
            "?preds=&refs=" + ";".join(["0,0,0"] * 401),
            r"^reference=\(.*… must have at most 400 items, not 401\.$",
        ),
        ("#%FF", r"^the link's fragment is not percent-encoded text \(UTF-8\)\.$"),
        ("#{", r"^not JSON: Expecting property name .* at character 1, ''\.$"),
        ("#[abc", r"^not JSON: Expecting value at character 1, 'abc'\.$"),
            ("#abc", r"^the scene 'abc' of the link is not known\. Accepted: figure-strategies, "),
            ("#split-lesions", r"^the scene 'split-lesions' .* did you mean 'split-lesion'\?"),
        ("#1 2", r"^not JSON: Extra data at character 2, '2'\.$"),
        ("#" + "[" * 100_000, r"^the JSON is nested too deeply\.$"),
        ("#" + "1" * 5000, r"^not JSON: Exceeds the limit"),
        ('#{"format": NaN}', r"^NaN is not a valid JSON number; numbers must be finite\.$"),
        ('#{"format": -Infinity}', r"^-Infinity is not a valid JSON number; numbers must be"),
        ('#{"format": 1, "format": 1}', r"^the key 'format' is written twice\.$"),
        ("#[]", r"^state=\[\] must be a dictionary or an instance of State\.$"),
        ("#{}", r"^the key 'format' is missing\. Needed: format, scene\.$"),
        (as_link(EMPTY | {"format": 2}), r"^format=2 must be less than or equal to 1\.$"),
        (as_link(EMPTY | {"format": True}), r"^format=True must be a valid integer\.$"),
        (as_link({"format": 1, "scene": 1}), r"^scene=1 must be a dictionary"),
        (as_link(EMPTY | {"view": []}), r"^view=\[\] must be a dictionary"),
        (
            as_link(EMPTY | {"view": {"threshold": 1}}),
            r"^view: threshold=1\.0 is outside \[0, 1\)",
        ),
        (
            '#{"format": 1, "scene": {"reference": [{"kind": "disc", "x": 1e999, "y": 0, "r": 1}], '
            '"prediction": []}}',
            r"^scene\.reference\[0\]\.x=inf must be a finite number",
        ),
    ],
)  # fmt: skip
def test_what_is_no_link_is_refused_with_the_reason(link: str, message: str) -> None:
    with pytest.raises(LinkError, match=message):
        read_link(link)


def test_messages_stay_short_whatever_the_link() -> None:
    long = "a" * 1_000_000
    for link in (f"?{long}=1", f"?refs={long}&preds=", f"#{long}", as_link({long: 1}),
                 as_link(EMPTY | {"view": {"strategy": long}}), long):  # fmt: skip
        with pytest.raises(LinkError) as caught:
            read_link(link)
        assert len(str(caught.value)) < 500


FULL = State(
    Scene(
        (Disc(1, 2, 3, (0.5,)), Ellipse(4, 5, 6, 7, 8, (0.9, 0.1))),
        (Stroke(((9, 10), (11, 12)), 13, (0.25,)),),
    ),
    View(),
).to_dict()


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths to all values that a state holds, lists and mappings included."""
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            yield from leaves(inner, (*path, position))


def acceptable(path: tuple[Any, ...], value: Any) -> bool:
    """Tell the values that are right in some places: angles, cuts, and negative coordinates."""
    coordinate = path[-1:] in (("x",), ("y",)) or path[-3:-2] == ("points",)
    any_number = path[-1:] in (("angle",), ("cut",))
    return (any_number and isinstance(value, float)) or (coordinate and value == -1.5)


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (path, wrong)
        for path in leaves(FULL)
        for wrong in ("nonsense", {"a": 1}, [["x"]], 5000.5, -1.5, [None])
        if not acceptable(path, wrong)
    ],
)
def test_a_wrong_value_anywhere_is_refused(path: tuple[Any, ...], wrong: Any) -> None:
    state = copy.deepcopy({"": FULL})
    at: Any = state
    for step in ("", *path)[:-1]:
        at = at[step]
    at[("", *path)[-1]] = wrong
    with pytest.raises(LinkError):
        read_link(as_link(state[""]))
    with pytest.raises(PanmatchError):
        State.from_dict(state[""])


@given(st.data())
def test_a_changed_published_link_is_refused_or_read_as_it_stands(data: st.DataObject) -> None:
    link = QUERY + "&matcher=greedy&sap=1"
    at = data.draw(st.integers(1, len(link) - 1))
    with_one = link[:at] + data.draw(st.text("0123456789.,;-+e&=?#x ", max_size=2)) + link[at + 1 :]
    try:
        state, _ = read_link(with_one)
    except LinkError:
        return
    fields = dict(field.split("=") for field in with_one[1:].rstrip("#").split("&"))
    assert state.scene is not None
    for key, found in (("refs", state.scene.reference), ("preds", state.scene.prediction)):
        expected = [
            [float(number) for number in one.split(",")] for one in fields[key].split(";") if one
        ]
        assert found == tuple(Disc(x * 600, y * 362, r * 600) for x, y, r in expected)
    assert set(fields) <= {"refs", "preds", "matcher", "sap"}


@given(st.data())
def test_a_changed_link_of_ours_is_refused_or_read_as_it_stands(data: st.DataObject) -> None:
    link = "#" + json.dumps(FULL)
    at = data.draw(st.integers(1, len(link) - 1))
    changed = (
        link[:at] + data.draw(st.text('0123456789.,:-e"{}[]alr ', max_size=2)) + link[at + 1 :]
    )
    try:
        state, _ = read_link(changed)
    except LinkError:
        return
    said = json.loads(changed[1:])
    written = state.to_dict()
    assert said["scene"] is not None
    assert written["view"] == View().to_dict() | said.get("view", {})
    for side in ("reference", "prediction"):
        for one, shape in zip(said["scene"][side], written["scene"][side], strict=True):
            assert {"parts": [], "angle": 0.0, **one}.items() >= shape.items()


@given(st.text())
def test_text_is_no_link(text: str) -> None:
    try:
        state, _ = read_link(text)
    except LinkError:
        return
    assert state == START
    assert (
        not text.strip("?# \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\u00a0\u2028\u2029\u3000")
        or "://" in text
    )


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: str(preset.id))
def test_presets_fit_into_links(preset: Any) -> None:
    assert read_link(write_link(preset.state))[0] == preset.state


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: str(preset.id))
def test_a_link_may_name_a_preset(preset: Any) -> None:
    assert read_link(f"#{preset.id}") == (preset.state, [])
    assert read_link(f"http://127.0.0.1:8000/#{preset.id}")[0] == preset.state
