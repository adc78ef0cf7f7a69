"""Path-sensitive, interprocedural data-flow analysis of C and C++ (symbolic execution).

`summarize` lowers the functions of a file that are worth analysing and lists its exports. `analyze` symbolically
executes these functions, follows calls into their callees, and looks up the exports of other files by name. Both are
pure functions; a summary is JSON.
"""

import pkgutil
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from jarvis_workers.dataflow.calls.function_models import NO_MODELS, FunctionModels
from jarvis_workers.dataflow.calls.taint_rules import TaintRule, names_called, words_for
from jarvis_workers.dataflow.file_analysis import FileAnalysis, FlowHit, FlowResult, room_for_calls
from jarvis_workers.dataflow.frontend import model
from jarvis_workers.dataflow.lifetime_triggers import ignored_outputs
from jarvis_workers.dataflow.member_uses import ENDS, unreleased_members
from jarvis_workers.dataflow.state.definitions import ENDING, STATIC, Lookup
from jarvis_workers.dataflow.text_uses import NEAR
from jarvis_workers.dataflow.triggers import HEAD_MAX, LONGEST, has_lifetimes, is_helper, is_root, reads_counted_buffer
from jarvis_workers.errors import GivenUp
from jarvis_workers.source.functions import MANY_MARKS, Function
from jarvis_workers.source.grammar_files import base_language, c_text
from jarvis_workers.source.lex import mask

__all__ = ["FileAnalysis", "FlowHit", "FlowResult", "Lookup", "analyze", "flow_fingerprint", "summarize"]

# A header with more constants lists registers: no condition depends on them, but they would fill the symbol index.
MACROS_MAX = 2_000
# The functions that programs begin with: what these know of their arguments is all that there is to know.
PROGRAMS = frozenset((b"main", b"wmain"))
NO_NAMES = frozenset[bytes]()
LARGEST = 32_000_000
# Other suffixes, such as those of headers and of what sources include, do not tell C from C++.
C_SUFFIXES = ("c", "i", "m", "mi")
CPP_SUFFIXES = frozenset(
    [
        *("cc", "cp", "cpp", "cxx", "c++", "ii", "mm", "mii", "cppm", "ccm", "cxxm", "c++m", "ixx", "cu", "cuh", "hip"),
        *("hpp", "hh", "hxx", "hp", "h++", "ipp", "tpp", "tcc", "txx", "icc", "ll", "yy", "ino"),
    ]
)
REST = "the rest of the file"
TOO_LONG = f"it is longer than {LONGEST:,} bytes"


def _modules(folder: str) -> tuple[str, ...]:
    """Return the file names of a package's modules."""
    return ("__init__.py", *sorted(f"{one.name}.py" for one in pkgutil.iter_modules([folder]) if not one.ispkg))


# The findings of a scan depend on the source code of these modules only.
DECIDING_FILES = {
    __name__: _modules(__path__[0]),
    **{
        f"{__name__}.{one.name}": _modules(f"{__path__[0]}/{one.name}")
        for one in pkgutil.iter_modules(__path__)
        if one.ispkg
    },
    "jarvis_workers.source": (
        "c_tokens.py",
        "call_patterns.py",
        "function_heads.py",
        "functions.py",
        "grammar_files.py",
        "lex.py",
        "macro_heads.py",
    ),
}


class FunctionSelection:
    """Selects the functions of a file that are worth lowering, by their masked text."""

    def __init__(self, text: bytes, names: frozenset[bytes], *, cpp: bool = False) -> None:
        self._text = text
        self._cpp = cpp
        # By the offsets of bodies: the functions of C++ whose lifetimes are looked at.
        self._lives: set[int] = set()
        self._words = words_for(text, names)
        # By the offsets of bodies: the roots, and the names of a project's own rules that functions call.
        self._roots: set[int] = set()
        self._marks: dict[int, list[str]] = {}
        self._too_long: list[Function] = []
        self._unreleased = unreleased_members(text)

    def includes(self, function: Function, body: bytes) -> bool:
        if len(body) > LONGEST:
            self._too_long.append(function)
            return False
        called = names_called(body, self._words) if self._words else []
        if called:
            self._marks[function.body[0]] = called
        if self._cpp and has_lifetimes(self._text[max(0, function.start - HEAD_MAX) : function.body[0]], body):
            self._lives.add(function.body[0])
        if self._is_root(function, body):
            self._roots.add(function.body[0])
            return True
        return bool(called) or function.body[0] in self._lives or is_helper(body) or self._ends_structure(function)

    def _ends_structure(self, function: Function) -> bool:
        return bool(self._unreleased) and ENDS.search(function.name) is not None

    def _is_root(self, function: Function, body: bytes) -> bool:
        if (
            function.name in PROGRAMS
            or is_root(body)
            or reads_counted_buffer(self._text[function.start : function.body[0]], body)
        ):
            return True
        return any(self._defines(name) for name in ignored_outputs(body))

    def _defines(self, name: bytes) -> bool:
        """Return whether a function is defined before its first call."""
        at = self._text.find(b" " + name + b"(")
        end = self._text.find(b")", at)
        return at >= 0 and self._text[end + 1 : end + NEAR].lstrip()[:1] == b"{"

    def members(self) -> dict[str, list[str]]:
        """Return the members with memory that nothing in the file releases, as "unreleased"."""
        return {"unreleased": sorted(name.decode("latin-1") for name in self._unreleased)} if self._unreleased else {}

    def mark(self, functions: list[dict[str, Any]]) -> None:
        """Set "root" and "lives" of functions, and "marks" of those that call names of a project's own rules."""
        starts = sorted(self._roots | self._marks.keys() | self._lives)
        lines, line, at = [], 1, 0
        for start in starts:
            line, at = line + self._text.count(b"\n", at, start), start
            lines.append(line)
        for function in functions:
            place = bisect_left(lines, function["line"])
            is_listed = place < len(lines) and lines[place] <= function["end"]
            function["root"] = is_listed and starts[place] in self._roots
            if is_listed and starts[place] in self._lives:
                function["lives"] = True
            if is_listed and starts[place] in self._marks:
                function["marks"] = self._marks[starts[place]]

    def gaps(
        self, functions: list[dict[str, Any]], unread: list[tuple[str, int, str, str]], unsearched: int | None
    ) -> list[list[str | int]]:
        """Return the functions worth analyzing that cannot be analyzed, or not all of them: name, line and reason.

        `unread` is code that was not lowered. Functions behind the offset `unsearched` are not known, and named
        together.
        """
        gaps: list[list[str | int]] = [
            [b"".join(one.name.split()).decode("latin-1"), self._text.count(b"\n", 0, one.start) + 1, TOO_LONG]
            for one in self._too_long
        ]
        roots = [one for one in functions if one["root"] or "marks" in one]
        gaps += [[one["name"], one["line"], one["gap"]] for one in roots if "gap" in one]
        rest = self._text.count(b"\n", 0, unsearched) + 1 if unsearched is not None else None
        before = [one for one in unread if rest is None or one[1] < rest]
        gaps += [[name, line, reason] for name, line, reason, code in before if self._matters(code.encode("latin-1"))]
        return gaps if rest is None else [*gaps, [REST, rest, f"it is behind {MANY_MARKS}"]]

    def _matters(self, code: bytes) -> bool:
        """Return whether code would be worth analyzing as the body of a function."""
        parts = (code[start : start + LONGEST] for start in range(0, len(code), LONGEST))
        return any(is_root(part) or (self._words and names_called(part, self._words)) for part in parts)


def summarize(
    content: bytes,
    *,
    language: str,
    header: bool,
    test: bool,
    path: str,
    names: frozenset[bytes] = NO_NAMES,
    defines: Sequence[str] = (),
) -> dict[str, Any] | None:
    """Return the summary of a file; None if it has neither functions worth analysing nor exports.

    `exports` maps names to the definitions that other files may look up: a function by its name, a static function that
    an exported one calls by "static NAME", a type by "type NAME", and of a header a typedef by "typedef NAME", a macro
    by "macro NAME", and a function that never returns by "ending NAME", or a pointer to one or the type of such a
    pointer by "ending *NAME". A function in `exports` is listed in `functions` by its key only. `calls` is empty:
    callees are looked up during the analysis. Functions that call one of `names`, those of a project's own taint rules,
    are worth analysing for these, and list them as `marks`. `gaps` are the functions that cannot be analysed, with the
    reasons. `defines` are macros such as `SIZE=8` from the compiler's command line. Raises GivenUp for a file that
    exceeds the limits.
    """
    del test
    if base_language(language) != "c/cpp":
        return None
    if len(content) > LARGEST:
        raise GivenUp(f"it is larger than {LARGEST // 1_000_000} MB")
    text, _ = mask(content, language)
    code, is_in_cpp = c_text(content, language), is_cpp(path)
    selection = FunctionSelection(text, names, cpp=is_in_cpp is not False)
    with room_for_calls():
        made = model(code, text, selection.includes, header=header, language=language, cpp=is_in_cpp, defines=defines)
    functions = made["functions"]
    selection.mark(functions)
    exports = _exports(made, header=header)
    gaps = selection.gaps(functions, made.pop("unread"), made.pop("unsearched"))
    if not exports and not gaps and not any(one["root"] or "marks" in one or "lives" in one for one in functions):
        return None
    shared = {id(one): name for name, one in exports.items()}
    named = [shared.get(id(one), one) for one in functions]
    return {**made, "functions": named, "exports": exports, "gaps": gaps, "calls": [], **selection.members()}


def _exports(made: dict[str, Any], *, header: bool) -> dict[str, Any]:
    """Return the definitions of a file that other files may look up."""
    exports: dict[str, Any] = {one["name"]: one for one in made["functions"] if header or not one["static"]}
    exports |= _statics_behind(exports, made)
    exports.update((f"type {name}", definition) for name, definition in made["types"].items())
    if not header:
        return exports
    exports.update((f"{ENDING}{name}", True) for name in made["ending"])
    exports.update((f"typedef {name}", kind) for name, kind in made["typedefs"].items() if not kind.startswith("fn"))
    plain = {f"macro {name}": definition for name, definition in made["macros"].items() if _is_shared(definition)}
    return exports | plain if len(plain) <= MACROS_MAX else exports


def _statics_behind(exported: dict[str, Any], made: dict[str, Any]) -> dict[str, Any]:
    """Return the functions that exported functions call, directly or through others, and that are not exported.

    One that was not selected has a name only, so that no function of another file is taken for it.
    """
    hidden = {name: {"name": name, "calls": []} for name in made["others"]}
    hidden |= {one["name"]: one for one in made["functions"] if one["static"]}
    behind: dict[str, Any] = {}
    left = list(exported.values())
    while left:
        for name in left.pop()["calls"]:
            if name in hidden and name not in exported:
                behind[STATIC + name] = hidden[name]
                left.append(hidden.pop(name))
    return behind


def is_cpp(path: str) -> bool | None:
    """Return whether a file is C++ by its name; None if that depends on its content."""
    ending = path.removesuffix(".in").rpartition(".")[2]
    if ending in C_SUFFIXES:
        return False
    return True if ending == "C" or ending.lower() in CPP_SUFFIXES else None


def _is_shared(macro: Any) -> bool:
    """Return whether a macro of a header is a constant, an alias of another name, or has parameters."""
    match macro:
        case ["v" | "n" | "f", _] | ["u", _, ["n", _]] | [[*_], _] | ["*", [",", [*_, ["v", _]]]]:
            return True
    return False


def analyze(
    model: dict[str, Any],
    lookup: Lookup,
    *,
    test: bool,
    rules: Sequence[TaintRule] = (),
    models: FunctionModels = NO_MODELS,
) -> FlowResult:
    """Return the defects on paths through the functions of a file, sorted by line and pattern, then those that a
    project's own rules find, and the functions that were not analyzed to their end.

    Lines that were proved harmless follow the defects; their pattern is a name in HARMLESS instead of a rule name.
    """
    return FileAnalysis(model, lookup, test=test, rules=rules, models=models).run()


def flow_fingerprint() -> str:
    """Return 16 hex digits that change whenever the findings of `analyze` may change."""
    import hashlib  # noqa: PLC0415 - slow, and no scanning process needs it

    digest = hashlib.sha256()
    for package, names in DECIDING_FILES.items():
        for name in names:
            digest.update(f"{package}/{name}\0".encode())
            digest.update(pkgutil.get_data(package, name) or b"")
    return digest.hexdigest()[:16]
