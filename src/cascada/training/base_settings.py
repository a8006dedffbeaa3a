"""What all settings have in common, and the data they name."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator

from cascada.data import Mode

Share = Annotated[float, Field(ge=0, lt=1)]
Positive = Annotated[float, Field(gt=0)]
Weight = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]
Text = Annotated[str, Field(min_length=1)]


class Settings(BaseModel):
    """Unknown keys are refused, and nothing changes once read."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=(), allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _no_setting_is_yes_or_no(cls, value: object) -> object:
        if isinstance(value, bool):  # which Python, and so pydantic, would take for 1 or 0
            raise ValueError("no setting is true or false")
        return value


class DataSettings(Settings):
    source: Text
    """A data set's name, a JSONL file, NAME:FILE or hf:ID; see `cascada.data.read`."""
    root: str | None = None
    split: str | None = None
    mode: Mode = "raw"
    questions: Count | None = None
    """Only the first so many questions."""
    grades: tuple[int, ...] | None = None
    """For training: of the wrong candidates only those of these finer labels (ASNQ: 1 to 3)."""
    noise: Share = 0
    """For training: flip this share of the labels, drawn by `noise_seed`."""
    noise_seed: Annotated[int, Field(ge=0)] = 0
    also: tuple[DataSettings, ...] = ()
    """For training: other data to be put together with this."""
