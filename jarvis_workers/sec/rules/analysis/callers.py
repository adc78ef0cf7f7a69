"""Calls of the function around a site in its own file, and the arguments that they pass."""

from collections.abc import Callable, Iterator
from typing import TypeVar

from jarvis_workers.sec.rules.analysis.declarations import GLOBALS_MAX, Scope
from jarvis_workers.sec.rules.rule import Site
from jarvis_workers.source.lazy_regex import lazy

T = TypeVar("T")
SEARCHED_MAX = 1_000
LEFT = 128
# The parameters of a parameter that is a function pointer.
NESTED = lazy(rb"\([^()]*\)")
PARAMETER = lazy(rb"([A-Za-z_]\w*+)\s*+(?>\[[^][]*+\]\s*+)*+\Z")


def arguments_of_callers(scope: Scope, name: bytes) -> Iterator[tuple[Site, bytes]]:
    """Yield each call of the function in this file, with its masked argument for the parameter `name`."""
    function = scope.site.function
    if function is None or scope.depth or not _may_search(scope):
        return
    named = parameters(scope.text[slice(*function.parameters)])
    index = named.index(name) if name in named else len(named)
    for at in once_per_function(scope, "calls", b"", lambda: _calls(scope, function.name)):
        caller = scope.site.source.functions.at(at)
        if caller is not None and caller != function:
            site = Site(scope.site.source, function.name, at, at + len(function.name))
            yield site, site.masked(index)


def parameters(text: bytes) -> list[bytes]:
    """Return the names of parameters, given the text between their parentheses; empty for what has no name."""
    plain = NESTED.sub(b"", text)
    return [match[1] if (match := PARAMETER.search(one)) else b"" for one in plain.split(b",")]


def has_all_callers_here(scope: Scope) -> bool:
    """Return whether a static function is used only in calls, and in few enough to examine all of them."""
    function = scope.site.function
    if function is None or b"static" not in scope.text[max(0, function.start - LEFT) : function.start]:
        return False
    return _may_search(scope) and once_per_function(
        scope, "is only called", b"", lambda: _is_only_called(scope.text, function.name)
    )


def once_per_function(scope: Scope, what: str, name: bytes, compute: Callable[[], T]) -> T:
    """Return a fact about the function, computed once for all its sites; `what` names the cache."""
    if scope.depth:
        return compute()
    cache: dict[tuple[int, bytes], T] = scope.site.source.once(what, dict)
    key = (scope.start, name)
    if key not in cache:
        cache[key] = compute()
    return cache[key]


def _calls(scope: Scope, name: bytes) -> list[int]:
    return list(scope.occurrences(name + b"(", len(scope.text)))


def _may_search(scope: Scope) -> bool:
    """Return whether the whole text may be searched for another function; the number per file is limited."""
    searched: set[int] = scope.site.source.once("callers searched", set)
    if len(searched) < SEARCHED_MAX:
        searched.add(scope.start)
    return scope.start in searched


def _is_only_called(text: bytes, name: bytes) -> bool:
    calls = text.count(name + b"(")
    return calls < GLOBALS_MAX and calls == text.count(name)
