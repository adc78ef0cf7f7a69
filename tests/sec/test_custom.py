"""Rules of a project fire on the names they look for, under the conditions that they set."""

import pytest

from jarvis_workers.sec.rules import RULES
from jarvis_workers.sec.rules.custom import custom_rule
from jarvis_workers.sec.scanner import Scanner
from jarvis_workers.source.match import engines
from jarvis_workers.source.safe_regex import is_linear_here

BASE = {
    "id": "own",
    "language": "c/cpp",
    "category": "input_validation",
    "cwe": 117,
    "confidence": 0.7,
    "message": "Writes text that the caller controls. It is not escaped.",
    "suggestion": "Use log_write.",
}
re2 = pytest.mark.skipif(not is_linear_here(), reason="google-re2 is not installed")


def lines(code, *, language="c/cpp", test=False, **said):
    rule = custom_rule({**BASE, "language": language, **said})
    return [hit.line for hit in Scanner(rules=[rule]).scan(code.encode(), language=language, test=test).hits]


def body(*statements):
    return "void f(void)\n{\n" + "\n".join(statements) + "\n}\n"


def test_calls_count_and_comments_strings_members_and_prototypes_do_not():
    code = body("old_log(a);", "/* old_log(a) */", 's = "old_log(a)";', "p->old_log(a);", "older_log(a);", "old_log;")

    assert lines("void old_log(char *text);\n" + code, calls=["old_log"]) == [4]


def test_words_count_wherever_they_stand():
    assert lines(body("old_log(a);", "x = old_log;", "old_logs;"), words=["old_log"]) == [3, 4]


@pytest.mark.parametrize(
    ("argument", "found"),
    [
        ({"index": 2, "literal": False}, [5, 6]),
        ({"index": 2, "literal": True}, [3, 4]),
        pytest.param({"index": 2, "regex": r"^user_"}, [6], marks=re2),
        pytest.param({"index": 2, "literal": False, "regex": "name"}, [5, 6], marks=re2),
        pytest.param({"index": 2, "regex": "hello"}, [], marks=re2),
    ],
)
def test_an_argument_can_be_asked_for(argument, found):
    code = body('log(1, "hello");', "log(1, 42u);", "log(1, name);", "log(1, user_name);", "log(1);")

    assert lines(code, calls=["log"], argument=[argument]) == found


@pytest.mark.parametrize(("count", "found"), [({"min": 2}, [4, 5]), ({"max": 1}, [3]), ({"min": 2, "max": 2}, [4])])
def test_the_number_of_arguments_can_be_asked_for(count, found):
    assert lines(body("log(a);", "log(a, b);", "log(a, (b, c), d);"), calls=["log"], argument_count=count) == found


def test_a_call_too_long_to_be_read_counts_as_holding():
    code = body("log(a, " + " + ".join(["f(x)"] * 2_000) + ");")

    assert lines(code, calls=["log"], argument=[{"index": 9, "literal": True}], argument_count={"max": 1}) == [3]


def test_tests_can_be_left_alone():
    rust = "fn f() { old(); }\n#[cfg(test)]\nmod tests {\n fn g() { old(); }\n}\n"

    assert lines(body("old(a);"), calls=["old"], not_in_tests=True, test=True) == []
    assert lines(body("old(a);"), calls=["old"], not_in_tests=True) == [3]
    assert lines(rust, language="rust", calls=["old"], not_in_tests=True) == [1]
    assert lines(rust, language="rust", calls=["old"]) == [1, 4]


def test_a_definition_is_no_call():
    assert lines("fn old() {\n  old()\n}\n", language="rust", calls=["old"]) == [2]
    assert lines("static int old(int x)\n{\n  return old(x);\n}\n", calls=["old"]) == [3]


def test_the_title_is_the_first_sentence_unless_it_is_given():
    assert custom_rule({**BASE, "words": ["x"]}).title == "Writes text that the caller controls"
    assert custom_rule({**BASE, "words": ["x"], "title": "old log"}).title == "old log"
    assert custom_rule({**BASE, "words": ["x"], "message": "y" * 90}).title == "y" * 59 + "…"


@pytest.mark.parametrize("engine", engines())
@pytest.mark.parametrize("own", [{"words": ["strcpy"]}, {"words": ["cpy", "copy"]}, {"calls": ["strcpy", "cpy"]}])
def test_names_that_built_in_rules_ask_for_too_change_nothing_for_them(engine, own):
    code = body("strcpy(a, b);", "f = strcpy;", "my_strcpy(a, b); cpy(a);").encode()
    rule = custom_rule({**BASE, **own})
    both, alone = Scanner(engine, [*RULES, rule]), Scanner(engine)

    hits = both.scan(code, language="c/cpp").hits

    assert [hit for hit in hits if hit.pattern != "own"] == list(alone.scan(code, language="c/cpp").hits)
    assert [hit for hit in hits if hit.pattern == "own"] == list(
        Scanner(engine, [rule]).scan(code, language="c/cpp").hits
    )


def test_without_a_rule_for_a_language_nothing_is_found():
    assert Scanner(rules=[]).scan(b"void f(void) { gets(a); }", language="c/cpp").hits == ()
