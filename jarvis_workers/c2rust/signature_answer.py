"""Signatures that a model or a person plans: how parameters are passed, checked against what a shim can do."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from jarvis_workers.c2rust.conversion import PassedParameter
from jarvis_workers.c2rust.signatures import RESULT, MappingKind, ParameterChoice, ParameterMapping

SHOWN_MAX = 60


def _form(value: object) -> str:
    """Return the words of a form: `Option<mut_ref>` and `option mut_ref` are the same."""
    return " ".join(re.findall(r"[a-z_]+", str(value).lower().replace("option_", "option ")))


class PlannedParameter(BaseModel):
    """How a parameter is passed."""

    model_config = ConfigDict(frozen=True)

    name: str
    kind: Annotated[str, BeforeValidator(_form)] = Field(description="one of the possible kinds of the parameter")
    length: str | None = Field(None, description="of a slice: the parameter with the number of elements")

    @property
    def passed(self) -> PassedParameter:
        """The plain value."""
        return PassedParameter(self.name, self.kind, self.length or "")


class PlannedFunction(BaseModel):
    """The parameters of a function."""

    model_config = ConfigDict(frozen=True)

    function: str
    parameters: tuple[PlannedParameter, ...]


class SignatureAnswer(BaseModel):
    """The answer of a model."""

    model_config = ConfigDict(frozen=True)

    functions: tuple[PlannedFunction, ...]


def parameter_labels(names: Sequence[str]) -> list[str]:
    """Return a unique name for each parameter: its own, or its number."""
    count = Counter(names)
    return [name if name and count[name] == 1 else f"#{number}" for number, name in enumerate(names)]


def passed_parameters(mappings: Sequence[ParameterMapping]) -> tuple[PassedParameter, ...]:
    """Return mappings by the names of parameters.

    A result that is passed as in C is left out, unless its proposal is another one.
    """
    labels = parameter_labels([one.parameter for one in mappings])
    return tuple(
        PassedParameter(label, one.form, "" if one.length is None else labels[one.length])
        for label, one in zip(labels, mappings, strict=True)
        if (label, one.kind, one.type) != (RESULT, "value", "")
    )


def read_mapping(
    choices: Sequence[ParameterChoice], planned: Sequence[PassedParameter]
) -> tuple[ParameterMapping, ...]:
    """Return the planned mappings; parameters that are not planned have the proposed ones.

    Raises ValueError with the reason if a parameter does not exist or cannot be passed as planned.
    """
    labels = parameter_labels([one.proposal.parameter for one in choices])
    given = {one.name: one for one in planned}
    if unknown := [name for name in given if name not in labels]:
        raise ValueError(f"it has no parameter {_shown(unknown[0])}")
    if len(given) < len(planned):
        raise ValueError("a parameter occurs twice")
    numbers = {label: number for number, label in enumerate(labels)}
    return tuple(
        _mapping(choice, given[label], numbers, choices) if label in given else choice.proposal
        for label, choice in zip(labels, choices, strict=True)
    )


def _mapping(
    choice: ParameterChoice, given: PassedParameter, numbers: Mapping[str, int], choices: Sequence[ParameterChoice]
) -> ParameterMapping:
    if given.form not in choice.forms:
        possible = ", ".join(choice.forms)
        raise ValueError(f"{given.name} cannot be {_shown(given.form)}; possible: {possible}")
    kind, _, inner = given.form.partition(" ")
    length: Any = None
    if kind.endswith("slice"):
        length = numbers.get(given.length)
        if length is None or not choices[length].counts:
            raise ValueError(f"{given.name}: no integer parameter {_shown(given.length)} has its length")
    return choice.proposal._replace(
        kind=cast("MappingKind", kind), inner=cast("MappingKind", inner or "value"), length=length
    )


def _shown(name: str) -> str:
    return ascii(name[:SHOWN_MAX])[1:-1] or "(none)"


# Requests of translators for other signatures: which of them count.

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
