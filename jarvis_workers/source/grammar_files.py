"""The C code in lex and yacc files (flex, bison), and the actions of their rules.

`c_text` blanks what is not C and keeps every line and column, so that all that reads C reads the rest as it is.  Three
things are not blanked, but replaced: `%%` becomes SECTION, `%destructor` before its action ACTION_MARK, and a value
such as `$1` or `$<text>$` a name (`y1`, `y_text_y`).  Each action is a function of its own, ACTION_NAME: the code
between two actions is a grammar, and no statement of one action runs after those of the one above it.
"""

import re
from collections.abc import Iterator

from jarvis_workers.source.c_tokens import BLANK, C_TOKEN
from jarvis_workers.source.lazy_regex import lazy

GRAMMARS = ("lex", "yacc")
# Neither occurs in C.  Both end with a semicolon, which ends whatever declaration stands before them.
SECTION, ACTION_MARK = b"%;", b"%:;"
# Prefix `yy` is reserved for the generated parser.
ACTION_NAME = b"yyaction"

FLAGS = re.VERBOSE | re.DOTALL | re.MULTILINE
NAMES = rb"|(?P<section>^%%)|(?P<block>%\{)|(?P<directive>%[A-Za-z][\w-]*+)|(?P<open>\{)"
YACC_TOKEN = lazy(C_TOKEN.pattern + NAMES, FLAGS)
BRACE = lazy(C_TOKEN.pattern + rb"|(?P<open>\{)|(?P<close>\})", FLAGS)
BRACE_OR_LINE = lazy(C_TOKEN.pattern + rb"|(?P<open>\{)|(?P<close>\})|(?P<line>\n)", FLAGS)
BLOCK_END = lazy(C_TOKEN.pattern + rb"|(?P<close>%\})", FLAGS)
# `$$`, `$1`, `$-1`, `$name`, `$[name]`, each with an optional `<type>`, and `@` likewise.
VALUE = rb"|(?P<value>[$@](?>\[\w++\]|(?><[^<>\n;]{1,80}>)?+(?>\$|-?\d++|[A-Za-z_]\w*+|\[\w++\])))"
VALUES = lazy(C_TOKEN.pattern + VALUE, FLAGS)
# With letters in lower case, because a name without them is taken for a constant.
AS_NAME = bytes.maketrans(b"$@<>[]-.: *", b"yl_________")
TOP_LEVEL_CODE, ACTION_CODE = (b"%code",), (b"%destructor", b"%printer", b"%initial-action")

LINE = lazy(rb"[^\n]*+\n?+")
COMMENT = lazy(rb"[ \t]*+(?=/[/*])")
INDENTED = lazy(rb"[ \t]++(?=[^\s])")
TOP_BLOCK = lazy(rb"%top[ \t]*+\{")
SCOPE = lazy(rb"[ \t]*+<[^<>\n]*+>[ \t]*+\{[ \t\r]*+(?:/[/*][^\n]*+)?(?:\n|\Z)")
SCOPE_END = lazy(rb"[ \t]*+\}")
# Up to the first white space outside of quotes and brackets; if one is not closed, up to the end of the line.
PATTERN = lazy(
    rb"""(?> \\[^\n] | "(?>\\[^\n]|[^"\\\n])*+" | [^\s"\\\[]
        | \[\^?+(?>\[:\^?\w++:\]|\\[^\n]|[^\\\n])(?>\[:\^?\w++:\]|\\[^\n]|[^\]\\\n])*+\]
        | ["\[][^\n]*+ | \\ )*+""",
    re.VERBOSE,
)
BLANKS = lazy(rb"[ \t]*+")
# The action of the next rule.
SAME = lazy(rb"\|(?=[\s/])")

SECTION_LINE = lazy(rb"(?m)^%;")
MARKED_ACTION = lazy(rb"%:;\s*+\{")
PLAIN_BRACE, PLAIN_BRACE_OR_LINE = lazy(rb"[{}]"), lazy(rb"[{}\n]")
NOT_BLANK = lazy(rb"\S")

# The span of an action's code, which in lex may have no braces around it.
Action = tuple[int, int]


def base_language(language: str) -> str:
    """Return the language of the code in a file: "c/cpp" for "lex" and "yacc"."""
    return "c/cpp" if language in GRAMMARS else language


def c_text(content: bytes, language: str) -> bytes:
    """Return "lex" or "yacc" text with all but its C code and comments blanked; other text unchanged."""
    if language not in GRAMMARS:
        return content
    code = _Code(content)
    (_Lex(code) if language == "lex" else _Yacc(code)).read()
    return bytes(code.text)


class _Code:
    """The text that is made: blank, with the parts that were kept."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.text = bytearray(content.translate(BLANK))

    def keep(self, start: int, end: int) -> None:
        self.text[start:end] = self.content[start:end]

    def replace(self, start: int, new: bytes) -> None:
        self.text[start : start + len(new)] = new

    def action(self, start: int, end: int) -> None:
        """Keep an action, with its semantic values as names."""
        part = self.content[start:end]
        self.text[start:end] = VALUES.sub(_named, part) if b"$" in part or b"@" in part else part

    def block(self, start: int, *, in_braces: bool) -> int:
        """Keep the code in `%{ ... %}`, which begins at `start`; return its end."""
        close = _first(BLOCK_END, self.content, start + 2)
        end = close.end() if close else len(self.content)
        self.keep(start + 2, close.start() if close else end)
        if in_braces:
            self.replace(start, b" {")
            self.replace(end - 2, b"} " if close else b"")
        return end


def _named(token: re.Match[bytes]) -> bytes:
    return token[0].translate(AS_NAME) if token.lastgroup == "value" else token[0]


def _first(pattern: re.Pattern[bytes], content: bytes, at: int) -> re.Match[bytes] | None:
    """Return the first match that is no comment and no literal."""
    return next((one for one in pattern.finditer(content, at) if one.lastgroup == "close"), None)


def _block_end(content: bytes, start: int) -> int:
    """Return the end of the block whose `{` is at an offset."""
    depth = 0
    for token in BRACE.finditer(content, start):
        depth += {"open": 1, "close": -1}.get(token.lastgroup or "", 0)
        if token.lastgroup == "close" and depth == 0:
            return token.end()
    return len(content)


def _line_end(content: bytes, start: int) -> int:
    """Return the end of the first line, or of one after it, outside of braces, comments and literals."""
    depth = 0
    for token in BRACE_OR_LINE.finditer(content, start):
        depth += {"open": 1, "close": -1}.get(token.lastgroup or "", 0)
        if token.lastgroup == "line" and depth <= 0:
            return token.end()
    return len(content)


class _Yacc:
    """Reads declarations, rules and the code behind them, token by token."""

    def __init__(self, code: _Code) -> None:
        self._code = code
        self._sections = 0
        self._directive = (b"", 0)

    def read(self) -> None:
        content, at = self._code.content, 0
        while self._sections < 2 and (token := YACC_TOKEN.search(content, at)):
            at = self._token(token)
        if self._sections == 2:
            self._code.keep(at, len(content))

    def _token(self, token: re.Match[bytes]) -> int:
        """Return where the next token may begin."""
        start, end = token.span()
        match token.lastgroup:
            case "section":
                self._sections += 1
                self._code.replace(start, SECTION)
            case "block":
                return self._code.block(start, in_braces=self._sections == 1)
            case "directive":
                self._directive = token[0], start
            case "open":
                return self._braces(start)
            case _ if token[0].startswith(b"/"):
                self._code.keep(start, end)
        return end

    def _braces(self, start: int) -> int:
        end = _block_end(self._code.content, start)
        word, at = self._directive
        if self._sections == 1:
            self._code.action(start, end)
        elif word in ACTION_CODE:
            self._code.replace(at, ACTION_MARK)
            self._code.action(start, end)
        elif word == b"%union":
            self._code.replace(at, b" union")
            self._code.keep(start, end)
        elif word in TOP_LEVEL_CODE:
            self._code.keep(start + 1, end - 1)
        return end


class _Lex:
    """Reads definitions, rules and the code behind them, line by line."""

    def __init__(self, code: _Code) -> None:
        self._code = code
        self._sections = 0
        self._scopes = 0

    def read(self) -> None:
        content, at = self._code.content, 0
        while self._sections < 2 and at < len(content):
            at = self._line(at)
        if self._sections == 2:
            self._code.keep(at, len(content))

    def _line(self, at: int) -> int:
        """Read what begins in the line at an offset; return its end."""
        content = self._code.content
        if content.startswith(b"%%", at):
            self._sections += 1
            self._code.replace(at, SECTION)
        elif content.startswith(b"%{", at):
            return self._code.block(at, in_braces=self._sections == 1)
        elif comment := COMMENT.match(content, at):
            token = C_TOKEN.match(content, comment.end())
            end = token.end() if token else _next_line(content, at)
            self._code.keep(comment.end(), end)
            return end
        elif (indented := INDENTED.match(content, at)) and not self._scopes:
            return self._verbatim(indented.end())
        elif self._sections == 1:
            return self._rule(at)
        elif top := TOP_BLOCK.match(content, at):
            end = _block_end(content, top.end() - 1)
            self._code.keep(top.end(), end - 1)
            return end
        return _next_line(content, at)

    def _verbatim(self, start: int) -> int:
        """Keep an indented line, and the lines that its braces open; in the rules it is a part of the scanner."""
        end = _line_end(self._code.content, start)
        self._code.keep(start, end)
        return end

    def _rule(self, at: int) -> int:
        content = self._code.content
        if scope := SCOPE.match(content, at):
            self._scopes += 1
            return scope.end()
        if self._scopes and SCOPE_END.match(content, at):
            self._scopes -= 1
            return _next_line(content, at)
        pattern = PATTERN.match(content, _after(BLANKS, content, at))
        start = _after(BLANKS, content, pattern.end() if pattern else at)
        if content.startswith(b"%{", start):
            return self._code.block(start, in_braces=True)
        start = _after(SAME, content, start)
        end = _line_end(content, start)
        self._code.action(start, end)
        return end


def _after(pattern: re.Pattern[bytes], content: bytes, at: int) -> int:
    match = pattern.match(content, at)
    return match.end() if match else at


def _next_line(content: bytes, at: int) -> int:
    return max(_after(LINE, content, at), at + 1)


def actions(text: bytes, language: str) -> tuple[list[Action], bytes]:
    """Return the actions in masked text of "lex" or "yacc", in order, and the text without them and without rules."""
    marks = [one.start() for one in SECTION_LINE.finditer(text)][:2]
    first = marks[0] if marks else len(text)
    last = marks[1] if len(marks) > 1 else len(text)
    before = [_braced(text, one.end() - 1) for one in MARKED_ACTION.finditer(text, 0, first)]
    rules = _lines_of_code if language == "lex" else _blocks
    within = list(rules(text, first + len(SECTION), last))
    rest = bytearray(text)
    for start, end in (*before, (first, last)):
        rest[start:end] = text[start:end].translate(BLANK)
    return [*before, *within], bytes(rest)


def body_of(text: bytes, action: Action) -> Action:
    """Return the span within the braces of an action, or all of it."""
    start, end = action
    is_block = text[start] == ord("{") and _braced(text, start) == action
    return (start + 1, end - (text[end - 1] == ord("}"))) if is_block else action


def _braced(text: bytes, start: int) -> Action:
    depth = 0
    for brace in PLAIN_BRACE.finditer(text, start):
        depth += 1 if brace[0] == b"{" else -1
        if depth == 0:
            return start, brace.end()
    return start, len(text)


def _blocks(text: bytes, at: int, last: int) -> Iterator[Action]:
    while (start := text.find(b"{", at, last)) >= 0:
        _, at = action = _braced(text, start)
        yield action


def _lines_of_code(text: bytes, at: int, last: int) -> Iterator[Action]:
    """Yield each block, or each line outside of braces; a block and what follows it on its line are one action."""
    while first := NOT_BLANK.search(text, at, last):
        start = first.start()
        depth, at = 0, last
        for mark in PLAIN_BRACE_OR_LINE.finditer(text, start, last):
            depth += {b"{": 1, b"}": -1}.get(mark[0], 0)
            if mark[0] == b"\n" and depth <= 0:
                at = mark.end()
                break
        yield start, start + len(text[start:at].rstrip())
