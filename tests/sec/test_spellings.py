"""A call that is spelled in another way is the same call to a compiler: ways to hide one strcpy in a file."""

import pytest

from jarvis_workers.sec.rules.analysis.spellings import respelled
from jarvis_workers.sec.scanner import Scanner

SCANNER = Scanner()
CALL = "strcpy(b, s)"
PROTOTYPE = "char *copy(char *, const char *)"
SPELLINGS = {
    "brackets": ("", "(strcpy)(b, s)"),
    "a pointer to it": ("", "(*strcpy)(b, s)"),
    "its address": ("", "(&strcpy)(b, s)"),
    "more brackets": ("", "((strcpy))(b, s)"),
    "blanks": ("", "( strcpy )\n(b, s)"),
    "one of two": ("", "(s ? strcpy : strcpy)(b, s)"),
    "a comma": ("", "(0, strcpy)(b, s)"),
    "a cast": ("", "((char *(*)(char *, const char *))strcpy)(b, s)"),
    "a selection": ("", "_Generic(b, char *: strcpy)(b, s)"),
    "a statement": ("", "({ strcpy; })(b, s)"),
    "a builtin": ("", "__builtin_strcpy(b, s)"),
    "a checked builtin": ("", "__builtin___strcpy_chk(b, s, -1)"),
    "a checked function": ("", "__strcpy_chk(b, s, sizeof(s))"),
    "a pasted name": ("#define X(a, c) a##c", "X(str, cpy)(b, s)"),
    "a pasted ending": ("#define CPY(a) a ## cpy", "CPY(str)(b, s)"),
    "a macro": ("#define COPY strcpy", "COPY(b, s)"),
    "a macro with arguments": ("#define COPY(a, c) strcpy(a, c)", "COPY(b, s)"),
    "a label": (f'{PROTOTYPE} __asm__("strcpy");', "copy(b, s)"),
    "a weak reference": (f'static {PROTOTYPE} __attribute__((weakref("strcpy")));', "copy(b, s)"),
    "a pointer": ("static char *(*copy)(char *, const char *) = strcpy;", "copy(b, s)"),
    "an address in a pointer": ("static char *(*const copy)(char *, const char *) = &strcpy;", "copy(b, s)"),
    "a deduced pointer": ("auto copy = strcpy;", "copy(b, s)"),
    "a splice": ("", "str\\\ncpy(b, s)"),
    "a splice with blanks": ("", "str\\  \ncpy(b, s)"),
    "several splices": ("", "s\\\nt\\\nr\\\ncpy(b, s)"),
    "a trigraph": ("", "str??/\ncpy(b, s)"),
    "a character by its number": ("", "str\\u0063py(b, s)"),
    "a long number": ("", "\\U00000073trcpy(b, s)"),
    "a namespace": ("", "std::strcpy(b, s)"),
    "digraphs": ("", "char c<:8:>; strcpy(c, s)"),
}


def program(head: str, call: str) -> str:
    return f"{head}\nint f(const char *s)\n{{\n    char b[8];\n    {call};\n    return b[0];\n}}\n"


def lines_of(code: str) -> set[int]:
    scan = SCANNER.scan(code.encode(), language="c/cpp")
    assert scan.problem is None
    return {hit.line for hit in scan.hits if hit.pattern == "unsafe_api"}


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_call_is_found_however_it_is_spelled(name: str) -> None:
    head, call = SPELLINGS[name]

    assert lines_of(program(head, call)) - {1} == {5}


def test_what_is_written_is_the_evidence() -> None:
    (hit,) = SCANNER.scan(program("", "(strcpy)(b, s)").encode(), language="c/cpp").hits

    assert hit.evidence == "(strcpy)(b, s);"


@pytest.mark.parametrize(
    "call", ['__asm__ volatile ("call strcpy" :: "D"(b), "S"(s))', '((T)dlsym(RTLD_DEFAULT, "strcpy"))(b, s)']
)
def test_a_call_that_no_text_shows_is_not_checked(call: str) -> None:
    scan = SCANNER.scan(program("", call).encode(), language="c/cpp")

    assert scan.problem == "strcpy is called by assembler or by its name as a text (line 5)"


@pytest.mark.parametrize(
    ("head", "call"),
    [
        ("", "(strcpy/**/)(b, s)"),
        ("", "(" * 12 + "strcpy" + ")" * 12 + "(b, s)"),
        ("", "char *(*p)(char *, const char *) = strcpy; p(b, s)"),
        ("", "char *(*p)(char *, const char *); p = strcpy; p(b, s)"),
        ("", "__typeof__(strcpy) *p = strcpy; p(b, s)"),
        ("", "[] { return strcpy; }()(b, s)"),
        ('extern __typeof__(strcpy) my __asm__("str" "cpy");', "my(b, s)"),
    ],
)
def test_a_use_that_no_rule_follows_is_not_checked(head: str, call: str) -> None:
    scan = SCANNER.scan(program(head, call).encode(), language="c/cpp")

    assert scan.problem == f"strcpy is used without a call that rules follow (line {1 if head else 5})"


def test_a_condition_and_the_size_of_an_object_stay() -> None:
    assert lines_of(program("", "if (gets) (f)(b, s)")) == set()
    code = program("", "__builtin___strcpy_chk(b, s, __builtin_object_size(b, 0)); puts(b)").encode()
    assert b"strcpy(b, s                             );" in respelled(code, {b"strcpy"}).content


@pytest.mark.parametrize(
    "line",
    [
        "size_t n = (size_t)(s - b)",
        "void *p = (void *)(b)",
        "(other)(b, s)",
        "return (strcmp)(b, s)",
        "char *t = str\\\nother(b)",
        "/* call strcpy */",
    ],
)
def test_other_code_stays_as_it_is(line: str) -> None:
    assert lines_of(program("", line)) == set()


@pytest.mark.parametrize("name", SPELLINGS)
def test_places_stay(name: str) -> None:
    code = program(*SPELLINGS[name]).encode()
    content = respelled(code, {b"strcpy"}).content

    assert len(content) == len(code)
    assert content.count(b"\n") == code.count(b"\n")


def test_many_brackets_take_little_time() -> None:
    texts = ["(" * 50_000 + "strcpy" + ")" * 50_000 + "(b, s)", "(strcpy)" * 50_000, "a)(" * 100_000]
    texts += ["#define a(b) a##b\n" * 10_000, "__strcpy_chk(" * 20_000, "a" * 300_000 + ")( ", 'strcpy asm"' * 20_000]
    for text in texts:
        assert len(respelled(text.encode(), {b"strcpy"}).content) == len(text)
