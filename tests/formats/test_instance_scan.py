"""The native scanner of COCO instances reads what the json module reads, or leaves it alone."""

from __future__ import annotations

import json
import random
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from panmatch.errors import PanmatchError
from panmatch.formats import CocoInstances
from panmatch.formats._coco_instances import UNREADABLE, _read_carefully, _read_quickly
from panmatch.formats._instance_scan import scan_instances
from tests.instance_scenes import random_dataset

FILE = Path("file.json")
STYLES: list[dict[str, Any]] = [
    {}, {"indent": 1}, {"separators": (",", ":")}, {"separators": (" ,\n", "\t:\r\n")},
    {"sort_keys": True}, {"ensure_ascii": False},
]  # fmt: skip
NOISE = b'"\\[]{},: \n0159.-+eEntfNI\x00\x1f/u_\xc3\xa9\xff'
TEXT = {"size": [3, 2], "counts": "114"}  # 1 outside, 1 inside, 4 outside
BASE: dict[str, Any] = {"image_id": 1, "category_id": 2, "segmentation": TEXT}
REFERENCES: dict[str, Any] = {
    "info": {"a": ["]}", {}]},
    "images": [{"id": 1, "height": 3, "width": 2}],
    "annotations": [
        BASE | {"area": 2.5, "iscrowd": 0, "bbox": [0, 0, 1, 1.5], "id": 7, "note": "é\n"},
        BASE | {"segmentation": {"counts": [1, 2, 3], "size": [3, 2]}, "iscrowd": 1},
        BASE | {"segmentation": [[0, 0, 2, 0.5, 2.0, 3], [0, 1, 1, 1, 1, 2e0]], "area": -0.0},
    ],
    "categories": [{"id": 2, "name": "Zelle, grün"}],
}
SCORED = [BASE | {"score": 0.1234567890123456789}, BASE | {"score": 1, "bbox": [1, 2, 3, 4]}]


def outcome(read: Any, data: bytes, like: CocoInstances | None) -> Any:
    """Return columns, or that there is an error."""
    try:
        found = read(data, like, FILE)
        if found is not None:
            _ = found.table.masks  # which may be read only now
    except (PanmatchError, *UNREADABLE):
        return "error"
    if found is None:
        return None
    table = found.table
    columns = (table.image, table.category, table.sizes, table.area, table.crowd, table.score,
               table.boxes, table.masks.first, table.masks.start, table.masks.stop)  # fmt: skip
    shown = [None if one is None else one.tolist() for one in columns]
    return repr([found.sizes, found.categories, *shown])  # repr tells −0.0 from 0.0


def agree(data: bytes, like: CocoInstances | None = None) -> bool:
    """Return whether the scanner read it; it must then say the same as the json module."""
    quick, later = (
        outcome(partial(_read_quickly, decode=one), data, like) for one in (True, False)
    )
    for found in (quick, later):
        if found is not None:
            assert found == outcome(_read_carefully, data, like)
    return quick is not None


def references() -> CocoInstances:
    return _read_carefully(json.dumps(REFERENCES).encode(), None, FILE)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("seed", range(6))
def test_usual_files_are_scanned_to_the_same_bits(seed: int, style: dict[str, Any]) -> None:
    question = random_dataset(seed)
    assert agree(json.dumps(question["reference"], **style).encode())
    like = _read_carefully(json.dumps(question["reference"]).encode(), None, FILE)
    assert agree(json.dumps(question["prediction"], **style).encode(), like)
    boxes = [{key: row[key] for key in row if key != "segmentation"} for row in
             question["prediction"]]  # fmt: skip
    assert agree(json.dumps(boxes, **style).encode(), like)


def test_the_files_of_these_tests_are_scanned() -> None:
    for style in STYLES:
        assert agree(json.dumps(REFERENCES, **style).encode())
        assert agree(json.dumps(SCORED, **style).encode(), references())
    for none in ("[]", " [ ] ", '{"annotations": [], "images": []}'):
        assert agree(none.encode(), references())


@pytest.mark.parametrize(
    ("changed", "scanned"),
    [
        ({"image_id": 1.0}, False),
        ({"image_id": "1"}, False),
        ({"image_id": 3}, False),
        ({"image_id": -1}, False),
        ({"image_id": 2**63}, False),
        ({"category_id": None}, False),
        ({"category_id": 99}, False),
        ({"area": "7"}, False),
        ({"area": True}, False),
        ({"area": 10**30}, False),
        ({"area": 2**53 + 1}, True),
        ({"area": float("inf")}, False),
        ({"area": 5e-324}, True),
        ({"iscrowd": True}, True),
        ({"iscrowd": False}, True),
        ({"iscrowd": None}, False),
        ({"iscrowd": 0.5}, False),
        ({"bbox": []}, False),
        ({"bbox": [1, 2, 3]}, False),
        ({"bbox": [1, 2, 3, 4, 5]}, False),
        ({"bbox": [1, 2, 3, None]}, False),
        ({"segmentation": []}, False),
        ({"segmentation": [[]]}, False),
        ({"segmentation": [[0, 0, 1, 1]]}, False),
        ({"segmentation": [[0, 0, 1, 1, 2, 2, 3]]}, False),
        ({"segmentation": [[0, 0, 1, 1, 2, True]]}, False),
        ({"segmentation": [[0, 0, 1, 1, 2, 2e9]]}, False),
        ({"segmentation": [[0, 0, [1], 1, 2, 2]]}, False),
        ({"segmentation": [["]", 0, 1, 1, 2, 2]]}, False),
        ({"segmentation": [0, 0, 1, 1, 2, 2]}, False),
        ({"segmentation": None}, False),
        ({"segmentation": TEXT | {"counts": "115"}}, False),
        ({"segmentation": TEXT | {"counts": "11"}}, False),
        ({"segmentation": TEXT | {"counts": "~"}}, False),
        ({"segmentation": TEXT | {"counts": "11q"}}, False),
        ({"segmentation": TEXT | {"counts": "o" * 40}}, False),
        ({"segmentation": TEXT | {"counts": ("o" * 10 + "?") * 700}}, False),
        ({"segmentation": TEXT | {"counts": ""}}, False),
        ({"segmentation": TEXT | {"counts": [1, 1, 4.0]}}, False),
        ({"segmentation": TEXT | {"counts": [2**62, 2**62, 2**62, 2**62]}}, False),
        ({"segmentation": TEXT | {"counts": [6, -1, 1]}}, False),
        ({"segmentation": TEXT | {"counts": []}}, False),
        ({"segmentation": TEXT | {"counts": [0, 2, 0, 4]}}, True),
        ({"segmentation": TEXT | {"size": [2, 3]}}, False),
        ({"segmentation": TEXT | {"size": [3, 2, 1]}}, False),
        ({"segmentation": TEXT | {"size": [3.0, 2]}}, False),
        ({"segmentation": TEXT | {"more": 1}}, False),
        ({"more": [[[{"a": [None, True, False, -1.5e-7, "\"\\/\b\f\n\r\t\u2028"]}]]]}, True),
        ({"more": json.loads("[" * 63 + "]" * 63)}, True),
        ({"more": json.loads("[" * 70 + "]" * 70)}, False),
        ({"more": float("nan")}, False),
    ],
)  # fmt: skip
def test_what_is_unusual_is_left_to_the_json_module(changed: Any, scanned: bool) -> None:
    content = REFERENCES | {"annotations": [*REFERENCES["annotations"], BASE | changed]}
    assert agree(json.dumps(content).encode()) == scanned


@pytest.mark.parametrize(
    "text",
    [
        '[{"image_id": 1, "image_id": 1, "category_id": 2, "score": 1, "bbox": [0, 0, 1, 1]}]',
        '[{"im\\u0061ge_id": 1, "category_id": 2, "score": 1, "bbox": [0, 0, 1, 1]}]',
        '[{"image_id": 1, "category_id": 2, "score": 1, "bbox": [0, 0, 1, 1]},]',
        '[{"image_id": 1, "category_id": 2, "score": 1, "bbox": [0, 0, 1, 1],}]',
        '[{"image_id": 1, "category_id": 2, "score": 01, "bbox": [0, 0, 1, 1]}]',
        '[{"image_id": 1, "category_id": 2, "score": 1., "bbox": [0, 0, 1, 1]}]',
        '[{"image_id": 1, "category_id": 2, "score": +1, "bbox": [0, 0, 1, 1]}]',
        '[{"image_id": 1, "category_id": 2, "score": .5, "bbox": [0, 0, 1, 1]}]',
        '[{"image_id": 1, "category_id": 2, "score": 1e, "bbox": [0, 0, 1, 1]}]',
        '[{"image_id": 1, "category_id": 2, "score": 1 1, "bbox": [0, 0, 1, 1]}]',
        '[{"image_id": 1, "category_id": 2, "bbox": [0, 0, 1, 1]}]',
        '[{"image_id": 1, "category_id": 2, "score": 1}] 2',
        '\ufeff[]',
        '{"annotations": [], "annotations": []}',
        '{"annotations": {}}',
        '{"annotations": [], }',
        '{"x": [}, "annotations": []}',
        '{"x": "\\", "annotations": []}',
        '{}',
        '',
        '[' * 100_000,
        '{"x": ' * 100_000,
        '{"x": ' + '[' * 5000 + ']' * 5000 + ', "annotations": []}',
    ],
)  # fmt: skip
def test_texts_that_are_not_scanned(text: str) -> None:
    assert not agree(text.encode(), references())


@pytest.mark.parametrize(("content", "like"), [(REFERENCES, False), (SCORED, True)])
def test_every_cut_and_every_changed_byte_has_the_same_outcome(content: Any, like: bool) -> None:
    data = json.dumps(content).encode()
    known = references() if like else None
    for i in range(len(data)):
        agree(data[:i], known)
        for byte in random.Random(i).sample(NOISE, 8):
            agree(data[:i] + bytes([byte]) + data[i + 1 :], known)


documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
edits = st.lists(
    st.tuples(st.floats(0, 1), st.sampled_from(["cut", "insert", "replace", "double"]),
              st.sampled_from(sorted(NOISE))),
    max_size=4,
)  # fmt: skip


def edited(data: bytes, changes: Any) -> bytes:
    for where, how, byte in changes:
        at = int(where * len(data))
        if how == "cut":
            data = data[:at] + data[at + 1 :]
        elif how == "double":
            data = data[:at] + data[at // 2 : at] + data[at:]
        else:
            data = data[:at] + bytes([byte]) + data[at + (how == "replace") :]
    return data


@settings(max_examples=300)
@given(documents, st.sampled_from(STYLES), edits)
@example({"a": [1e400, -0.0, 1e-320]}, {}, [])
def test_any_document_in_an_annotation_is_skipped_as_json_reads_it(
    document: Any, style: dict[str, Any], changes: Any
) -> None:
    inner = edited(json.dumps(document, **style).encode("utf-8", "surrogatepass"), changes)
    data = b'[{"image_id": 1, "category_id": 2, "x": %b, "score": 2}]' % inner
    try:
        scanned = scan_instances(data)
    except UNREADABLE:
        return
    if scanned is not None:
        row = json.loads(data.decode())[0]
        assert scanned.score.tolist() == [row["score"]]
        assert scanned.image.tolist() == [row["image_id"]]


@settings(max_examples=300)
@given(st.integers(0, 5), st.sampled_from(STYLES), edits)
def test_any_damaged_file_has_the_same_outcome(seed: int, style: Any, changes: Any) -> None:
    question = random_dataset(seed)
    like = _read_carefully(json.dumps(question["reference"]).encode(), None, FILE)
    rows = question["prediction"][:3]
    agree(edited(json.dumps(rows, **style).encode(), changes), like)
    some = question["reference"] | {"annotations": question["reference"]["annotations"][:3]}
    agree(edited(json.dumps(some, **style).encode(), changes))


@settings(max_examples=300)
@given(st.lists(st.from_regex(r"\A-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?\Z"),
                max_size=20))  # fmt: skip
@example(["9007199254740993", "9007199254740993.0", "0.1e-22", "1e23", "239.97000000000003"])
@example(["-0", "-0.0", "0e5", "1.7976931348623157e308", "2.2250738585072011e-308", "4.9e-324"])
def test_numbers_are_rounded_as_python_rounds_them(numbers: list[str]) -> None:
    for text in numbers:
        data = f'[{{"image_id": 1, "category_id": 2, "area": {text}}}]'.encode()
        found = scan_instances(data)
        expected = float(json.loads(text))
        if found is None:
            assert not np.isfinite(expected) or text.lstrip("-").isdigit()
        else:
            assert found.area.tolist() == [expected]
            assert str(found.area[0]) == str(np.float64(expected))


@settings(max_examples=300)
@given(st.from_regex(r"\A(0|[1-9][0-9]{0,7})\.[0-9]{1,7}\Z"), st.sampled_from([",", " ,", "\n,"]))
@example("00.5", ",")
@example("1.", ",")
@example("9999999.9", ",")
def test_short_numbers_are_rounded_as_python_rounds_them(text: str, after: str) -> None:
    data = f'[{{"area": {text}{after} "image_id": 1, "category_id": 2}}]'.encode()
    found = scan_instances(data)
    try:
        expected = json.loads(text)
    except ValueError:
        assert found is None
        return
    assert found is not None
    assert found.area.tolist() == [expected]
    assert scan_instances(data.replace(after.encode(), b"e1,", 1)) is not None
    assert scan_instances(data.replace(after.encode(), b"x,", 1)) is None


def test_a_backslash_is_a_digit_of_a_mask(tmp_path: Path) -> None:
    from tests.mask_scenes import text_of

    found = 0
    for outside in range(1, 60):
        counts = [outside, 1, 3600 - outside - 1]
        text = text_of(counts)
        found += "\\" in text
        row = BASE | {"segmentation": {"size": [60, 60], "counts": text}}
        content = REFERENCES | {"images": [{"id": 1, "height": 60, "width": 60}],
                                "annotations": [row]}  # fmt: skip
        assert agree(json.dumps(content).encode())
        path = tmp_path / "escaped.json"
        path.write_text(json.dumps(content).replace("\\\\", "\\u005c"))
        assert agree(path.read_bytes()) == ("\\" not in text)
    assert found > 0
