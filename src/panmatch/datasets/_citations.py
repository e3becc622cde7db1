"""The works behind the numbers: what to cite for a spec, as data and as BibTeX entries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import panmatch
from panmatch.matching import Matcher
from panmatch.spec import Spec

# Which field of an entry says where a work appeared.
VENUE_FIELDS = {
    "article": "journal",
    "inproceedings": "booktitle",
    "misc": "howpublished",
    "software": "publisher",
}


@dataclass(frozen=True, slots=True)
class Citation:
    """A work to cite.

    Attributes
    ----------
    key
        Key of its BibTeX entry.
    kind
        Kind of the entry.
    authors
        As BibTeX writes them, ``"Family, Given"`` or ``"Family"``; ``"others"`` stands for more.
    title, venue, year
        What it is called, and where and when it appeared; empty where that is not known.
    fields
        More fields of the entry, with their values.

    Examples
    --------
    >>> from panmatch.datasets import CITATIONS
    >>> CITATIONS["kirillov_panoptic"].short
    'Kirillov et al. 2019'
    >>> print(CITATIONS["kuhn_hungarian"].bibtex)
    @article{kuhn_hungarian,
      title = {The Hungarian Method for the Assignment Problem},
      author = {Kuhn},
      journal = {Naval Research Logistics Quarterly},
      year = {1955},
    }
    """

    key: str
    kind: Literal["article", "inproceedings", "misc", "software"]
    authors: tuple[str, ...]
    title: str
    venue: str = ""
    year: int | None = None
    fields: tuple[tuple[str, str], ...] = ()

    @property
    def short(self) -> str:
        """Authors and year as a sentence names them."""
        families = [name.partition(",")[0].strip("{}") for name in self.authors]
        names = " and ".join(families) if len(families) < 3 else f"{families[0]} et al."
        names = names.replace(" and others", " et al.")
        return names if self.year is None else f"{names} {self.year}"

    @property
    def bibtex(self) -> str:
        """The entry of the work."""
        fields = {
            "title": self.title,
            "author": " and ".join(self.authors),
            VENUE_FIELDS[self.kind]: self.venue,
            "year": "" if self.year is None else str(self.year),
            **dict(self.fields),
        }
        lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"])


def software(version: str = panmatch.__version__) -> Citation:
    """Return the entry of a version of panmatch.

    Examples
    --------
    >>> software("0.1.0").short
    'The panmatch developers'
    """
    return Citation(
        "panmatch", "software", ("{The panmatch developers}",),
        "panmatch: Panoptic Quality under every matching strategy, at every threshold, exactly",
        fields=(("version", version), ("license", "Apache-2.0")),
    )  # fmt: skip


FRAMEWORK = Citation(
    "grosskopf_redefining", "misc",
    ("Großkopf, Erik", "Kundu, Soumya Snigdha", "Möller, Hendrik", "Münster, Nicolas",
     "Astaraki, Mehdi", "Buzduga, Paula Tamara", "Ritter, Kerstin", "Wiestler, Benedikt",
     "Kirschke, Jan", "Shapey, Jonathan", "Vercauteren, Tom", "Kofler, Florian"),
    "Redefining Instance Matching: A Unified Framework for Part-Aware Matching in Panoptic "
    "Segmentation Evaluation",
)  # fmt: skip
PQ = Citation(
    "kirillov_panoptic", "inproceedings", ("Kirillov", "He", "Girshick", "Rother", "Dollár"),
    "Panoptic Segmentation", "CVPR", 2019,
)  # fmt: skip
PART_PQ = Citation(
    "degeus_part", "inproceedings", ("de Geus", "Meletis", "Lu", "Wen", "Dubbelman"),
    "Part-aware Panoptic Segmentation", "CVPR", 2021,
)  # fmt: skip
NPQ = Citation(
    "chazalon_revisiting", "inproceedings", ("Chazalon", "Carlinet"),
    "Revisiting the Coco Panoptic Metric to Enable Visual and Qualitative Analysis of Historical "
    "Map Instance Segmentation", "ICDAR", 2021,
)  # fmt: skip
SORTED_AP = Citation(
    "chen_sortedap", "inproceedings", ("Chen", "Wu", "Stegmaier", "Merhof"),
    "SortedAP: Rethinking Evaluation Metrics for Instance Segmentation", "ICCV Workshops", 2023,
)  # fmt: skip
PANOPTICA = Citation(
    "kofler_panoptica", "misc", ("Kofler", "Möller", "Buchner", "others"),
    "Panoptica – instance-wise evaluation of 3D semantic and instance segmentation maps",
    fields=(("eprint", "2312.02608"), ("archiveprefix", "arXiv")),
)  # fmt: skip
CC_METRICS = Citation(
    "jaus_every", "inproceedings",
    ("Jaus", "Seibold", "Reiß", "Marinov", "Li", "Ye", "Krieg", "Kleesiek", "Stiefelhagen"),
    "Every Component Counts: Rethinking the Measure of Success for Medical Semantic Segmentation "
    "in Multi-Instance Segmentation Tasks", "AAAI", 2025,
)  # fmt: skip
CC_DICE = Citation(
    "rouge_ccdice", "misc", ("Rougé", "Passat", "Merveille"),
    "ccDice: A Topology-Aware Dice Score Based on Connected Components", year=2024,
)  # fmt: skip
CLUSTER_DICE = Citation(
    "kundu_cluster", "misc", ("Kundu", "others"), "Cluster Dice", year=2025,
)  # fmt: skip
METRICS_RELOADED = Citation(
    "maierhein_metrics", "article", ("Maier-Hein", "Reinke", "others"),
    "Metrics reloaded: recommendations for image analysis validation", "Nature Methods", 2024,
)  # fmt: skip
ASSIGNMENT = Citation(
    "kuhn_hungarian", "article", ("Kuhn",),
    "The Hungarian Method for the Assignment Problem", "Naval Research Logistics Quarterly", 1955,
)  # fmt: skip
RATIO = Citation(
    "dinkelbach_fractional", "article", ("Dinkelbach",),
    "On Nonlinear Fractional Programming", "Management Science", 1967,
)  # fmt: skip

CITATIONS: dict[str, Citation] = {
    one.key: one
    for one in (
        software(), FRAMEWORK, PQ, PART_PQ, NPQ, SORTED_AP, PANOPTICA, CC_METRICS, CC_DICE,
        CLUSTER_DICE, METRICS_RELOADED, ASSIGNMENT, RATIO,
    )
}  # fmt: skip

OF_RELATED: dict[str, Citation] = {
    "cc_metric": CC_METRICS,
    "cc_dice": CC_METRICS,
    "ccdice": CC_DICE,
    "cluster_dice": CLUSTER_DICE,
    "cluster_iou": CLUSTER_DICE,
    "sorted_ap": SORTED_AP,
    "npq": NPQ,
}
PLAIN_COUNTS = ("objects", "voxels")  # related scores that nobody has to be cited for
OWN_SOURCES = ("surface", "band", "skeleton")  # what metrics need that are defined by a paper


def citations_of(spec: Spec, version: str = panmatch.__version__) -> tuple[Citation, ...]:
    """Return the works that the numbers of a spec rest on: panmatch and the framework first.

    Parameters
    ----------
    spec
        What was evaluated.
    version
        The version of panmatch that did it.

    Examples
    --------
    >>> import panmatch as pm
    >>> [one.key for one in citations_of(pm.Spec(matching="many-to-one", related="ccdice"))]
    ['panmatch', 'grosskopf_redefining', 'kirillov_panoptic', 'rouge_ccdice']
    """
    found = [software(version), FRAMEWORK, PQ, *([PART_PQ] if spec.has_parts else [])]
    for matcher in spec.matching:
        found += solver_citations(matcher, spec)
    found += [OF_RELATED[one.score] for one in spec.related if one.score in OF_RELATED]
    return tuple(dict.fromkeys(found))


def solver_citations(matcher: Matcher, spec: Spec) -> Iterator[Citation]:
    """Yield the methods by which a matcher finds a matching of maximum PQ (D6)."""
    if matcher.strategy.options.get("solver") != "optimal":
        return
    if matcher.name != "many-to-one":
        yield ASSIGNMENT
    pieces = matcher.regions is not None or bool(spec.void) or spec.encoding != "labels"
    if matcher.name != "one-to-one" or pieces:
        yield RATIO


def without_citation(spec: Spec) -> tuple[str, ...]:
    """Return the scores of a spec that a paper defines for which there is no entry here.

    Examples
    --------
    >>> import panmatch as pm
    >>> without_citation(pm.Spec(metrics=["dice", "nsd"], related=["aji", "cc_dice"]))
    ('Normalised surface Dice', 'AJI')
    """
    metrics = [
        one.title.partition(" (")[0].partition(",")[0]
        for one in (*spec.metric_objects, *spec.whole_objects)
        if one.needs in OWN_SOURCES
    ]
    related = [
        one.parts[0].title if len(one.parts) == 1 else one.score
        for one in spec.related
        if one.score not in OF_RELATED and one.score not in PLAIN_COUNTS
    ]
    return tuple(dict.fromkeys([*metrics, *related]))
