"""The base of all models: frozen, and unknown keys are errors that name the nearest key."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

from panmatch.errors import nearest_name


class StrictModel(BaseModel):
    """A frozen model that refuses keys it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, given: Any) -> Any:
        if isinstance(given, dict):
            names = list(cls.model_fields)
            for key in given:
                if key not in names:
                    raise ValueError(
                        f"the key {key!r} is not known{nearest_name(key, names)} Accepted: "
                        f"{', '.join(names)}"
                    )
        return given
