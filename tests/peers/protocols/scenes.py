"""Scenes on which other people's programs were run: numpy only, the same bits everywhere.

The programs run in environments of their own, with their own versions of numpy. A scene therefore
uses whole numbers only, drawn from the raw stream of PCG64, which numpy promises not to change.
Spacings are sums of powers of two, so that a NIfTI header (float32) holds them exactly.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

Labels = npt.NDArray[np.int32]
Box = tuple[tuple[int, ...], tuple[int, ...]]

SPACINGS = ((1.0, 1.0, 1.0), (1.0, 1.0, 3.0), (0.5, 0.5, 2.0), (2.0, 1.0, 1.0), (1.25, 0.75, 1.0))


@dataclass(frozen=True, slots=True)
class Scene:
    """A reference and a prediction; `seed` is 0 where nothing is drawn."""

    name: str
    made: str
    seed: int
    spacing: tuple[float, ...]
    reference: Labels
    prediction: Labels

    @property
    def checksum(self) -> str:
        """Return a digest of shape and voxels of both sides."""
        digest = hashlib.sha256(repr(self.reference.shape).encode())
        for side in (self.reference, self.prediction):
            digest.update(np.ascontiguousarray(side, dtype="<i4").tobytes())
        return digest.hexdigest()[:16]


class Draws:
    """Whole numbers from the raw stream of a seed."""

    def __init__(self, seed: int) -> None:
        self._stream = np.random.PCG64(seed)

    def below(self, stop: int) -> int:
        """Return one of 0 … stop − 1."""
        return int(self._stream.random_raw()) % stop

    def between(self, first: int, last: int) -> int:
        """Return one of first … last."""
        return first + self.below(last - first + 1)


def paint(image: Labels, box: Box, value: int) -> None:
    """Give a value to a box, a start and a size per axis, cut at the border."""
    start, size = box
    image[tuple(slice(max(a, 0), max(a + n, 0)) for a, n in zip(start, size, strict=True))] = value


def ellipsoid(
    shape: tuple[int, ...], centre: tuple[int, ...], radii: tuple[int, ...]
) -> npt.NDArray[np.bool_]:
    """Return the voxels of an ellipsoid, decided in whole numbers."""
    grid = np.indices(shape, dtype=np.int64)
    product = int(np.prod([r * r for r in radii]))
    parts = (
        (g - c) ** 2 * (product // (r * r)) for g, c, r in zip(grid, centre, radii, strict=True)
    )
    return np.asarray(sum(parts) <= product)


# Objects -------------------------------------------------------------------------------------

# A character is a slab of voxels: `.` is background, letters are ids (a = 1, b = 2 …).
STRIPS = {
    "perfect": ("aaaa..bbbb", "aaaa..bbbb"),
    "shifted": ("aaaa..bbbb..", ".aaaa...bbbb"),
    "split": ("aaaaaaaaaa", "aaaaabbbcc"),
    "split without majority": ("aaaaaaaaaa", "aaaabbbccc"),
    "merged": ("aaaabbbbbb", "aaaaaaaaaa"),
    "touching": ("aaabbbccc", "aaaabbbcc"),
    "missed": ("aaaa..bbbb", "aaaa......"),
    "spurious": ("aaaa......", "aaaa..bbbb"),
    "disjoint": ("aaaa......", "......aaaa"),
    "exactly half": ("aaaa....", "aa......"),
    "exactly half from outside": ("..aa....", ".aaaa..."),
    "one object, two halves": ("aaaa....", "aabb...."),
    "two objects, one prediction": ("aabb....", "aaaa...."),
    "two halves beside a better pair": ("aaaa.bbb", "aabb.ccc"),
    "chain of thirds": ("aaaabbbb....", "..aaaabbbb.."),
    "chain of halves": ("aaaaaabbbbbb..", "..aaaaaabbbbbb"),
    "just below half": ("aaaaaaaaa", "aaaa....."),
    "just above half": ("aaaaaaaaa", "aaaaa...."),
    "exactly three quarters": ("aaaa..bbbb", "aaa...bbbb"),
    "exactly nine tenths": ("aaaaaaaaaa.bb", "aaaaaaaaa..bb"),
    "ids with gaps": ("ccc..ggg.lll", "mmm..bbb.fff"),
    "ids exchanged": ("aaa..bbb", "bbb..aaa"),
    "object in pieces": ("aa..aa..bb", "aa..aa..bb"),
    "no reference": ("..........", "aaa..bbb.."),
    "no prediction": ("aaa..bbb..", ".........."),
    "both empty": ("..........", ".........."),
}
# Without a margin: no voxel is background on at least one side.
FULL = {
    "no background": ("aabbb", "aaabb"),
    "no background in the reference": ("aabbb", ".aabb"),
    "no background in the prediction": (".aabb", "aaabb"),
    "one object everywhere": ("aaaa", "aaaa"),
}
# Added later: the programs' answers to all scenes before them stay as they are.
AT_THE_THRESHOLD = {
    "pair exactly at the threshold against a larger sum": ("aaaaaaaaaabbbbbb", "bbaaaaaaaaaaaaaa"),
}
MORE_FULL = {
    "no background, all found": ("aabbcc", "aabbcc"),
    "no background, one object in two pieces": ("aaaa", "aabb"),
    "no background, one prediction over two objects": ("aabb", "aaaa"),
    "no background, lone prediction of half an object": ("aabb....", "aaaaaaaa"),
    "no background, ids with gaps": ("bbbdddggg", "ccceeehhh"),
    "no background in the reference, nothing predicted": ("aabb", "...."),
    "no background in the prediction, nothing to find": ("....", "aabb"),
}


def strip(text: str, dimensions: int, margin: int) -> Labels:
    """Return the image that a strip draws, three voxels thick, with a margin all around."""
    line = np.array([0 if c == "." else ord(c) - ord("a") + 1 for c in text], dtype=np.int32)
    thick = np.broadcast_to(line, (3,) * (dimensions - 1) + line.shape)
    return np.pad(thick, margin)


def drawn_objects(seed: int, shape: tuple[int, ...], count: int) -> tuple[Labels, Labels]:
    """Return round objects that may touch, and a prediction that repeats them with errors."""
    draws = Draws(seed)
    reference = np.zeros(shape, dtype=np.int32)
    prediction = np.zeros(shape, dtype=np.int32)
    number = 0
    for id_ in range(1, count + 1):
        centre = tuple(draws.below(n) for n in shape)
        radii = tuple(draws.between(2, 7) for _ in shape)
        mask = ellipsoid(shape, centre, radii) & (reference == 0)
        reference[mask] = id_
        kind = draws.below(6)
        shift = [draws.between(-2, 2) for _ in shape]
        if kind == 0:  # missed
            continue
        number += 1
        if kind == 1:  # repeated exactly
            prediction[mask & (prediction == 0)] = number
            continue
        moved = np.roll(mask, shift, tuple(range(len(shape)))) & (prediction == 0)
        if kind == 2:  # split in two along the first axis
            prediction[moved] = number
            upper = np.arange(shape[0]).reshape((-1,) + (1,) * (len(shape) - 1)) < centre[0]
            number += 1
            prediction[moved & upper] = number
        elif kind == 3 and number > 1:  # merged with the prediction before
            number -= 1
            prediction[moved] = number
        else:
            prediction[moved] = number
    for _ in range(draws.below(3)):  # spurious
        number += 1
        start = tuple(draws.below(n) for n in shape)
        blob = np.zeros(shape, dtype=np.int32)
        paint(blob, (start, tuple(draws.between(2, 6) for _ in shape)), 1)
        prediction[(blob > 0) & (prediction == 0)] = number
    return reference, prediction


def drawn_strips(strips: Mapping[str, tuple[str, str]], d: int, margin: int) -> Iterator[Scene]:
    """Yield the scenes that strips draw in so many dimensions."""
    for i, (name, (reference, prediction)) in enumerate(strips.items()):
        made = f"strips {reference} and {prediction}, margin {margin}"
        sides = strip(reference, d, margin), strip(prediction, d, margin)
        yield Scene(f"{name}, {d}-D", made, 0, SPACINGS[i % 5][-d:], *sides)


def objects(dimensions: Iterable[int] = (2, 3)) -> Iterator[Scene]:
    """Yield label images of objects: strips, then drawn ones."""
    for d in dimensions:
        yield from drawn_strips(STRIPS, d, margin=1)
        yield from drawn_strips(FULL, d, margin=0)
        for seed in range(1, 11):
            shape = (64, 80) if d == 2 else (18, 24, 20)
            made = f"drawn_objects, shape {shape}, {4 + seed} objects"
            sides = drawn_objects(100 * d + seed, shape, 4 + seed)
            name = f"drawn {seed}, {d}-D"
            yield Scene(name, made, 100 * d + seed, SPACINGS[seed % 5][-d:], *sides)


def all_objects() -> Iterator[Scene]:
    """Yield the scenes of `objects`, and those that came later."""
    drawn = list(objects())
    yield from drawn
    for d in (2, 3):
        yield from drawn_strips(AT_THE_THRESHOLD, d, margin=1)
        yield from drawn_strips(MORE_FULL, d, margin=0)
    for scene in drawn:
        if scene.name.startswith(("drawn 1,", "drawn 2,")):
            sides = (np.where(side == 0, 99, side) for side in (scene.reference, scene.prediction))
            reference, prediction = (side.astype(np.int32) for side in sides)
            yield replace(
                scene,
                name=f"{scene.name}, without background",
                made=f"{scene.made}, background as object 99",
                reference=reference,
                prediction=prediction,
            )


# Lesions -------------------------------------------------------------------------------------

SHAPE = (32, 20, 18)
Patch = tuple[Box, int]


def lesion_scene(
    name: str,
    reference: Iterable[Patch],
    prediction: Iterable[Patch],
    spacing: tuple[float, ...] = SPACINGS[0],
) -> Scene:
    """Return a scene of boxes, each with a label."""
    made = f"boxes in {SHAPE}"
    sides = []
    for patches in (reference, prediction):
        image = np.zeros(SHAPE, dtype=np.int32)
        for box, label in patches:
            paint(image, box, label)
        sides.append(image)
    return Scene(name, made, 0, spacing, *sides)


def cube(x: int, y: int = 8, z: int = 8, size: tuple[int, int, int] = (4, 4, 4)) -> Box:
    """Return a box, of 64 voxels unless told otherwise."""
    return (x, y, z), size


def gaps() -> Iterator[Scene]:
    """Yield pairs of lesions that dilation joins, or does not."""
    for gap in range(1, 10):
        first, second = cube(4), cube(8 + gap)
        both: list[Patch] = [(first, 3), (second, 1 + gap % 3)]
        moved: list[Patch] = [(first, 3), (cube(9 + gap), 1 + gap % 3)]
        yield lesion_scene(f"gap of {gap}, both found", both, moved, SPACINGS[gap % 5])
        yield lesion_scene(f"gap of {gap}, one missed", both, moved[:1], SPACINGS[(gap + 1) % 5])
    for gap in range(3):
        edge: list[Patch] = [(cube(4, 2, 2), 3), (cube(8 + gap, 6 + gap, 2), 3)]
        corner: list[Patch] = [(cube(4, 2, 2), 3), (cube(8 + gap, 6 + gap, 6 + gap), 3)]
        yield lesion_scene(f"across an edge, {gap} between", edge, edge[:1])
        yield lesion_scene(f"across a corner, {gap} between", corner, corner[:1])
        yield lesion_scene(f"predicted across a corner, {gap} between", corner[:1], corner)
        yield lesion_scene(f"predicted across an edge, {gap} between", edge[:1], edge)

    grown: Patch = (cube(2, 2, 2, (9, 9, 7)), 3)
    lesion: list[Patch] = [(cube(2, 2, 2), 3)]
    for name, beyond in (("edge", cube(11, 11, 2)), ("corner", cube(11, 11, 9))):
        both = [grown, (beyond, 3)]
        yield lesion_scene(f"predicted far beyond, across a {name}", lesion, both)
        yield lesion_scene(f"reaching far beyond, across a {name}", both, lesion)


def volumes() -> Iterator[Scene]:
    """Yield lesions around the smallest volume that counts, found and missed."""
    sizes = {1: (1, 1, 1), 2: (2, 1, 1), 3: (3, 1, 1), 49: (7, 7, 1), 50: (5, 5, 2), 51: (17, 3, 1)}
    for voxels, size in sizes.items():
        lesion: list[Patch] = [(cube(3, size=size), 3)]
        touched: list[Patch] = [(cube(3, 9, size=(2, 2, 2)), 3)]
        yield lesion_scene(f"{voxels} voxels, found", lesion, lesion)
        yield lesion_scene(f"{voxels} voxels, touched", lesion, touched)
        yield lesion_scene(f"{voxels} voxels, missed", lesion, [])
    thin: list[Patch] = [(cube(3, size=(5, 5, 1)), 3)]
    yield lesion_scene("25 voxels of 2, found", thin, thin, SPACINGS[3])
    yield lesion_scene("25 voxels of 3, missed", thin, [], SPACINGS[1])
    yield lesion_scene("100 voxels of a half", [(cube(3, size=(5, 5, 4)), 3)], thin, SPACINGS[2])
    yield lesion_scene(
        "tiny lesion and a spurious one", [(cube(3, size=(1, 1, 1)), 3)], [(cube(20), 3)]
    )


def near_misses() -> Iterator[Scene]:
    """Yield predictions that no lesion covers, at growing distances."""
    for distance in range(1, 7):
        lesion: list[Patch] = [(cube(4), 3), (cube(24), 1)]
        beside: list[Patch] = [(cube(8 + distance - 1, size=(3, 4, 4)), 3), (cube(24), 1)]
        yield lesion_scene(f"{distance} voxels beside", lesion, beside, SPACINGS[distance % 5])


def arrangements() -> Iterator[Scene]:
    """Yield splits, merges, borders, nested labels and empty sides."""
    far: list[Patch] = [(cube(2), 3), (cube(22), 3)]
    long: list[Patch] = [(cube(4, size=(20, 4, 4)), 2)]
    pieces: list[Patch] = [(cube(4, size=(6, 4, 4)), 2), (cube(11, size=(6, 4, 4)), 2)]
    pieces.append((cube(18, size=(6, 5, 4)), 2))
    nested: list[Patch] = [(cube(6, 5, 5, (14, 9, 9)), 2), (cube(8, 7, 7, (9, 5, 5)), 1)]
    nested.append((cube(10, 8, 8, (5, 3, 3)), 3))
    inner: list[Patch] = [(cube(7, 6, 5, (13, 9, 9)), 2), (cube(9, 7, 7, (7, 5, 5)), 1)]
    inner.append((cube(11, 8, 8, (3, 3, 3)), 3))
    border: list[Patch] = [(cube(0, 0, 0), 3), (cube(28, 16, 14), 1)]
    across: list[Patch] = [(cube(28, 16, 13), 1), (cube(0, 0, 1), 3)]
    yield lesion_scene("perfect", far, far)
    yield lesion_scene("one prediction over two lesions", far, [(cube(2, size=(24, 4, 4)), 3)])
    yield lesion_scene("one lesion in three pieces", long, pieces, SPACINGS[1])
    yield lesion_scene("three lesions under one prediction", pieces, long, SPACINGS[2])
    yield lesion_scene("nested labels", nested, inner, SPACINGS[1])
    yield lesion_scene("nested labels, core missed", nested, inner[:1], SPACINGS[4])
    yield lesion_scene("nested labels, core alone", nested[:1], inner, SPACINGS[3])
    yield lesion_scene(
        "labels exchanged", [(cube(4), 1), (cube(18), 3)], [(cube(4), 3), (cube(18), 1)]
    )
    yield lesion_scene("at the border", border, across, SPACINGS[4])
    yield lesion_scene("spurious", far[:1], far, SPACINGS[2])
    yield lesion_scene("missed", far, far[:1], SPACINGS[3])
    yield lesion_scene("disjoint", far[:1], far[1:], SPACINGS[1])
    yield lesion_scene("no reference", [], far)
    yield lesion_scene("no prediction", far, [])
    yield lesion_scene("both empty", [], [])
    yield lesion_scene("everything", [(((0, 0, 0), SHAPE), 3)], [(((0, 0, 0), SHAPE), 3)])


def shared_space() -> Iterator[Scene]:
    """Yield predictions that fill the space between lesions, whose owner is the nearest lesion."""
    everything: list[Patch] = [(((0, 0, 0), SHAPE), 3)]
    odd: list[Patch] = [(cube(2), 3), (cube(21), 3)]
    yield lesion_scene("as near to one lesion as to another", odd, [(cube(2, size=(23, 4, 4)), 3)])
    aside: list[Patch] = [(cube(12, 1), 3), (cube(12, 14), 1)]
    yield lesion_scene("as near on either side", aside, [(cube(12, 1, size=(4, 17, 6)), 3)])
    corners: list[Patch] = [(cube(1, 1, 1), 3), (cube(14, 14, 12), 3), (cube(27, 2, 2), 1)]
    for spacing in SPACINGS:
        name = f"everything predicted, spacing {spacing}"
        yield lesion_scene(name, corners, everything, spacing)


def drawn_lesions(seed: int, count: int) -> tuple[Labels, Labels]:
    """Return lesions with a rim (2), a core (1) and a centre (3), and a faulty prediction."""
    draws = Draws(seed)
    reference = np.zeros(SHAPE, dtype=np.int32)
    prediction = np.zeros(SHAPE, dtype=np.int32)
    for _ in range(count):
        centre = tuple(draws.below(n) for n in SHAPE)
        radii = tuple(draws.between(1, 6) for _ in SHAPE)
        shift = tuple(c + draws.between(-2, 2) for c in centre)
        kind = draws.below(5)
        for image, middle, change in (
            (reference, centre, 0),
            (prediction, shift, draws.between(-1, 1)),
        ):
            if image is prediction and kind == 0:
                continue
            for label, less in ((2, 0), (1, 1), (3, 2)):
                grown = tuple(r + change - less for r in radii)
                if min(grown) > 0:
                    image[ellipsoid(SHAPE, middle, grown)] = label
    for _ in range(draws.below(3)):
        start = tuple(draws.below(n) for n in SHAPE)
        paint(prediction, (start, tuple(draws.between(1, 3) for _ in SHAPE)), draws.between(1, 3))
    return reference, prediction


def lesions() -> Iterator[Scene]:
    """Yield label maps of lesions with the labels 1, 2 and 3."""
    for scenes in (gaps, volumes, near_misses, arrangements, shared_space):
        yield from scenes()
    for seed in range(1, 17):
        made = f"drawn_lesions in {SHAPE}, {2 + seed % 7} lesions"
        sides = drawn_lesions(500 + seed, 2 + seed % 7)
        yield Scene(f"drawn {seed}", made, 500 + seed, SPACINGS[seed % 5], *sides)


def lesion_masks() -> Iterator[Scene]:
    """Yield the scenes of `lesions` with all labels as one."""
    for scene in lesions():
        masks = ((side > 0).astype(np.int32) for side in (scene.reference, scene.prediction))
        reference, prediction = masks
        yield replace(
            scene, made=f"{scene.made}, as a mask", reference=reference, prediction=prediction
        )


# Panoptic images -----------------------------------------------------------------------------

VOID, ROAD, SKY, PERSON, CAR = 0, 7, 23, 24, 26
COCO = {ROAD: 149, SKY: 187, PERSON: 1, CAR: 3}
PARTS = {PERSON: 4, CAR: 5}

# `.` is void, `r` road, `s` sky; `a`–`d` are persons, `A`–`D` cars; `x` and `X` are crowds of
# persons and of cars. A letter is a square of 3 × 3 pixels.
PANOPTIC = {
    "perfect": ("ssss raab rrAA", "ssss raab rrAA"),
    "ids exchanged": ("ssss raab rrAA", "ssss rbba rrCC"),
    "exactly half, things": ("ssss raaa arrr rrAA", "ssss raar rrrr rrAA"),
    "exactly half, stuff": ("ssss rraa", "ssrr aaaa"),
    "just above half": ("sssss raaaa arrrr AAArr", "sssss raaar rrrrr AAArr"),
    "split": ("ssssss aaaaaa rrrAAA", "ssssss aaaabb rrrAAA"),
    "merged": ("ssssss aaaabb rrrAAA", "ssssss aaaaaa rrrAAA"),
    "missed": ("ssss raar rrAA", "ssss rrrr rrAA"),
    "spurious": ("ssss rrrr rrAA", "ssss rbbr rrAA"),
    "wrong class": ("ssss raar rrAA", "ssss rBBr rrAA"),
    "road taken for sky": ("ssss raar rrAA", "ssss saas ssAA"),
    "void leaves the union": ("ssss aa.. rrAA", "ssss aaaa rrAA"),
    "void lifts a pair above half": ("ssss a... rrAA", "ssss aaar rrAA"),
    "mostly void": ("ssss rr.. rrAA", "ssss rraa rrAA"),
    "half void": ("ssss r..r rrAA", "ssss raar raaA"),
    "exactly half void": ("ssss rr.. rrAA", "ssss rraa aaAA"),
    "more than half crowd": ("ssss xxxr rrAA", "ssss aaaa rrAA"),
    "exactly half crowd": ("ssss xxrr rrAA", "ssss aaaa rrAA"),
    "void and crowd together": ("ssss x.rr rrAA", "ssss aaar rrAA"),
    "crowd of another class": ("ssss XXXr rrAA", "ssss aaaa rrAA"),
    "crowd stays in the union": ("ssss aaxx rrAA", "ssss aaaa rrAA"),
    "crowd missed": ("ssss xxxx rrAA", "ssss rrrr rrAA"),
    "prediction leaves pixels out": ("ssss raab rrAA", "s..s .aa. rrAA"),
    "void on both sides": ("s... raab rrAA", "..ss r.ab rrAA"),
    "object in pieces": ("asas rrrr AArA", "asas rrrr AArA"),
    "stuff in pieces": ("srsr raab rsAA", "srrr raab ssAA"),
    "things only": ("aaAA bbAA", "aaAA bbbA"),
    "stuff only": ("ssss rrrr", "sssr rrrr"),
    "nothing predicted": ("ssss raab rrAA", ".... .... ...."),
    "nothing to find": (".... .... ....", "ssss raab rrAA"),
}


def panoptic_image(text: str) -> Labels:
    """Return the ids that rows of letters draw: a class, or a class · 1000 + an instance."""
    ids = {".": VOID, "r": ROAD, "s": SKY, "x": PERSON, "X": CAR}
    for i, letter in enumerate("abcd", start=1):
        ids |= {letter: PERSON * 1000 + i, letter.upper(): CAR * 1000 + i}
    rows = np.array([[ids[c] for c in row] for row in text.split()], dtype=np.int32)
    return np.kron(rows, np.ones((3, 3), dtype=np.int32)).astype(np.int32)


def drawn_panoptic(seed: int) -> tuple[Labels, Labels]:
    """Return a street: sky over road, persons and cars, crowds and void in the reference."""
    draws = Draws(seed)
    shape = (48, 64)
    reference, prediction = (np.full(shape, ROAD, dtype=np.int32) for _ in range(2))
    reference[: draws.between(12, 24)] = SKY
    prediction[: draws.between(12, 24)] = SKY
    for i in range(1, 10):
        class_ = (PERSON, CAR)[draws.below(2)]
        centre = tuple(draws.below(n) for n in shape)
        radii = tuple(draws.between(2, 9) for _ in shape)
        reference[ellipsoid(shape, centre, radii)] = class_ * 1000 + i
        kind = draws.below(6)
        moved = tuple(c + draws.between(-2, 2) for c in centre)
        guess = PERSON + CAR - class_ if kind == 1 else class_
        if kind:
            prediction[ellipsoid(shape, moved, radii)] = guess * 1000 + 20 - i
    for id_ in (VOID, PERSON, CAR):
        corner = tuple(draws.below(n) for n in shape)
        paint(reference, (corner, tuple(draws.between(4, 16) for _ in shape)), id_)
    paint(prediction, (tuple(draws.below(n) for n in shape), (6, 6)), VOID)
    return reference, prediction


def panoptic() -> Iterator[Scene]:
    """Yield panoptic images with the ids of Cityscapes."""
    for name, (reference, prediction) in PANOPTIC.items():
        made = f"letters {reference!r} and {prediction!r}"
        sides = panoptic_image(reference), panoptic_image(prediction)
        yield Scene(name, made, 0, (1.0, 1.0), *sides)
    for seed in range(1, 13):
        sides = drawn_panoptic(700 + seed)
        yield Scene(f"drawn {seed}", "drawn_panoptic", 700 + seed, (1.0, 1.0), *sides)


def to_coco(ids: Labels) -> Labels:
    """Return the same image with the classes of COCO."""
    coco = ids.copy()
    for class_, category in COCO.items():
        coco[ids == class_] = category
        thing = ids // 1000 == class_
        coco[thing] = category * 1000 + ids[thing] % 1000
    return coco


def coco_panoptic() -> Iterator[Scene]:
    """Yield the scenes of `panoptic` with the classes of COCO."""
    for scene in panoptic():
        yield replace(
            scene, reference=to_coco(scene.reference), prediction=to_coco(scene.prediction)
        )


def with_parts(ids: Labels, draws: Draws, undefined: bool) -> Labels:
    """Return seven-digit ids: bands of parts over the things, some without, where allowed."""
    uids = ids.copy()
    rows = np.indices(ids.shape, dtype=np.int32)[0]
    for id_ in np.unique(ids[ids >= 1000]).tolist():
        here = ids == id_
        parts, band = PARTS[id_ // 1000], draws.between(2, 5)
        first = draws.below(2)
        part = (rows // band + first) % (parts + (1 if undefined else 0)) + 1
        part[part > parts] = 0
        if undefined and draws.below(8) == 0:
            part[:] = 0
        uids[here] = np.where(part > 0, id_ * 100 + part, id_)[here]
    return uids


def panoptic_parts() -> Iterator[Scene]:
    """Yield the scenes of `panoptic` with parts: class, instance (3 digits), part (2 digits)."""
    for number, scene in enumerate(panoptic()):
        seed = 900 + number
        draws = Draws(seed)
        reference = with_parts(scene.reference, draws, undefined=number % 3 > 0)
        prediction = with_parts(scene.prediction, draws, undefined=False)
        made = f"{scene.made}, then with_parts of seed {seed}"
        yield replace(scene, made=made, reference=reference, prediction=prediction)


FAMILIES: dict[str, Callable[[], Iterator[Scene]]] = {
    "objects": all_objects,
    "lesions": lesions,
    "lesion masks": lesion_masks,
    "panoptic": panoptic,
    "coco panoptic": coco_panoptic,
    "panoptic parts": panoptic_parts,
}
