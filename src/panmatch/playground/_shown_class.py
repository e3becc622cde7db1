"""A class of a spec, whose objects a pair of files shows."""

from __future__ import annotations

from dataclasses import dataclass

from panmatch.errors import OptionError, check_choice
from panmatch.evaluation import ClassCase, Images, class_cases
from panmatch.formats import LabelImage
from panmatch.playground._validation import Message
from panmatch.spec import ClassSpec, Spec


@dataclass(frozen=True, slots=True)
class ShownClass:
    """A class, and a spec that says no more than what its objects are.

    Attributes
    ----------
    name
        Of the class.
    spec
        What `of` keeps of the spec of a run.
    """

    name: str
    spec: Spec

    @classmethod
    def of(cls, spec: Spec, name: str) -> ShownClass | None:
        """Return a class of a spec; None if every label is an object of it, as without a spec.

        Other classes are dropped, except where they decide which pixels are void. Parts are
        dropped as well: the page is about whole objects, and has no part images.

        Examples
        --------
        >>> spec = Spec(classes={"lesion": {"labels": [1, 2], "instances": "components"}})
        >>> ShownClass.of(spec, "lesion").options["background"]
        'others'
        >>> ShownClass.of(Spec(), "object") is None
        True
        """
        check_choice("class", name, spec.classes)
        if spec.encoding != "labels":
            reduced = Spec(
                encoding=spec.encoding,
                classes=spec.classes,
                headline=name,
                colour_ids=spec.colour_ids,
            )
            return cls(name, reduced)
        chosen = spec.classes[name].model_copy(update={"parts": ()})
        reduced = Spec(
            classes={name: chosen},
            background=spec.background if chosen.numbers is None else "others",
            void=spec.void,
            colour_ids=spec.colour_ids,
        )
        return None if reduced == Spec(classes={name: ClassSpec()}) else cls(name, reduced)

    @property
    def options(self) -> Message:
        """The keys of the spec that are not left at their defaults."""
        return self.spec.model_dump(mode="json", exclude_defaults=True)

    def find(self, reference: LabelImage, prediction: LabelImage) -> ClassCase:
        """Return the objects of the class in two images."""
        found = class_cases(Images(reference.labels), Images(prediction.labels), self.spec)
        for one in found:
            if one.name == self.name:
                return one
        raise OptionError(
            f"neither {reference.path.name!r} nor {prediction.path.name!r} has an object of the "
            f"class {self.name!r}, so there is nothing to show. Name another case with --case."
        )
