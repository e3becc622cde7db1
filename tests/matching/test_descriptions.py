"""What a strategy says about itself is what people read everywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

import panmatch as pm
from docs.writers.strategies import strategies_table
from panmatch.matching import STRATEGIES, Matcher, Strategy
from panmatch.spec import preset_text
from tests.commands import panmatch

ROOT = Path(__file__).parents[2]
VARIANTS = [variant for family in STRATEGIES.values() for variant in family.variants()]


def test_the_readme_says_what_the_strategies_say() -> None:
    assert strategies_table() in (ROOT / "README.md").read_text()


def test_the_command_line_lists_every_variant_with_both_bounds() -> None:
    done = panmatch("spec", "--strategies")
    assert done.returncode == 0
    shown = done.stdout
    for variant in VARIANTS:
        said = f"{variant.label}: -s {variant.key} {', '.join(variant.bounds)}. {variant.about}"
        assert said in " ".join(shown.split())
    assert max(map(len, shown.splitlines())) <= 80


def test_the_commented_spec_names_every_strategy_and_option() -> None:
    text = preset_text("instances")
    for family in STRATEGIES.values():
        assert f"- {family.name} " in text
        for name, values in family.choices().items():
            assert f"{name}: {' or '.join(values)}" in text


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.key)
def test_labels_keys_and_expressions_have_all_options(variant: Strategy) -> None:
    said = {name: getattr(variant, name) for name in type(variant).choices()}
    if said.get("objective") == "pq":  # goes without saying
        del said["objective"]
    assert variant.options == said
    assert variant.key.split("/") == [variant.name, *variant.options.values()]
    assert eval(variant.python, {"pm": pm}) == variant
    assert all(value in variant.label for value in variant.options.values())


def test_the_default_comes_first_and_lines_differ() -> None:
    for family in STRATEGIES.values():
        assert family.variants()[0] == family()
    dashes = [Matcher(v, regions="voronoi" if v.needs_regions else None).dash for v in VARIANTS]
    inside = [Matcher(v, regions="voronoi").dash for v in VARIANTS if not v.needs_regions]
    assert len({*dashes, *inside}) == len(dashes) + len(inside)
    assert all(len(dash) % 2 == 0 and min(dash, default=1) > 0 for dash in (*dashes, *inside))


def test_a_matcher_of_regions_needs_them() -> None:
    with pytest.raises(pm.PanmatchError, match="'union' only works on regions"):
        Matcher(pm.RegionUnion())
    with pytest.raises(pm.PanmatchError, match="score='dce' is not known; did you mean 'dice'"):
        Matcher(pm.OneToOne(), "dce")  # type: ignore[arg-type]
