"""What every dialect's request may hold, with one meaning."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Number = Annotated[float, Field(allow_inf_nan=False)]
Document = str | dict[str, Any]
Top = Annotated[int | None, Field(ge=1, description="Answer with the best so many.")]


class Cut(BaseModel):
    """How far to go. All dialects take these, though only ours has them on its own account."""

    model_config = ConfigDict(strict=True)

    drop: Number | list[Number] | Literal["fit"] | None = Field(
        None, description="Share of the candidates that leave at each exit: one, or one for each exit but the last."
    )
    keep: list[int] | None = Field(None, description="Instead of drop: how many stay after each exit but the last.")
    deadline_ms: Number | None = Field(
        None, gt=0, description="Answer after so many milliseconds with the best complete order there is."
    )
