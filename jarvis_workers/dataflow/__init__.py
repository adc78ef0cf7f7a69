"""Path-sensitive, interprocedural data-flow analysis of C and C++ (symbolic execution).

`summarize` lowers the functions of a file that are worth analysing and lists its exports. `analyze` symbolically
executes these functions, follows calls into their callees, and looks up the exports of other files by name. Both are
pure functions; a summary is JSON.
"""

import pkgutil
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from jarvis_workers.dataflow.context import AnalysisContext
from jarvis_workers.dataflow.definitions import ENDING, STATIC, Lookup
from jarvis_workers.dataflow.frontend import __path__ as syntax_path
from jarvis_workers.dataflow.frontend import model
from jarvis_workers.dataflow.function_analysis import follow
from jarvis_workers.dataflow.ir import __path__ as ir_path
from jarvis_workers.dataflow.shared_sinks import merged
from jarvis_workers.dataflow.taint_rules import TaintRule, names_called, root_functions, words_for
from jarvis_workers.dataflow.triggers import LONGEST, is_helper, is_root, reads_counted_buffer
from jarvis_workers.errors import GivenUp
from jarvis_workers.source.functions import Function
from jarvis_workers.source.lex import mask

__all__ = ["FlowHit", "Lookup", "analyze", "flow_fingerprint", "summarize"]

# Findings in test code are less confident, and of medium severity at most.
TEST_FILE, TEST_MOST = -0.1, 0.79
LEAST = 0.4
# A header with more constants lists registers: no condition depends on them, but they would fill the symbol index.
MACROS_MAX = 2_000
NO_NAMES = frozenset[bytes]()
LARGEST = 32_000_000


def _modules(package: str, path: list[str]) -> tuple[str, ...]:
    """Return the file names of a package's modules."""
    return ("__init__.py", *sorted(f"{one.name}.py" for one in pkgutil.iter_modules(path) if not one.ispkg))


# The findings of a scan depend on the source code of these modules only.
DECIDING_FILES = {
    "jarvis_workers.dataflow": _modules("jarvis_workers.dataflow", __path__),
    "jarvis_workers.dataflow.library": _modules("jarvis_workers.dataflow.library", [f"{__path__[0]}/library"]),
    "jarvis_workers.source": ("call_patterns.py", "functions.py", "lex.py"),
    "jarvis_workers.dataflow.frontend": _modules("jarvis_workers.dataflow.frontend", syntax_path),
    "jarvis_workers.dataflow.ir": _modules("jarvis_workers.dataflow.ir", ir_path),
}


class FlowHit(NamedTuple):
    """A defect on a path; each step of its trace is (file, line, event), with None as the analyzed file."""

    pattern: str
    line: int
    confidence: float
    evidence: str
    steps: tuple[tuple[str | None, int, str], ...]


class FunctionSelection:
    """Selects the functions of a file that are worth lowering, by their masked text."""

    def __init__(self, text: bytes, names: frozenset[bytes]) -> None:
        self._text = text
        self._words = words_for(text, names)
        # By the offsets of bodies: the roots, and the names of a project's own rules that functions call.
        self._roots: set[int] = set()
        self._marks: dict[int, list[str]] = {}

    def includes(self, function: Function, body: bytes) -> bool:
        called = names_called(body, self._words) if self._words and len(body) <= LONGEST else []
        if called:
            self._marks[function.body[0]] = called
        if is_root(body) or reads_counted_buffer(self._text[function.start : function.body[0]], body):
            self._roots.add(function.body[0])
            return True
        return bool(called) or is_helper(body)

    def mark(self, functions: list[dict[str, Any]]) -> None:
        """Set "root" of each lowered function, and "marks" of those that call names of a project's own rules."""
        starts = sorted(self._roots | self._marks.keys())
        lines, line, at = [], 1, 0
        for start in starts:
            line, at = line + self._text.count(b"\n", at, start), start
            lines.append(line)
        for function in functions:
            place = bisect_left(lines, function["line"])
            is_listed = place < len(lines) and lines[place] <= function["end"]
            function["root"] = is_listed and starts[place] in self._roots
            if is_listed and starts[place] in self._marks:
                function["marks"] = self._marks[starts[place]]


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
    are worth analysing for these, and list them as `marks`. `defines` are macros such as `SIZE=8` from the compiler's
    command line. Raises GivenUp for a file that exceeds the limits.
    """
    del test
    if language != "c/cpp":
        return None
    if len(content) > LARGEST:
        raise GivenUp(f"it is larger than {LARGEST // 1_000_000} MB")
    text, _ = mask(content, language)
    selection = FunctionSelection(text, names)
    made = model(content, text, language, selection.includes, header=header, cpp=is_cpp(path), defines=defines)
    functions = made["functions"]
    selection.mark(functions)
    exports = _exports(made, header=header)
    if not exports and not any(one["root"] or "marks" in one for one in functions):
        return None
    shared = {id(one): name for name, one in exports.items()}
    named = [shared.get(id(one), one) for one in functions]
    return {**made, "functions": named, "exports": exports, "calls": []}


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
    ending = path.rpartition(".")[2]
    return False if ending == "c" else None if ending in ("h", "inl") else True


def _is_shared(macro: Any) -> bool:
    """Return whether a macro of a header is a constant, an alias of another name, or has parameters."""
    match macro:
        case ["v" | "n" | "f", _] | ["u", _, ["n", _]] | [[*_], _] | ["*", [",", [*_, ["v", _]]]]:
            return True
    return False


def analyze(
    model: dict[str, Any], lookup: Lookup, *, test: bool, rules: Sequence[TaintRule] = ()
) -> tuple[list[FlowHit], str | None]:
    """Return the defects on paths through the functions of a file, sorted by line and pattern, then those that a
    project's own rules find.

    Lines that were proved harmless follow; their pattern is a name in HARMLESS instead of a rule name.
    """
    exports = model["exports"]
    functions = [exports[one] if isinstance(one, str) else one for one in model["functions"]]
    whole = {**model, "functions": functions}
    hits: list[FlowHit] = []
    proofs: list[FlowHit] = []
    for rule in (None, *(rule for rule in rules if rule.in_tests or not test)):
        roots = root_functions(rule, functions) if rule is not None else [one for one in functions if one["root"]]
        if roots:
            machine = AnalysisContext(whole, lookup, rule)
            for function in roots:
                follow(machine, machine.own(function))
            hits += _hits(machine, test=test)
            proofs += _proofs(machine) if rule is None else ()
    return hits + proofs, None


def _hits(machine: AnalysisContext, *, test: bool) -> Iterator[FlowHit]:
    for (pattern, line), (confidence, steps) in merged(machine.findings):
        sure = min(TEST_MOST, confidence + TEST_FILE) if test else confidence
        yield FlowHit(pattern, line, round(max(LEAST, sure), 2), "", tuple(steps))


def _proofs(machine: AnalysisContext) -> Iterator[FlowHit]:
    for (what, line), holds in sorted(machine.proved.items()):
        if holds:
            yield FlowHit(what, line, 1.0, "", ())


def flow_fingerprint() -> str:
    """Return 16 hex digits that change whenever the findings of `analyze` may change."""
    import hashlib  # noqa: PLC0415 - slow, and no scanning process needs it

    digest = hashlib.sha256()
    for package, names in DECIDING_FILES.items():
        for name in names:
            digest.update(f"{package}/{name}\0".encode())
            digest.update(pkgutil.get_data(package, name) or b"")
    return digest.hexdigest()[:16]
