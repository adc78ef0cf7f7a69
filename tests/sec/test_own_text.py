"""A command that the program makes of constants, numbers and checked characters is no injection."""

import pytest

from jarvis_workers.dataflow import analyze, summarize
from jarvis_workers.sec.scanner import Scanner
from tests.sec.following import look_nowhere

HEAD = 'static const char *const VERBS[] = {"start", "stop"};\n'
PRINT = "char l[64]; snprintf(l, sizeof l, "


def is_harmless(body: str, parameters: str = "int k, const char *s") -> bool:
    """Return whether the data flow proves the command of a function harmless, or no text rule reports it."""
    content = f"{HEAD}int f({parameters})\n{{\n{body}\n}}\n".encode()
    model = summarize(content, language="c/cpp", header=False, test=False, path="a.cpp")
    assert model is not None
    proved = {hit.pattern for hit in analyze(model, look_nowhere, test=False)[0]}
    return "harmless_command" in proved or not any(
        hit.pattern == "command_execution" for hit in Scanner().scan(content, language="c/cpp").hits
    )


@pytest.mark.parametrize(
    "body",
    [
        PRINT + '"renice %d", k); return system(l);',
        PRINT + '"ip link set %s", k ? "up" : "down"); return system(l);',
        'const char *v = k ? "up" : "down";' + PRINT + '"ip link set %s", v); return system(l);',
        PRINT + '"service x %s", VERBS[k & 1]); return system(l);',
        PRINT + '"kill -0 %ld", strtol(s, 0, 10)); return system(l);',
        PRINT + '"arp -d %02x:%02x", s[0], s[1]); return system(l);',
        PRINT + '"sleep %.2f", k / 2.0); return system(l);',
        'char l[64]; strcpy(l, "ls "); strcat(l, k ? "-l" : "-a"); return system(l);',
        'char l[64]; int n = sprintf(l, "seq %d ", k); sprintf(l + n, "%d", k); return system(l);',
        "for (const char *p = s; *p; p++) if (!isdigit(*p)) return 1;" + PRINT + '"kill %s", s); return system(l);',
        'if (strspn(s, "0123456789") != strlen(s)) return 1;' + PRINT + '"kill %s", s); return system(l);',
        'std::string c = "kill " + std::to_string(k); return system(c.c_str());',
        'return system(("kill " + std::to_string(k)).c_str());',
    ],
)
def test_constants_and_numbers_make_a_harmless_command(body: str) -> None:
    assert is_harmless(body)


@pytest.mark.parametrize(
    "body",
    [
        PRINT + '"kill %s", s); return system(l);',
        PRINT + '"kill -%d %s", k, s); return system(l);',
        PRINT + '"kill %*s", 3, s); return system(l);',
        PRINT + '"echo %c", k); return system(l);',
        PRINT + "s, k); return system(l);",
        PRINT + '"ls %s", k ? "-l" : s); return system(l);',
        'char l[64]; strcpy(l, "ls "); strncat(l, s, 20); return system(l);',
        'char l[64]; sprintf(l, "a %d", k); strcat(l, s); return system(l);',
        'char l[64]; sprintf(l, "a %d", k); fgets(l, 64, stdin); return system(l);',
        'char l[64]; sprintf(l, "a %d", k); l[0] = s[0]; return system(l);',
        'char l[64]; int n = sprintf(l, "%s ", s); sprintf(l + n, "%d", k); return system(l);',
        'std::string c = "kill " + std::string(s); return system(c.c_str());',
    ],
)
def test_other_text_in_a_command_is_reported(body: str) -> None:
    assert not is_harmless(body)
