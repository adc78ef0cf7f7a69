"""Requests of translators for other signatures: which of them count.

A run changes few signatures, since each change may break the bodies of callers.  The choice does not depend on the
order in which functions were translated.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pydantic import BaseModel, Field

from jarvis_workers.c2rust.conversion import PassedParameter
from jarvis_workers.c2rust.signature_answer import PlannedParameter, read_mapping
from jarvis_workers.c2rust.signatures import ParameterChoice, ParameterMapping

SHARE_PERCENT, PARAMETERS_MAX, REASON_MAX = 5, 100, 200
PRESENT, SPENT = "it is as requested already", "no answer is left to translate it again"


class SignatureChange(BaseModel):
    """Another way to pass the parameters of a function."""

    parameters: tuple[PlannedParameter, ...] = Field(max_length=PARAMETERS_MAX)
    reason: str

    @property
    def passed(self) -> tuple[PassedParameter, ...]:
        """The parameters."""
        return tuple(one.passed for one in self.parameters)

    @property
    def shown_reason(self) -> str:
        """The reason on one line."""
        return " ".join(self.reason.split())[:REASON_MAX]


class SignatureRequest(NamedTuple):
    """The request for a function; `is_translated` means that it has a body with its present signature."""

    slot: str
    parameters: Sequence[PassedParameter]
    is_translated: bool
    has_answers_left: bool


class ChosenRequests(NamedTuple):
    """The requested mappings to try, and the reasons against the other requests, by slot."""

    mappings: dict[str, tuple[ParameterMapping, ...]]
    refused: dict[str, str]


def most_changes(functions: int) -> int:
    """Return how many signatures may change in a run that translates so many functions."""
    return max(1, functions * SHARE_PERCENT // 100)


def choose_requests(
    requests: Iterable[SignatureRequest],
    choices: Mapping[str, Sequence[ParameterChoice]],
    present: Mapping[str, Sequence[ParameterMapping]],
    most: int,
) -> ChosenRequests:
    """Return at most `most` valid requests, first those of functions without a body; all mappings are by slot.

    Parameters that a request does not mention are passed as before.
    """
    chosen = ChosenRequests({}, {})
    for one in sorted(requests, key=lambda one: (one.is_translated, one.slot)):
        own = tuple(present[one.slot])
        possible = [choice._replace(proposal=mapping) for choice, mapping in zip(choices[one.slot], own, strict=True)]
        try:
            mapping = read_mapping(possible, one.parameters)
        except ValueError as error:
            chosen.refused[one.slot] = str(error)
            continue
        if mapping == own:
            chosen.refused[one.slot] = PRESENT
        elif not one.has_answers_left:
            chosen.refused[one.slot] = SPENT
        elif len(chosen.mappings) >= most:
            chosen.refused[one.slot] = f"a run changes at most {most} of them"
        else:
            chosen.mappings[one.slot] = mapping
    return chosen
