"""The rule scanner: find the hits of all rules in one file, independent of engine, line endings and byte-order mark.

A multi-pattern engine finds candidate names; most files have none. Then comments and literals are masked, and each
rule checks its names in context. `problem` states why part of an extremely large file was not checked.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import NamedTuple

from jarvis_workers.sec.evidence import column_of, evidence
from jarvis_workers.sec.rules import RULES, RULES_BY_PATTERN
from jarvis_workers.sec.rules.analysis.aliases import SPELLINGS, aliases, occurrences
from jarvis_workers.sec.rules.analysis.examined import unexamined
from jarvis_workers.sec.rules.analysis.spellings import names_copy, respelled, uncalled
from jarvis_workers.sec.rules.rule import Rule, Site, SourceText
from jarvis_workers.sec.suppressions import MARKS, OWN_MARK, Remark, judge, suppressions
from jarvis_workers.source.calls import is_declaration, is_foreign, opening
from jarvis_workers.source.encoding import BYTE_ORDER_MARKS, HEAD_BYTES, as_utf8
from jarvis_workers.source.grammar_files import base_language
from jarvis_workers.source.lazy_regex import lazy
from jarvis_workers.source.lex import compiler_newlines, mask
from jarvis_workers.source.match import Matcher, Word, build
from jarvis_workers.source.pattern_cache import PatternCache

MATCHES_MAX = 50_000
# Maximum number of sites examined per rule and line; the one with the highest confidence is reported.
SITES_PER_LINE = 16
# Number of bytes after the last matched name that a rule may examine.
LOOK_AHEAD = 8_192
LEAST, MOST = 0.4, 0.95
# Findings in test code are less confident, and of medium severity at most.
TEST_FILE, TEST_MOST = -0.1, 0.79
UNSEEN = (0.0, 0)
LONGEST_NAME = 64

WORD_BYTES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$") | frozenset(range(128, 256))
CALL_FOLLOWS = rb"(?: ?[(/\\]|[\t\r\n]|  )"
# `#define strcpy(a, b)` defines a macro of the name and calls nothing.
DEFINES, DEFINE_MAX = lazy(rb"#[ \t]*+define[ \t]++\Z"), 32
WORD_ENDS = rb"[^0-9A-Za-z_]"


class Hit(NamedTuple):
    """A location flagged by a rule; `suppressed` is the reason in a suppression comment, or the comment itself.

    `column` is counted in characters from 1.
    """

    pattern: str
    line: int
    confidence: float
    evidence: str
    column: int | None = None
    suppressed: str | None = None


class Scan(NamedTuple):
    """The hits of a file, by line and pattern; `problem` states why part of it was not checked."""

    hits: tuple[Hit, ...]
    problem: str | None
    remarks: tuple[Remark, ...] = ()


class Scanner:
    """Scanner for a set of rules, which are compiled per language on first use."""

    def __init__(
        self, engine: str | None = None, rules: Sequence[Rule] = RULES, pattern_cache: PatternCache | None = None
    ) -> None:
        self._engine = engine
        self._pattern_cache = pattern_cache
        self.rules = tuple(rules)
        self._languages: dict[str, _Language] = {}

    def scan(self, content: bytes, *, language: str, header: bool = False, test: bool = False) -> Scan:
        """Return the hits of a file; `language` is one that `language_of` returns."""
        base = base_language(language)
        if base not in self._languages:
            rules = [rule for rule in self.rules if rule.language == base]
            self._languages[base] = _Language(rules, partial(build, engine=self._engine, cache=self._pattern_cache))
        if content[:3] in BYTE_ORDER_MARKS or content[:2] in BYTE_ORDER_MARKS or 0 in content[:HEAD_BYTES]:
            content = as_utf8(content)
        raw, content = content, compiler_newlines(content, language)
        written, others, unseen = content, dict[bytes, bytes](), None
        if base != "rust":
            content, others, unseen = respelled(content, self._languages[base].functions)
        names, named, marks, problem = self._languages[base].names(content, raw, others)
        problem = problem or unseen
        copies = base != "rust" and names_copy(content)
        if not names and not copies and not any(content.startswith(OWN_MARK, at) for at in marks):
            return NOTHING if problem is None else Scan((), problem)
        needed = content if copies else content[: (names[-1][0] if names else 0) + LOOK_AHEAD]
        text, end = mask(needed, language)
        if end < len(needed):
            line = content.count(b"\n", 0, end) + 1
            problem = f"too many comments and literals; checked only as far as line {line}"
        source = SourceText(content, text, language=language, header=header, test=test)
        source.aliases = named
        hits = _hits(source, names, written)
        problem = problem or (uncalled(text, others.values()) if copies else None) or unexamined(source)
        return self._judged(source, hits, marks, problem) if marks else Scan(hits, problem)

    def _judged(self, source: SourceText, hits: tuple[Hit, ...], marks: list[int], problem: str | None) -> Scan:
        comments = suppressions(source.content, source.text, source.language, marks)
        ours = {rule.pattern for rule in self.rules}
        verdicts, remarks = judge([(hit.pattern, hit.line) for hit in hits], comments, {*RULES_BY_PATTERN, *ours}, ours)
        judged = tuple(hit._replace(suppressed=words) for hit, words in zip(hits, verdicts, strict=True))
        return Scan(judged, problem, tuple(remarks) if problem is None else ())


# Start of a match, its name (empty for a shape) or the function that it is an alias of, the rules that match it,
# whether it must be called, and its end.
_Name = tuple[int, bytes, tuple[Rule, ...], bool, int]
_Names = tuple[list[_Name], dict[bytes, bytes], list[int], str | None]


class _Language:
    """Names and shapes that the rules of a language match, and the matchers for them."""

    def __init__(self, rules: Sequence[Rule], build: Callable[[Sequence[bytes | Word]], Matcher]) -> None:
        self._calls, self._words, endings = (_by_name(rules, kind) for kind in ("calls", "words", "tails"))
        bare = [*self._words, *endings]
        self._spelled = _by_spelling(self._calls)
        names = [*self._calls, *self._spelled, *bare]
        self._longest = max(LONGEST_NAME if endings else 0, *map(len, names), 0)
        self._tails = _tails(names)
        self._endings = [[(end, endings[end]) for end in endings if end.endswith(tail)] for tail in self._tails]
        ends_of_bare = {name[at:] for name in bare for at in range(len(name))}
        follows = [WORD_ENDS if tail in ends_of_bare else CALL_FOLLOWS for tail in self._tails]
        patterns = [Word(tail, after) for tail, after in zip(self._tails, follows, strict=True)]
        self._matcher = build([*patterns, *MARKS]) if rules else None
        self._shapes = [(rule,) for rule in rules for _ in rule.shapes]
        # A separate pass: within one pass, no two patterns may match overlapping text.
        shapes = [shape.encode() for rule in rules for shape in rule.shapes]
        self._shaped = build(shapes) if shapes else None
        self._placed = [rule for rule in rules if rule.places]

    @property
    def functions(self) -> Collection[bytes]:
        """The functions whose calls rules match."""
        return self._calls.keys()

    def names(self, content: bytes, raw: bytes, others: Mapping[bytes, bytes]) -> _Names:
        """Return the matched names and shapes, aliases, and offsets of possible suppressions, sorted by offset.

        `raw` is the content before its newlines were normalized, `others` are aliases that are no macros.
        """
        matches = self._matcher.find(content, MATCHES_MAX + 1) if self._matcher else []
        shapes = self._shaped.find(content, MATCHES_MAX + 1) if self._shaped else []
        problem = None
        if len(matches) > MATCHES_MAX or len(shapes) > MATCHES_MAX:
            end = min(result.pop()[1] for result in (matches, shapes) if len(result) > MATCHES_MAX)
            line = content.count(b"\n", 0, end) + 1
            problem = f"more than {MATCHES_MAX} possible matches; checked only as far as line {line}"
            matches, shapes = ([one for one in result if one[1] < end] for result in (matches, shapes))
        marks = [at for index, at in matches if index >= len(self._tails)]
        result = [name for index, at in matches if index < len(self._tails) for name in self._name(content, index, at)]
        for index, at in shapes:
            if rules := _interested(self._shapes[index], b"", content, at):
                result.append((at, b"", rules, False, at))
        placed = [(at, b"", (rule,), False, at) for rule in self._placed if rule.places for at in rule.places(raw)]
        result += placed
        named = {**others, **aliases(content, result, self._calls)}
        places = occurrences(content, named, MATCHES_MAX + 1) if named else []
        if len(places) > MATCHES_MAX:
            problem = problem or f"more than {MATCHES_MAX} calls through macro names; checked only the first of them"
        result += [(start, name, self._calls[name], True, end) for start, name, end in places[:MATCHES_MAX]]
        return sorted(result, key=itemgetter(0)) if shapes or named or placed else result, named, marks, problem

    def _name(self, content: bytes, index: int, at: int) -> Iterator[_Name]:
        """Yield the name at an offset, twice if some rules match its calls and others match it anywhere."""
        end = at + len(self._tails[index])
        start = at
        floor = max(0, end - self._longest - 1)
        while start > floor and content[start - 1] in WORD_BYTES:
            start -= 1
        name = content[start:end]
        if rules := _interested(self._calls.get(name, ()), name, content, end):
            yield start, name, rules, True, end
        if name in self._spelled:
            yield start, SPELLINGS[name], self._spelled[name], True, end
        matches = self._words.get(name, ())
        for ending, rules in self._endings[index]:
            matches += rules if name.endswith(ending) else ()
        if rules := _interested(matches, name, content, end):
            yield start, name, rules, False, end


def _interested(rules: tuple[Rule, ...], name: bytes, content: bytes, end: int) -> tuple[Rule, ...]:
    if not rules:
        return ()
    return tuple(rule for rule in rules if rule.dismisses is None or not rule.dismisses(name, content, end))


NOTHING = Scan((), None)


def source_text(content: bytes, language: str) -> bytes:
    """Return the text whose lines are counted and displayed: UTF-8, with newlines normalized as compilers do."""
    return compiler_newlines(as_utf8(content), language)


def _by_name(rules: Iterable[Rule], kind: str) -> dict[bytes, tuple[Rule, ...]]:
    table: dict[bytes, tuple[Rule, ...]] = {}
    for rule in rules:
        for name in sorted(getattr(rule, kind)):
            table[name.encode()] = (*table.get(name.encode(), ()), rule)
    return table


def _by_spelling(calls: Mapping[bytes, tuple[Rule, ...]]) -> dict[bytes, tuple[Rule, ...]]:
    """Return, by alternative spelling, the rules that match the function but not that spelling."""
    rules_by_spelling = {
        spelling: tuple(rule for rule in calls.get(name, ()) if rule not in calls.get(spelling, ()))
        for spelling, name in SPELLINGS.items()
    }
    return {spelling: rules for spelling, rules in rules_by_spelling.items() if rules}


def _tails(names: Iterable[bytes]) -> list[bytes]:
    """Omit names that end with another name: `printf` also finds `vsnprintf`, whose prefix is read afterwards."""
    tails = dict.fromkeys(names)
    return [name for name in tails if not any(name[at:] in tails for at in range(1, len(name)))]


def _hits(source: SourceText, names: Iterable[_Name], written: bytes) -> tuple[Hit, ...]:
    """Return the hits of a file; their evidence is what is written there."""
    text, content = source.text, source.content
    best: dict[tuple[int, str], tuple[float, int]] = {}
    looked: dict[str, int] = {}
    line_end = -1
    for match in names:
        start = match[0]
        if text[start] != content[start] and not match[2][0].places:
            continue
        if start > line_end:
            line_end = content.find(b"\n", start)
            line_end = line_end if line_end >= 0 else len(content)
            looked = {}
        site = _site(source, match)
        for rule in match[2]:
            pattern = rule.pattern
            times = looked[pattern] = looked.get(pattern, 0) + 1
            moved = rule.check(site) if rule.check and site and times <= SITES_PER_LINE else None
            confidence = _confidence(rule, moved, source) if moved is not None else 0.0
            if confidence > best.get((line_end, pattern), UNSEEN)[0]:
                best[line_end, pattern] = confidence, start
    return tuple(_numbered(content, best, written))


def _numbered(content: bytes, best: Mapping[tuple[int, str], tuple[float, int]], written: bytes) -> Iterator[Hit]:
    """Yield the site with the highest confidence for each rule and line; the offset of its end identifies a line."""
    line, counted = 1, 0
    lines = [] if written is content else written.split(b"\n")
    for (line_end, pattern), (confidence, start) in sorted(best.items()):
        line += content.count(b"\n", counted, line_end)
        counted = line_end
        shown = evidence(lines[line - 1], 0) if lines else evidence(content, start)
        yield Hit(pattern, line, confidence, shown, column_of(content, start))


def _site(source: SourceText, matches: _Name) -> Site | None:
    """Return the site to check, or None for a declaration or an unrelated function of the same name."""
    start, name, rules, called, end = matches
    if not called:
        return Site(source, name, start, end)
    at = opening(source.text, end)
    if at is None or (rules[0].language == "c/cpp" and _is_no_call(source, start, at)):
        return None
    return Site(source, name, start, at)


def _confidence(rule: Rule, moved: float, source: SourceText) -> float:
    sure = rule.confidence + moved
    return round(max(LEAST, min(TEST_MOST, sure + TEST_FILE) if source.test else min(MOST, sure)), 2)


def _is_no_call(source: SourceText, start: int, at: int) -> bool:
    if DEFINES.search(source.text, max(0, start - DEFINE_MAX), start):
        return True
    return is_foreign(source.text, start) or is_declaration(source.text, start, at, header=source.header)
