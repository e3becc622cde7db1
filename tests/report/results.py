"""Small results that figures are drawn of, and what is read back from figures."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import panmatch as pm
from panmatch.evaluation import Result
from tests.scenes import Labels, strip

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.text import Text

CASES = {
    "a": ("aaaaaaaaaabbbbb.....cc", "aaaaaaccccdddd..eeee.."),
    "b": ("aaaa..bbbb..cccccc", ".aaaa..bbb..ccc.dd"),
}
WORSE = {
    "a": ("aaaaaaaaaabbbbb.....cc", "aaaaa.................."[:22]),
    "b": ("aaaa..bbbb..cccccc", "......bbbb........"),
}


def row(text: str) -> Labels:
    """Return an image of one row."""
    return strip(text)[np.newaxis]


def made(spec: Any = None, models: Any = None) -> Result:
    """Return the cases of one model without a name, or of several."""
    evaluator = pm.Evaluator({"thresholds": [0.3, 0.5]} if spec is None else spec)
    for model, cases in ({"": CASES} if models is None else models).items():
        for name, (reference, prediction) in cases.items():
            evaluator.update(
                reference=row(reference), prediction=row(prediction), case=name, model=model
            )
    return evaluator.compute()


def two_models(spec: Any = None) -> Result:
    return made(spec, {"good": CASES, "poor": WORSE})


def two_classes(**keys: Any) -> Result:
    """Return a result with the classes "cell" and "lesion", thresholds 0.3 and 0.5."""
    spec = {
        "classes": {"cell": {"labels": [1, 2]}, "lesion": {"labels": [3, 4]}},
        "background": [5],
        "thresholds": [0.3, 0.5],
    }
    return made(spec | keys, {"good": {"b": CASES["b"]}, "poor": {"b": WORSE["b"]}})


def with_parts(**keys: Any) -> Result:
    """Return a case of cells with parts, badly predicted in every second voxel, and of the rest."""
    spec = {
        "classes": {
            "cell": {"labels": [1, 2], "instances": "components", "parts": [1, 2]},
            "rest": {"labels": [3]},
        },
        "thresholds": [0.3, 0.5],
    }
    reference = np.array([[1, 2, 1, 2, 0, 1, 2, 2, 0, 3, 3, 0, 1, 1]])
    prediction = np.array([[1, 2, 2, 1, 0, 1, 1, 0, 0, 3, 0, 0, 0, 0]])
    return pm.evaluate(reference=reference, prediction=prediction, spec=spec | keys)


def texts(figure: Figure) -> list[Text]:
    """Return all texts that can be seen, after drawing."""
    draw(figure)
    return visible_texts(figure)


def visible_texts(figure: Figure) -> list[Text]:
    """Return all texts that can be seen in a figure that has been drawn."""
    from matplotlib.text import Text

    return [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]


def draw(figure: Figure) -> npt.NDArray[np.uint8]:
    """Return the pixels of a figure."""
    from PIL import Image

    file = BytesIO()
    figure.savefig(file, format="png")
    return np.array(Image.open(file).convert("RGB"))
