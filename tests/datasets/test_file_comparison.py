"""Models by TSV files of panoptica: the same answers as by runs, and errors that help."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from panmatch.datasets import Job, _score_files, compare_files, compare_runs, verdict_on_models
from panmatch.errors import FileError, OptionError
from panmatch.evaluation import MEANS
from panmatch.spec import as_spec
from tests.datasets.folders import make_folders, run

Row = tuple[object, ...]


def write(path: Path, columns: str, *rows: Row) -> Path:
    header = ["subject_name", *(f"ungrouped-{name}" for name in columns.split())]
    lines = [header, *([str(cell) for cell in row] for row in rows)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join("\t".join(line) + "\n" for line in lines))
    return path


def test_files_of_runs_give_what_the_runs_give(tmp_path: Path) -> None:
    spec = {"matching": ["one-to-one"], "thresholds": [0.3], "metrics": ["dice", "masd"],
            "whole": ["dice"]}  # fmt: skip
    paths = make_folders(tmp_path, 7, ("a", "b", "c"))
    out = tmp_path / "out"
    run(paths, out, job=Job(as_spec(spec).canonical()), also=("wide.tsv",))
    names = {"pq": "pq", "sq_dsc": "sq_dice", "sq_assd": "sq_masd", "global_bin_dsc": "whole_dice",
             "rec": "recall"}  # fmt: skip
    by_files = compare_files([out / "wide" / f"{m}.tsv" for m in "abc"], list(names))
    by_runs = compare_runs([out], list(names.values()))
    assert by_files.models == by_runs.models
    assert by_files.cases == by_runs.cases
    theirs, ours = by_runs.tables(), by_files.tables()
    for table in ("rankings", "differences"):
        assert ours[table]["class"].unique().tolist() == ["ungrouped"]
        assert [names[name] for name in ours[table].measure] == theirs[table].measure.tolist()
        for column in ("model", "rank", "value", "low", "high", "difference", "p_holm", "wins"):
            if column in ours[table]:
                assert ours[table][column].tolist() == theirs[table][column].tolist()
    assert not by_files.over_threshold


def test_directions_are_those_of_our_metrics(tmp_path: Path) -> None:
    columns = "pq fp sq_assd sq_rvd sq_std n_ref_instances"
    first = write(tmp_path / "a.tsv", columns, *[(i, 0.5, 1, 2.0, -0.3, 0.1, 4) for i in range(5)])
    second = write(tmp_path / "b.tsv", columns, *[(i, 0.6, 3, 3.0, 0.0, 0.2, 4) for i in range(5)])
    found = compare_files([first, second])
    best = {key.score.name: placings[0].model for key, placings in found.rankings.items()}
    assert best == {"pq": "b", "fp": "a", "sq_assd": "a"}  # a signed error has no better end
    assert found.differences[1].test.wins == 5  # a has fewer false positives everywhere
    with pytest.raises(
        OptionError, match=r"'sq_rvd' is not known.*Accepted: 'pq', 'fp', 'sq_assd'"
    ):
        compare_files([first, second], ["sq_rvd"])


def test_subjects_pair_by_name_and_missing_ones_are_listed(tmp_path: Path) -> None:
    first = write(tmp_path / "a.tsv", "pq", ("x", 0.1), ("y", 0.2), ("z", 0.3))
    second = write(tmp_path / "b.tsv", "pq", ("z", 0.5), ("w", 0.9), ("x", 0.4))
    found = compare_files([first, second])
    assert found.cases == ("x", "z")
    assert next(iter(found.values.values())).tolist() == [[0.1, 0.4], [0.3, 0.5]]
    assert found.left_out == {"a": ("w",), "b": ("y",)}
    other = write(tmp_path / "c.tsv", "pq", ("v", 0.5))
    with pytest.raises(FileError, match="no case in common: a has x, y, z; c has v"):
        compare_files([first, other])


def test_undefined_values_are_skipped_and_counted(tmp_path: Path) -> None:
    first = write(tmp_path / "a.tsv", "pq", ("x", ""), ("y", 0.25), ("z", 0.5))
    second = write(tmp_path / "b.tsv", "pq", ("x", 1.0), ("y", "nan"), ("z", "inf"))
    found = compare_files([first, second])
    values = {placing.model: placing.value for placing in next(iter(found.rankings.values()))}
    assert values == {"a": 0.375, "b": 1.0}
    assert (found.differences[0].test.n, found.differences[0].test.skipped) == (0, 3)
    texts = [notice.sentence for notice in found.notices]
    assert "b: infinite values count as undefined: 1." in texts


def test_groups_have_a_mean_and_names_may_be_ours(tmp_path: Path) -> None:
    for model, shift in (("a", 0.0), ("b", 0.1)):
        rows = [f"{i}\t{0.2 + shift}\t{0.6 + shift}\t{0.9 - shift}" for i in range(5)]
        text = "subject_name\tliver-pq_dsc\tlesion-pq_dsc\tliver-sq\n" + "\n".join(rows)
        (tmp_path / f"{model}.tsv").write_text(text)
    found = compare_files([tmp_path / "b.tsv", tmp_path / "a.tsv"], ["pq_dice"])
    assert [score.name for score in found.scores] == ["pq_dsc"]
    assert found.headline_class == next(iter(MEANS))
    assert [key.setting.class_name for key in found.values] == [
        "liver", "lesion", "mean of classes"
    ]  # fmt: skip
    best = found.rankings[list(found.values)[-1]][0]
    assert best.model == "b"
    assert best.value == pytest.approx(0.5)
    assert verdict_on_models(found).startswith("b has the highest mean PQ (dsc) of cases (mean of")


def test_files_for_autc_have_thresholds_and_areas(tmp_path: Path) -> None:
    columns = "autc_pq t0.1_pq t0.5_pq t0.5_tp"
    first = write(tmp_path / "a.tsv", columns, *[(i, 0.5, 0.8, 0.3, 2) for i in range(5)])
    second = write(tmp_path / "b.tsv", columns, *[(i, 0.6, 0.7, 0.4, 2) for i in range(5)])
    found = compare_files([first, second], ["pq", "autc_pq"])
    places = {(key.score.name, key.threshold): one[0].model for key, one in found.rankings.items()}
    assert places == {("pq", 0.1): "a", ("pq", 0.5): "b", ("autc_pq", None): "b"}
    assert found.stability(found.scores[0])["ungrouped"].distinct_orders == 2
    assert verdict_on_models(found) == (
        "a has the highest mean PQ of cases (ungrouped: 0.800, 95 % interval 0.800 to 0.800, first "
        "in 100 % of resamples) under τ = 0.1. But b leads under τ = 0.5."
    )


def test_what_is_not_compared_is_said(tmp_path: Path) -> None:
    first = write(
        tmp_path / "a.tsv", "pq sq age", ("p-1", 0.1, 0.2, "old"),
        ("p-1-ungrouped_inst_0", "", 0.2, ""), ("p-1-other_inst_0", 0.4, 0.4, "new"),
    )  # fmt: skip
    second = write(tmp_path / "b.tsv", "pq", ("p-1", 0.1), ("p-1-other_inst_0", 0.5))
    found = compare_files([first, second])
    assert found.cases == ("p-1", "p-1-other_inst_0")  # a subject, since there is no such group
    assert [(one.word, one.sentence) for one in found.notices] == [
        ("note", "a: columns that other files lack are left out: ungrouped-sq."),
        ("note", "a: columns that are not panoptica's are left out: ungrouped-age."),
        ("note", "a: rows about single instances are left out: 1."),
        ("warning", "no interval: 2 cases are too few (at least 5 are needed)."),
    ]
    with pytest.raises(OptionError, match=r"'sq' is not in every file: '.*b.tsv' has no such col"):
        compare_files([first, second], ["sq"])


GOOD = "subject_name\tungrouped-pq\tungrouped-sq\nx\t0.5\t0.6\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not a TSV file from panoptica: its first line must start with "
         "'subject_name' and a tab, but starts with nothing."),
        ("case\tpq\nx\t1\n", "must start with 'subject_name' and a tab, but starts with 'case'."),
        ("subject_name,ungrouped-pq\nx,1\n", "not separated by tabs: save it as TSV."),
        ("subject_name\tungrouped-pq\n", "lists no subjects, so there is nothing to compare."),
        (GOOD + "y\t0,5\t0.6\n", "line 3, column 'ungrouped-pq': '0,5' is not a number. Write it "
         "with a decimal point, or leave the cell empty if it is undefined."),
        (GOOD + "y\t0.5\t1_0\n", "line 3, column 'ungrouped-sq': '1_0' is not a number."),
        (GOOD + "y\t0.5\n", "line 3 has 2 cells, but the first line has 3. Was the line cut "
         "off, or a tab lost? Fix or remove the line."),
        (GOOD + "\ny\t0.5\t0.5\t1\n", "line 4 has 4 cells, but the first line has 3."),
        (GOOD + "y\t1\t1\nx\t0.4\t0.4\n", "line 4: subject 'x' is also on line 2: remove one of "
         "them."),
        (GOOD + "\t1\t1\n", "line 3, column 'subject_name': the name is missing. Fill it in."),
        ("subject_name\ta-pq\ta-pq\nx\t1\t1\n", "line 1: column 'a-pq' appears twice: remove "
         "one."),
        (GOOD + '"y\t1\t1\nz\t1\t1\n', "line 3: unexpected end of data. Remove any quotation mark "
         "left open."),
        ("subject_name\tage\nx\t1\n", "the files have no column in common to compare by:"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_an_error_that_names_the_place(
    tmp_path: Path, text: str, said: str
) -> None:
    good, bad = tmp_path / "good.tsv", tmp_path / "bad.tsv"
    good.write_text(GOOD)
    bad.write_text(text)
    with pytest.raises(FileError) as raised:
        compare_files([good, bad])
    assert said in str(raised.value)
    assert repr(str(bad)) in str(raised.value)


def test_other_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = write(tmp_path / "good.tsv", "pq", ("x", 0.5))
    (tmp_path / "image.tsv").write_bytes(b"\x1f\x8b\xff\xfe")
    (tmp_path / "wide.tsv").write_text(GOOD, encoding="utf-16")  # as some spreadsheets do
    for name, said in {
        "image.tsv": "cannot be read as a TSV file",
        "wide.tsv": "cannot be read as a TSV file.*Save it as text in UTF-8",
        "nowhere.tsv": "does not exist",
        "old.jsonl": r"Panoptica_Statistic.from_file\('old.jsonl'\).to_file\('old.tsv'\)",
    }.items():
        with pytest.raises(FileError, match=said):
            compare_files([good, tmp_path / name])
    with pytest.raises(OptionError, match="the same file is named twice"):
        compare_files([good, tmp_path / "x" / ".." / "good.tsv"])
    with pytest.raises(OptionError, match="only one file, and so only one model"):
        compare_files([good])
    monkeypatch.setattr(_score_files, "MOST_BYTES", 16)
    with pytest.raises(
        FileError, match="MiB, but tables of subjects may have at most 0: is it the right"
    ):
        compare_files([good, tmp_path / "image.tsv"])


def test_a_file_that_a_spreadsheet_wrote_is_read(tmp_path: Path) -> None:
    plain = write(tmp_path / "a.tsv", "pq", ("x y", 0.5), ("z", 1))
    lines = '\ufeffsubject_name\t"ungrouped-pq"\r\n"x y"\t.25\r\n z \t1e-1\r\n\t\r\n'
    (tmp_path / "b.tsv").write_bytes(lines.encode())
    found = compare_files([plain, tmp_path / "b.tsv"])
    assert next(iter(found.values.values())).tolist() == [[0.5, 0.25], [1.0, 0.1]]
    assert not any(math.isnan(one.test.mean_difference) for one in found.differences)
