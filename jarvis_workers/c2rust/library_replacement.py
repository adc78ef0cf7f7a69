"""Values of library replacement (seed 001, "library_replacer"): a model's answer about a function, and the verdict.

Answers are untrusted: their size is bounded, names must be those of crates, and only allowed crates replace anything.
"""

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from jarvis_workers.paths import listing

# Always allowed unless a user disables them: they come with the compiler.
STANDARD = ("std", "core", "alloc")
CRATE = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
NAMES_MAX, NAME_LENGTH, NOTES_LENGTH = 20, 200, 1_000
NOTHING = frozenset({"", "none", "null", "n/a", "-"})


def _names(value: object) -> tuple[str, ...]:
    """Return a list of names; a text is split at commas."""
    parts = value.split(",") if isinstance(value, str) else [] if value is None else value
    if not isinstance(parts, list | tuple):
        raise ValueError("neither a name nor a list of names")
    names = [str(one).strip()[:NAME_LENGTH] for one in parts]
    return tuple(dict.fromkeys(name for name in names if name.lower() not in NOTHING))[:NAMES_MAX]


def _crates(value: object) -> tuple[str, ...]:
    """Return the names of crates; of a path such as `flate2::read`, the crate."""
    crates = [name.partition("::")[0].strip() for name in _names(value)]
    if wrong := [name for name in crates if not CRATE.fullmatch(name)]:
        raise ValueError(f"{wrong[0]!r} is not the name of a crate")
    return tuple(dict.fromkeys(crates))


def _fraction(value: object) -> float:
    """Return a confidence from 0 to 1, from a fraction or a percentage."""
    number = float(str(value).strip().removesuffix("%") or 0) if value is not None else 0.0
    if not math.isfinite(number):
        raise ValueError("not a number")
    return round(min(max(number / 100 if number > 1 else number, 0.0), 1.0), 4)


def _notes(value: object) -> str:
    return "" if value is None else " ".join(str(value).split())[:NOTES_LENGTH]


Names = Annotated[tuple[str, ...], BeforeValidator(_names)]
Crates = Annotated[tuple[str, ...], BeforeValidator(_crates)]
Confidence = Annotated[float, BeforeValidator(_fraction)]
Notes = Annotated[str, BeforeValidator(_notes)]


class LibraryChoice(BaseModel):
    """The crates that can replace a function and what it uses; `apis` are the paths to call in them."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    libraries: Crates = Field((), description="crates, the main one first")
    apis: Names = Field((), description="paths of the items to call")
    confidence: Confidence = Field(0.0, description="from 0 to 1")
    notes: Notes = Field("", description="the reason, in one or two sentences")

    @property
    def line(self) -> str:
        """The crates and the items to call, for a question."""
        return f"{', '.join(self.libraries)}{f' ({listing(self.apis, NAMES_MAX)})' if self.apis else ''}"

    @model_validator(mode="before")
    @classmethod
    def _aliases(cls, value: Any) -> Any:
        """Accept `library`, the main library, and `api` beside the lists."""
        if not isinstance(value, Mapping):
            return value
        fields = dict(value)
        for single, several in (("library", "libraries"), ("api", "apis")):
            if (one := fields.pop(single, None)) is not None:
                fields[several] = [*_names(one), *_names(fields.get(several))]
        return fields


class ReplacementAnswer(LibraryChoice):
    """A model's answer about a function."""

    replaceable: bool = Field(description="whether the crates can replace all of the functions")

    @model_validator(mode="after")
    def _names_a_library(self) -> "ReplacementAnswer":
        if self.replaceable and not self.libraries:
            raise ValueError("libraries: name the crates that replace the functions")
        return self


class LibraryReplacement(LibraryChoice):
    """The libraries that replace a function in the files of a project; `mode` says who decided."""

    mode: str = "llm"
    updated_at: str = ""

    @property
    def references(self) -> list[str]:
        """The placeholders that stand in the field `ref` of the function."""
        return [f"lib::{name}" for name in self.libraries]

    def fields(self) -> dict[str, object]:
        """Return the fields of `lib_replacement`; `library` and `api` are the first of their lists."""
        return {
            "libraries": list(self.libraries),
            "library": next(iter(self.libraries), ""),
            "apis": list(self.apis),
            "api": next(iter(self.apis), ""),
            "confidence": self.confidence,
            "notes": self.notes,
            "mode": self.mode,
            "updated_at": self.updated_at,
        }


class FunctionVerdict(BaseModel):
    """Whether libraries replace the function `id`: those of `choice`, or none, with the reason.

    A function without a usable answer is not `checked`; it is not replaced.
    """

    model_config = ConfigDict(frozen=True)

    id: int
    choice: LibraryChoice | None = None
    reason: str = ""
    checked: bool = True


@dataclass(frozen=True, slots=True)
class LibraryPolicy:
    """The crates that may replace functions, in addition to those of the compiler, and those that may not."""

    allowed: Collection[str] = ()
    disabled: Collection[str] = ()

    def objection(self, libraries: Collection[str]) -> str:
        """Return why a choice does not count, or an empty string; case and `-` or `_` do not matter."""
        disabled = {canonical(name) for name in self.disabled}
        allowed = {canonical(name) for name in (*STANDARD, *self.allowed)}
        for name in libraries:
            if canonical(name) in disabled:
                return f"{name} is disabled"
            if canonical(name) not in allowed:
                return f"{name} is not in c2rust.allowed_crates"
        return ""


def canonical(name: str) -> str:
    """Return the name of a crate as registries compare it."""
    return name.strip().lower().replace("_", "-")


def verdict_of(number: int, answer: ReplacementAnswer, policy: LibraryPolicy) -> FunctionVerdict:
    """Return the verdict that follows from an answer."""
    if not answer.replaceable:
        return FunctionVerdict(id=number, reason=answer.notes)
    if objection := policy.objection(answer.libraries):
        return FunctionVerdict(id=number, reason=f"{objection}; {answer.notes}".removesuffix("; "))
    return FunctionVerdict(id=number, choice=LibraryChoice(**answer.model_dump(exclude={"replaceable"})))
