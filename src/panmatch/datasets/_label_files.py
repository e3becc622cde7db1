"""The label files in a folder, by case and model, and whatever else is there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from panmatch.datasets._nnunet import is_training_picture, prediction_folders
from panmatch.errors import Argument, FileError, OptionError
from panmatch.evaluation import plural
from panmatch.formats import case_name, image_name, is_label_file

MOST_NAMED = 2  # more files of one kind are counted rather than named

ARCHIVE = ".npz"
FIRST_CHANNEL = "_0000"  # as nnU-Net calls the images of a case


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """The contents of a folder.

    Attributes
    ----------
    images
        Label files by case and model; the model is empty if the path does not name one.
    twins
        Archives next to a label image of the same name, such as nnU-Net's probabilities.
    strays
        Label files that do not fit the pattern.
    others
        Files of other kinds, and everything outside of nnU-Net's folds if there are any. Hidden
        files are not included.
    """

    images: dict[tuple[str, str], Path]
    twins: tuple[Path, ...] = ()
    strays: tuple[Path, ...] = ()
    others: tuple[Path, ...] = ()

    @property
    def ignored_text(self) -> str:
        """The files that were not read, by kind; empty if there are none.

        Examples
        --------
        >>> twins = tuple(Path(f"{name}.npz") for name in "abc")
        >>> FoundFiles({}, twins, others=(Path("plans.json"),)).ignored_text
        '3 *.npz next to label images of the same name, plans.json'
        """
        kinds = {
            " next to label images of the same name": self.twins,
            " that do not fit the pattern": self.strays,
            "": self.others,
        }
        return ", ".join(
            f"{text}{why}" for why, files in kinds.items() for text in _by_suffix(files)
        )

    def without(self, suffixes: Sequence[str]) -> FoundFiles:
        """Return the same without other files that have one of the suffixes."""
        return replace(
            self, others=tuple(path for path in self.others if path.suffix not in suffixes)
        )

    @property
    def n_ignored(self) -> int:
        """The number of files that were not read."""
        return len(self.twins) + len(self.strays) + len(self.others)


def find_label_files(folder: Path, pattern: str | None, side: str) -> FoundFiles:
    """Return the label files in a folder; raise an error if there are none.

    Parameters
    ----------
    pattern
        Where case and model are in a path; by default the whole path is the case.
    side
        What to call the folder in an error message.
    """
    match = None if pattern is None else compile_pattern(pattern)
    images: dict[tuple[str, str], Path] = {}
    twins: list[Path] = []
    strays: list[Path] = []
    roots = [folder] if match is not None else prediction_folders(folder)
    others: list[Path] = []
    if roots != [folder]:
        beside = sorted(_files(folder))
        others = [path for path in beside if not any(map(path.is_relative_to, roots))]
    for root in roots:
        listed = sorted(_files(root))
        labels = [path for path in listed if _is_label_image(path)]
        others += sorted(set(listed).difference(labels)) if len(labels) < len(listed) else []
        keys = {path: _key(path.relative_to(root), match) for path in labels}
        strays += [path for path, key in keys.items() if key is None]
        fitting = [path for path, key in keys.items() if key is not None]
        there = set(_archives_beside_images(fitting))
        twins += sorted(there)
        for path in fitting:
            if path not in there:
                _add(images, keys[path], path)
    if not images:
        fits = f" that fits the pattern {pattern!r}" if pattern else ""
        raise FileError(f"{side}={str(folder)!r} contains no label file{fits}.")
    return FoundFiles(images, tuple(twins), tuple(strays), tuple(others))


def find_images(folder: Path) -> dict[str, Path]:
    """Return the images in a folder by case, including those of nnU-Net's first channel.

    If a case has one image with a channel suffix and one without, the one without is used.

    Raises
    ------
    FileError
        If there is no such folder, or no image in it.
    """
    if not folder.is_dir():
        raise FileError(Argument("images", str(folder)), " is not a folder.")
    named: dict[str, Path] = {}
    for path in sorted(_files(folder)):
        if (name := image_name(path)) is not None:
            place = path.relative_to(folder).parent / name
            named.setdefault(_printable(place.as_posix()), path)
    if not named:
        raise FileError(Argument("images", str(folder)), " contains no images.")
    channels = {
        name.removesuffix(FIRST_CHANNEL): path
        for name, path in named.items()
        if name.endswith(FIRST_CHANNEL)
    }
    return channels | named


def _add(images: dict[tuple[str, str], Path], key: tuple[str, str] | None, path: Path) -> None:
    assert key is not None
    if key in images:
        raise FileError(
            f"{str(images[key])!r} and {str(path)!r} are both case {key[0]!r}: remove one, or "
            f"choose one with --pattern."
        )
    images[key] = path


def _key(below: Path, match: re.Pattern[str] | None) -> tuple[str, str] | None:
    """Return case and model, or None if a path does not fit the pattern."""
    if match is None:
        return _printable((below.parent / case_name(below)).as_posix()), ""
    names = match.fullmatch(_printable(below.as_posix()))
    return None if names is None else (names["case"], names.groupdict().get("model") or "")


def _printable(name: str) -> str:
    r"""Return the name of a file as text, with undecodable bytes spelt out.

    Examples
    --------
    >>> _printable("café"), _printable("caf\udce9")
    ('café', 'caf\\xe9')
    """
    return name.encode(errors="surrogateescape").decode(errors="backslashreplace")


def _files(folder: Path, above: frozenset[Path] = frozenset()) -> Iterator[Path]:
    """Yield the files in a folder and its subfolders. A Zarr store counts as one file.

    Hidden files are left out, and so are links to a folder that contains them.
    """
    above |= {folder.resolve()}
    try:
        listed = list(folder.iterdir())
    except OSError as error:
        raise FileError(f"path={str(folder)!r} cannot be listed: {error.strerror}.") from error
    for path in listed:
        if path.name.startswith("."):
            continue
        if not path.is_dir() or is_label_file(path):
            yield path
        elif path.resolve() not in above:
            yield from _files(path, above)


def _is_label_image(path: Path) -> bool:
    return is_label_file(path) and not is_training_picture(path)


def _archives_beside_images(paths: Sequence[Path]) -> Iterator[Path]:
    images = {path.parent / case_name(path) for path in paths if not _is_archive(path)}
    for path in paths:
        if _is_archive(path) and path.parent / case_name(path) in images:
            yield path


def _is_archive(path: Path) -> bool:
    return path.suffix.lower() == ARCHIVE


def _by_suffix(files: Iterable[Path]) -> Iterator[str]:
    """Yield the number of files with each suffix, or their names if there are few."""
    kinds: dict[str, list[str]] = {}
    for path in files:
        suffix = path.name[len(case_name(path)) :].lower() or path.suffix.lower()
        kinds.setdefault(suffix, []).append(path.name)
    for suffix, names in kinds.items():
        distinct = sorted(set(names))
        if len(names) <= MOST_NAMED:
            yield ", ".join(distinct)
        else:
            yield f"{len(names)} *{suffix}" if suffix else plural(len(names), "file")


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Return the pattern as a regular expression; a repeated name must match the same text.

    Examples
    --------
    >>> found = compile_pattern("{case}/{case}_pred_{model}.*").fullmatch("p7/p7_pred_unet.nii.gz")
    >>> found["case"], found["model"]
    ('p7', 'unet')
    """
    if "{case}" not in pattern:
        raise OptionError(
            f"--pattern {pattern!r} must contain {{case}} where the name of the case is."
        )
    strange = sorted(set(re.findall(r"\{[^}]*\}", pattern)) - {"{case}", "{model}"})
    if strange:
        raise OptionError(
            f"--pattern {pattern!r} contains {strange[0]}, which is not known: use {{case}} and "
            f"{{model}}."
        )
    text, seen = "", set()
    for token in re.split(r"(\{case\}|\{model\}|\*|\?)", pattern):
        if token in ("{case}", "{model}"):
            name = token[1:-1]
            text += f"(?P={name})" if name in seen else f"(?P<{name}>.+?)"
            seen.add(name)
        else:
            text += {"*": ".*", "?": "."}.get(token, re.escape(token))
    return re.compile(text)
