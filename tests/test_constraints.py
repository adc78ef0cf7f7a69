"""What a value should be, in words without the types and steps of pydantic."""

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field, ValidationError

from jarvis_workers.constraints import requirement


class Row(BaseModel):
    count: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    share: Annotated[float, Field(gt=0, lt=0.5, allow_inf_nan=False)] = 0.1
    is_on: bool = False
    name: Annotated[str, Field(min_length=1, max_length=3)] = "a"
    code: Annotated[str, Field(pattern=r"\A[a-z]+\z")] = "a"
    words: Annotated[tuple[str, ...], Field(min_length=2)] = ("a", "b")
    table: dict[str, int] = {}
    kind: Literal["a", "b"] = "a"
    inner: "Row | None" = None


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"count": "many"}, "should be a whole number"),
        ({"count": 1.5}, "should be a whole number"),
        ({"count": 0}, "should be at least 1"),
        ({"count": 2_000_000}, "should be at most 1,000,000"),
        ({"share": "x"}, "should be a number"),
        ({"share": 0}, "should be greater than 0"),
        ({"share": 0.5}, "should be less than 0.5"),
        ({"share": float("inf")}, "should be a finite number"),
        ({"is_on": "perhaps"}, "should be true or false"),
        ({"name": 3}, "should be a string"),
        ({"name": ""}, "should have at least 1 character"),
        ({"name": "abcd"}, "should have at most 3 characters"),
        ({"code": "A"}, "should match [a-z]+"),
        ({"words": "ab"}, "should be a list"),
        ({"words": ["a"]}, "should have at least 2 items"),
        ({"table": 3}, "should be a mapping of names to values"),
        ({"kind": "c"}, "should be 'a' or 'b'"),
        ({"inner": 3}, "should be a mapping of names to values"),
    ],
)
def test_a_requirement_is_said_in_plain_words(values: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError) as error:
        Row.model_validate(values)

    assert requirement(error.value.errors()[0]) == says
