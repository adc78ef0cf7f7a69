"""The second look at a function after a patch: one question, "what is still wrong here?".

Its answer decides nothing: what the model names is reported beside the patch, and not verified. What was not looked at
is reported with the reason.
"""

from collections.abc import Iterator, Mapping

from pydantic import BaseModel, ConfigDict

from jarvis_workers.paths import plain
from jarvis_workers.sec.fix.fixable import FixFinding
from jarvis_workers.sec.fix.function_search import SearchResult

PATCH_MAX = 6_000


class RemainingDefect(BaseModel):
    """A defect that a model names; `line` is 0 if its place does not exist."""

    model_config = ConfigDict(frozen=True)

    file: str
    line: int
    cwe: int
    description: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.line else ""
        return plain(f"{place}{self.description}{f' (CWE-{self.cwe})' if self.cwe else ''}")


class SecondLook(BaseModel):
    """What a model names in a patched function; `reason` says why it was not asked, or not to the end."""

    model_config = ConfigDict(frozen=True)

    function: str = ""
    defects: tuple[RemainingDefect, ...] = ()
    reason: str = ""

    def lines(self) -> Iterator[str]:
        """Yield a line for each defect, and for what is missing."""
        for one in self.defects:
            yield f"still wrong in {plain(self.function)}: {one} (named by a model, not verified)"
        if self.reason:
            yield f"second look{f' at {plain(self.function)}' if self.function else ''} not complete: {self.reason}"


def look_values(finding: FixFinding, patch: bytes) -> Mapping[str, str]:
    """Return the texts of the question about a function that a patch has changed."""
    repaired = f"{finding.name} (CWE-{finding.cwe}): {finding.description}\n{finding.place.text}"
    return {"repaired": repaired, "patch": patch.decode("utf-8", "backslashreplace")[:PATCH_MAX]}


def second_look(function: str, result: SearchResult) -> SecondLook:
    """Return what a search has named, with what it could not place."""
    placed = [
        RemainingDefect(file=one.file, line=one.line, cwe=one.cwe, description=one.description)
        for one in result.defects
    ]
    others = [RemainingDefect(file="", line=0, cwe=0, description=text) for text in (*result.nowhere, *result.surplus)]
    return SecondLook(function=function, defects=(*placed, *others), reason=result.reason or "")
