"""What a file is by its path: its language, whether it is a header, whether it is test code."""

from collections.abc import Mapping

from jarvis_workers.source.lazy_regex import lazy

EXTENSIONS: Mapping[bytes, str] = {
    **dict.fromkeys(b"c cpp h hpp cc cxx c++ cp C hh hxx inl ipp tpp tcc txx icc".split(), "c/cpp"),
    # Modules of C++, Objective-C++, CUDA, Arduino.
    **dict.fromkeys(b"cppm ixx mm cu cuh ino".split(), "c/cpp"),
    **dict.fromkeys((b"l", b"ll"), "lex"),
    **dict.fromkeys((b"y", b"yy"), "yacc"),
    b"rs": "rust",
}
HEADERS = frozenset(b"h hpp hh hxx inl ipp tpp tcc txx icc cuh".split())
TESTS = lazy(
    rb"(?:^|/)(?:tests?|testing|testsuite|unittests?|benches|benchmarks?|examples?|samples?|demos?|docs?|documentation"
    rb"|t|regress(?:ion)?s?|fuzz(?:ing|ers?)?(?:[-_][^/]*)?|mocks?)/"
    rb"|(?:^|/)(?:(?:test|fuzz)[_-][^/]*|[^/]*[_-](?:test|tests|unittest|fuzz|fuzzer)|tests?)\.[^./]+\Z"
)


def language_of(name: bytes, extensions: Mapping[bytes, str] | None = None) -> str | None:
    """Return "c/cpp", "lex", "yacc" or "rust" by the suffix (without its dot, as in EXTENSIONS), or None."""
    suffixes = EXTENSIONS if extensions is None else extensions
    suffix = _suffix(name)
    return suffixes.get(suffix) or suffixes.get(suffix.lower())


def is_header(name: bytes) -> bool:
    return _suffix(name).lower() in HEADERS


def is_test(path: bytes) -> bool:
    """Return whether a path is test code, by its directory or file name."""
    return TESTS.search(path) is not None


def _suffix(name: bytes) -> bytes:
    stem, _, suffix = name.rpartition(b"/")[2].rpartition(b".")
    return suffix if stem else b""
