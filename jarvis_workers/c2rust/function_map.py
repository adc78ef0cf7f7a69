"""The map of a conversion: functions by name, file and state, their Rust text, and the lines of symbol_map.jsonl.

The file and the crate may have been edited, and are untrusted.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from jarvis_workers.c2rust.conversion import Cause, FunctionResult, FunctionState, Proof
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.source.rust.rust_items import RustItem, read_items

STATUSES: tuple[str, ...] = tuple(dict.fromkeys((*get_args(FunctionState), *filter(None, get_args(Cause)))))
# Items that belong to the function after them: the static locals of C.
LOCAL = ("static", "const")
FUNCTION = re.compile(r"\bfn\s+((?:r#)?\w+)")


class FunctionFilter(NamedTuple):
    """Conditions on functions; `name` and `file` are globs, and an empty text matches everything."""

    name: str = ""
    file: str = ""
    status: str = ""


class SymbolMapLine(BaseModel):
    """A line of symbol_map.jsonl."""

    model_config = ConfigDict(frozen=True)

    c_name: str
    c_file: str
    start_line: int = Field(ge=1)
    end_line: int = Field(ge=1)
    module: str
    rust_symbol: str
    rust_signature: str = ""
    state: FunctionState = "forwarded"
    proof: Proof = "none"


def select_functions(functions: Iterable[FunctionResult], criteria: FunctionFilter) -> list[FunctionResult]:
    """Return the functions that match."""
    return [
        one
        for one in functions
        if (not criteria.name or fnmatchcase(one.name, criteria.name))
        and (not criteria.file or fnmatchcase(one.file, criteria.file))
        and criteria.status in ("", one.status)
    ]


def named_functions(functions: Sequence[FunctionResult], name: str) -> list[FunctionResult]:
    """Return the functions with a C or Rust name, which may have wildcards. Raises UsageError with a suggestion."""
    found = [one for one in functions if any(fnmatchcase(own, name) for own in _names(one))]
    if not found:
        close = get_close_matches(name, {own for one in functions for own in _names(one)}, n=1)
        hint = f' (did you mean "{plain(close[0])}"?)' if close else ""
        raise UsageError(f'no function is named "{plain(name)}"{hint}')
    return found


def _names(one: FunctionResult) -> tuple[str, str]:
    return one.name, one.rust_name


def function_row(one: FunctionResult) -> dict[str, Any]:
    """Return the fields of a function, without measured times."""
    gates = [{"gate": gate, "passed": passed, "detail": detail} for gate, passed, detail, _ in one.gates]
    reviews = [review._asdict() for review in one.reviews]
    mapping = [given._asdict() for given in one.mapping]
    return {**asdict(one), "status": one.status, "gates": gates, "reviews": reviews, "mapping": mapping}


def rust_texts(files: Mapping[str, bytes], functions: Sequence[FunctionResult]) -> list[str]:
    """Return the items of each function in the files of its crate: shim, body and static locals; "" without any."""
    modules = {name: _texts_by_name(files.get(f"src/{name}.rs", b"")) for name in {one.module for one in functions}}
    return [_joined(one, modules[one.module]) for one in functions]


def _texts_by_name(module: bytes) -> dict[str, list[tuple[int, str]]]:
    """Return the texts of the functions of a module by name, with their places in its order."""
    found = defaultdict[str, list[tuple[int, str]]](list)
    for place, (name, text) in enumerate(_with_locals(read_items(module.decode(errors="replace")))):
        found[name].append((place, text))
    return found


def _joined(function: FunctionResult, texts: Mapping[str, list[tuple[int, str]]]) -> str:
    signature = FUNCTION.search(function.rust_signature)
    names = {function.rust_name, *([signature[1]] if signature else [])}
    return "\n\n".join(text for _, text in sorted(one for name in names for one in texts.get(name, ())))


def _with_locals(items: Iterable[RustItem]) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of functions, with the private statics right before each."""
    before: list[str] = []
    for item in items:
        if item.kind == "fn":
            yield item.name, "\n".join([*before, item.text])
        is_local = item.kind in LOCAL and not item.definition.startswith("pub")
        before = [*before, item.text] if is_local else []


def read_map_lines(lines: Iterable[str], file: str) -> tuple[FunctionResult, ...]:
    """Return the functions in symbol_map.jsonl. Raises UsageError for the first line that is wrong."""
    found = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                found.append(_function(SymbolMapLine.model_validate(json.loads(line))))
            except ValidationError as error:
                wrong = error.errors(include_url=False, include_input=False)[0]
                place = ".".join(map(str, wrong["loc"])) or "line"
                raise UsageError(f"{file}:{number}: {plain(place)}: {wrong['msg']}") from error
            except (ValueError, RecursionError) as error:
                raise UsageError(f"{file}:{number}: not JSON") from error
    return tuple(found)


def _function(line: SymbolMapLine) -> FunctionResult:
    return FunctionResult(
        line.c_name,
        line.c_file,
        line.start_line,
        line.end_line,
        line.module.removeprefix("src/").removesuffix(".rs"),
        line.rust_symbol,
        line.rust_signature,
        line.state,
        line.proof,
        slot=f"{line.c_file}:{line.start_line}:{line.c_name}",
    )
