"""Text for a paper, and the works that it cites: those that the run used, each once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import panmatch as pm
from panmatch.datasets import CITATIONS, Resampling, citations_of, methods_sentence, paper_text
from panmatch.errors import OptionError
from panmatch.evaluation import CaseResult, Result
from panmatch.related import RELATED
from tests.report.results import made, two_models, with_parts

ROOT = Path(__file__).parents[2]
ALWAYS = ["panmatch", "grosskopf_redefining", "kirillov_panoptic"]


def keys(**spec: Any) -> list[str]:
    """Return what to cite beside the works that are always cited."""
    found = [one.key for one in citations_of(pm.Spec(**spec))]
    assert found[:3] == ALWAYS
    return found[3:]


@pytest.mark.parametrize(
    ("spec", "works"),
    [
        ({"matching": "one-to-one"}, ["kuhn_hungarian"]),
        ({"matching": {"strategy": "one-to-one", "solver": "greedy"}}, []),
        ({"matching": "many-to-one"}, []),
        ({"matching": {"strategy": "many-to-one", "solver": "optimal"}}, ["dinkelbach_fractional"]),
        ({"matching": {"strategy": "one-to-many", "solver": "optimal"}},
         ["kuhn_hungarian", "dinkelbach_fractional"]),
        ({"matching": {"strategy": "one-to-one", "regions": True}},
         ["kuhn_hungarian", "dinkelbach_fractional"]),
        ({"matching": "one-to-one", "void": 255}, ["kuhn_hungarian", "dinkelbach_fractional"]),
        ({"matching": "same-id", "related": ["npq", "sorted_ap", "ccdice"]},
         ["chazalon_revisiting", "chen_sortedap", "rouge_ccdice"]),
        ({"matching": "union", "related": ["cc_dice", "cc_metric", "cluster_dice", "aji"]},
         ["jaus_every", "kundu_cluster"]),
        ({"matching": "same-id", "classes": {"a": {"labels": [1, 2], "parts": [1]}}},
         ["degeus_part"]),
    ],
)  # fmt: skip
def test_only_what_a_spec_uses_is_cited(spec: Any, works: list[str]) -> None:
    assert keys(**spec) == works


def test_every_related_score_is_cited_or_named_as_missing() -> None:
    for name in RELATED:
        cited = set(keys(matching="same-id", related=name))
        text = paper_text(made({"matching": "same-id", "related": name, "metrics": "iou"}))
        counted = name in ("objects", "voxels")
        assert bool(cited) + bool(text.without_citation) + counted == 1, name


def test_the_page_about_and_the_citation_file_agree_with_the_entries() -> None:
    page = (ROOT / "docs" / "about" / "index.md").read_text(encoding="utf-8")
    shown = page.split("```bibtex\n")[1].split("\n```")[0]
    assert shown == "\n\n".join(CITATIONS[key].bibtex for key in ALWAYS[:2])
    file = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    ours, framework = CITATIONS["panmatch"], CITATIONS["grosskopf_redefining"]
    fields = dict(ours.fields)
    assert (file["title"], file["license"]) == (ours.title, fields["license"])
    assert (str(file["version"]), file["type"]) == (fields["version"], ours.kind)
    assert [f"{{{one['name']}}}" for one in file["authors"]] == [*ours.authors]
    (listed,) = file["references"]
    names = [f"{one['family-names']}, {one['given-names']}" for one in listed["authors"]]
    assert (listed["title"], names) == (framework.title, [*framework.authors])


def test_the_table_of_sources_lists_every_work() -> None:
    page = (ROOT / "docs" / "about" / "index.md").read_text(encoding="utf-8")
    rows = " ".join(page.split("## What panmatch builds on")[1].split("##")[0].split())
    for work in list(CITATIONS.values())[2:]:
        assert all(name in rows for name in work.authors), work.key
        assert work.title in rows or work.key == "kundu_cluster"
        assert work.year is None or str(work.year) in rows


def test_works_are_named_as_sentences_name_them() -> None:
    short = {key: one.short for key, one in CITATIONS.items()}
    assert short["grosskopf_redefining"] == "Großkopf et al."
    assert short["degeus_part"] == "de Geus et al. 2021"
    assert short["chazalon_revisiting"] == "Chazalon and Carlinet 2021"
    assert short["kundu_cluster"] == "Kundu et al. 2025"
    assert short["kuhn_hungarian"] == "Kuhn 1955"


def test_everything_cited_has_an_entry_and_the_other_way_round() -> None:
    found = paper_text(with_parts(related=["ccdice"], matching=["one-to-one", "union"]))
    cited = set(re.findall(r"@(\w+)", found.methods))
    assert cited == {one.key for one in found.citations}
    assert cited == {*re.findall(r"^@\w+\{(\w+),$", found.bibtex, re.MULTILINE)}


def test_the_paragraph_holds_the_sentence_that_stands_alone() -> None:
    result = with_parts()
    plain = re.sub(r" \[@[^]]*\]", "", paper_text(result).methods)
    assert methods_sentence(result) in plain


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({}, "Objects were single labels."),
        ({"classes": {"object": {"instances": "components", "min_voxels": 3}}},
         "Objects were connected components (full connectivity) of all labels; those below 3 "
         "voxels ignored on both sides."),
        ({"classes": {"bone": {"labels": [1, "3-9"], "instances": "label-components",
                               "connectivity": "faces"}, "rest": {"labels": 2, "kind": "stuff"}}},
         "The classes were bone (connected components (face connectivity) of labels 1 and 3 to 9 "
         "each) and rest (label 2 as one segment per image)."),
        ({"thresholds": [0.3, 0.5, 0.7], "matching": ["one-to-one", "one-to-many"]},
         "The same scores were computed at thresholds of 0.5 and 0.7 and with objects matched "
         "one-to-many (best: at most 1 prediction per reference, any number of references per "
         "prediction)."),
        ({"metrics": ["dice", "hd95", "nsd"],
          "metric_options": {"tolerance": 2, "penalty": "diagonal"}},
         "Matched objects were also measured by Dice coefficient, 95th percentile Hausdorff "
         "distance (the larger of the two directions) and normalised surface Dice at a tolerance "
         "of 2 voxel; objects without a partner got a distance of the image diagonal."),
        ({"whole": ["dice"], "related": ["voxels", {"score": "ccdice", "alpha": 0.3}]},
         "Every class was also scored as a single mask by Dice coefficient. A further score was "
         "ccDice (alpha 0.3) [@rouge_ccdice]."),
        ({"void": [9], "averaging": {"undefined": "one"}, "edge_cases": {"pq": {"both_empty": 1}}},
         "Voxels of the reference with label 9 were treated as unknown and left out. Cases in "
         "which a score is undefined counted as 1 in means over cases. Where nothing can be "
         "averaged, values were set for pq, as the spec lists them."),
    ],
)  # fmt: skip
def test_the_methods_paragraph_says_what_the_spec_says(keys: Any, words: str) -> None:
    assert words in paper_text(made(keys)).methods


@pytest.mark.parametrize(
    ("shape", "connectivity", "neighbours"),
    [((1, 4), "full", 8), ((1, 4), "faces", 4), ((1, 1, 4), "full", 26), ((1, 1, 4), "faces", 6)],
)
def test_components_are_named_by_their_neighbours(
    shape: tuple[int, ...], connectivity: str, neighbours: int
) -> None:
    image = np.ones(shape, int)
    kind = {"instances": "components", "connectivity": connectivity}
    result = pm.evaluate(
        reference=image, prediction=image, spacing=(1.0,) * len(shape),
        spec={"classes": {"object": kind}},
    )  # fmt: skip
    beginning = f"Objects were {neighbours}-connected components of all labels."
    assert paper_text(result).methods.startswith(beginning)


def test_many_classes_are_listed_by_name() -> None:
    classes = {f"class{label}": {"labels": label} for label in range(1, 8)}
    text = paper_text(made({"classes": classes})).methods
    assert text.startswith("The 7 classes were class1, class2, class3, class4, class5, class6 and")


def test_models_are_compared_in_the_results_as_the_methods_say() -> None:
    result = two_models({"thresholds": [0.3, 0.5]})
    found = paper_text(result)
    assert "Wilcoxon's signed-rank test" in found.methods
    (row,) = (
        pm.compare(result, ["pq"])
        .tables()["differences"]
        .query("strategy == 'one-to-one' and threshold == 0.3")
        .to_dict("records")
    )
    assert (row["first"], row["second"]) == ("good", "poor")
    assert found.results.endswith(
        f"The mean PQ of cases was higher for good than for poor by {row['difference']:.3f} "
        f"(p = {row['p_holm']:.3f}, n = 2)."
    )
    assert "Wilcoxon" not in paper_text(made()).methods


def test_the_better_model_comes_first_whatever_the_order() -> None:
    cases = {name: [(f"c{i}", i + 3) for i in range(5)] for name in ("a_poor", "b_good")}
    evaluator = pm.Evaluator({"thresholds": 0.1, "matching": "one-to-one"})
    for model, sizes in cases.items():
        for case, size in sizes:
            good = model == "b_good"
            evaluator.update(
                reference=[[1] * size], prediction=[[1] * (size - 1 + good) + [0] * (not good)],
                case=case, model=model,
            )  # fmt: skip
    mean = sum(1 / n for n in range(3, 8)) / 5
    found = re.search(
        r"higher for b_good than for a_poor by ([\d.]+) \(95 % interval ([\d.]+) to ([\d.]+), p",
        paper_text(evaluator.compute()).results,
    )
    assert found
    difference, low, high = map(float, found.groups())
    assert difference == round(mean, 3)
    expected = Resampling.of(5).mean_interval([1 / n for n in range(3, 8)], bounds=(-1, 1))
    assert (low, high) == (round(expected.low, 3), round(expected.high, 3))
    assert low < difference < high


def test_equal_models_and_runs_without_a_case_have_a_sentence_too() -> None:
    cases = {"a": ("aabb", "aabb")}
    found = paper_text(made({"matching": "one-to-one"}, {"one": cases, "two": cases}))
    assert found.results.endswith("The mean PQ of cases was the same for one and two (n = 1).")
    failed = Result(pm.Spec(), (CaseResult("z", status="failed", reason="broken"),))
    assert paper_text(failed).results == "No case could be evaluated."
    empty = {"e": ("....", "....")}
    undefined = paper_text(made(None, {"one": empty, "two": empty})).results
    assert undefined.endswith("one and two have no case in common on which PQ is defined.")


def test_a_protocol_is_named_with_its_program() -> None:
    facts = {"name": "panoptica-2.1.7", "program": "panoptica", "version": "2.1.7", "source": "URL"}
    found = paper_text(made(), "0.0.9", facts)
    assert found.methods.endswith(
        "The numbers in the table protocol.csv reproduce those of panoptica, version 2.1.7 (URL) "
        "[@kofler_panoptica]."
    )
    assert found.citations[-1].key == "kofler_panoptica"
    assert "using panmatch 0.0.9 [@panmatch]." in found.methods
    assert "  version = {0.0.9}," in found.bibtex


def test_text_cites_by_authors_and_latex_by_commands() -> None:
    found = paper_text(made({"thresholds": 0.3, "matching": "one-to-one"}))
    assert "(PQ) [Kirillov et al. 2019]" in found.paragraphs("text")[0]
    assert "(PQ) [@kirillov_panoptic]" in found.paragraphs("markdown")[0]
    methods, results = found.paragraphs("latex")
    assert r"(PQ)~\cite{kirillov_panoptic}" in methods
    assert "(IoU $>$ 0.3)" in methods
    assert r"at $\tau$ = 0.3" in results
    with pytest.raises(OptionError, match="format='word' is not known"):
        found.paragraphs("word")  # type: ignore[arg-type]
