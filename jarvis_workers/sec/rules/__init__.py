"""The rules of stage 1: one table, and a file for each family that needs more than a name.

A rule sees a name in the code, with comments and literals masked, and says how sure it is.
"""

from jarvis_workers.sec.rules.commands import check_command
from jarvis_workers.sec.rules.copies import check_conversion, check_copy, check_tmpfile
from jarvis_workers.sec.rules.formats import (
    FORMAT_ARGUMENT,
    WIDTH_ARGUMENT,
    check_format,
    check_width,
    has_literal_format,
)
from jarvis_workers.sec.rules.realloc import check_realloc
from jarvis_workers.sec.rules.rule import Rule
from jarvis_workers.sec.rules.rust import check_transmute, check_unsafe, check_unwrap

__all__ = ["RULES", "RULES_BY_PATTERN", "Rule", "rules_fingerprint"]

RULES: tuple[Rule, ...] = (
    Rule(
        "unsafe_api",
        language="c/cpp",
        category="unsafe_api",
        cwe=120,
        confidence=0.8,
        check=check_copy,
        calls=("strcpy", "strcat", "stpcpy", "wcscpy", "wcscat", "wcpcpy", "gets", "sprintf", "vsprintf"),
        description="Writes to a buffer whose size it does not know: a source longer than the target overruns it.",
        suggestion="Pass the size of the target: snprintf, strlcpy, or memcpy after a length check; fgets for gets.",
    ),
    Rule(
        "scanf_no_width",
        language="c/cpp",
        category="input_validation",
        cwe=120,
        confidence=0.8,
        check=check_width,
        calls=tuple(name.decode() for name in WIDTH_ARGUMENT),
        description="Reads a word of any length (%s or %[ without a width) into a buffer of fixed size.",
        suggestion="Give a width one less than the size of the buffer (%63s), let it allocate (%ms), or use fgets.",
    ),
    Rule(
        "format_string",
        language="c/cpp",
        category="input_validation",
        cwe=134,
        confidence=0.75,
        check=check_format,
        dismisses=has_literal_format,
        calls=tuple(name.decode() for name in FORMAT_ARGUMENT),
        description="The format is not a literal: whoever controls it can read and write memory with %x and %n.",
        suggestion='Use a literal format and pass the text as an argument: printf("%s", text).',
    ),
    Rule(
        "realloc_assign_back",
        language="c/cpp",
        category="memory_mgmt",
        cwe=401,
        confidence=0.8,
        check=check_realloc,
        calls=("realloc", "reallocarray", "krealloc", "krealloc_array", "kvrealloc"),
        description="If realloc fails it returns NULL and keeps the old block, whose only pointer is lost here.",
        suggestion="Assign the result to a temporary pointer, check it, and only then replace the old pointer.",
    ),
    Rule(
        "command_execution",
        language="c/cpp",
        category="input_validation",
        cwe=78,
        confidence=0.75,
        check=check_command,
        calls=(
            "system",
            "popen",
            "_popen",
            "_wsystem",
            "_wpopen",
            "execl",
            "execlp",
            "execle",
            "execv",
            "execvp",
            "execve",
            "execvpe",
            "posix_spawn",
            "posix_spawnp",
        ),
        description="Starts a program or shell with a command that is not constant: input that reaches it runs others.",
        suggestion="Start a fixed program with an argument vector and no shell; allow only known values for the rest.",
    ),
    Rule(
        "insecure_tmpfile",
        language="c/cpp",
        category="insecure_permissions",
        cwe=377,
        confidence=0.8,
        check=check_tmpfile,
        calls=("tmpnam", "tmpnam_r", "tempnam", "mktemp", "_mktemp", "_tempnam"),
        description="Returns a name that somebody else can create, or point elsewhere, before this program opens it.",
        suggestion="Use mkstemp or tmpfile, which create and open the file in one step.",
    ),
    Rule(
        "atoi_family",
        language="c/cpp",
        category="input_validation",
        cwe=20,
        confidence=0.5,
        check=check_conversion,
        calls=("atoi", "atol", "atoll", "atof"),
        description="Cannot tell 0 from text that is no number, and is undefined when the value does not fit.",
        suggestion="Use strtol or strtod, and check errno, the end pointer and the range.",
    ),
    Rule(
        "unsafe",
        language="rust",
        category="unsafe_usage",
        cwe=119,
        confidence=0.7,
        check=check_unsafe,
        words=("unsafe",),
        description="Memory safety rests on this code alone: the compiler does not check what it does with pointers.",
        suggestion="Keep it small, say in a SAFETY comment why it is sound, and wrap it in a safe function.",
    ),
    Rule(
        "unwrap_expect",
        language="rust",
        category="error_handling",
        cwe=248,
        confidence=0.5,
        check=check_unwrap,
        calls=("unwrap", "expect"),
        description="Panics when there is no value: input that leads here stops the thread or the program.",
        suggestion="Return the error with ?, or handle it with match, unwrap_or or ok_or.",
    ),
    Rule(
        "mem_transmute",
        language="rust",
        category="unsafe_usage",
        cwe=843,
        confidence=0.75,
        check=check_transmute,
        words=("transmute", "transmute_copy"),
        description="Takes the bytes of one type for another: wrong lifetimes or values are undefined behaviour.",
        suggestion="Use a conversion that is checked: from_ne_bytes, cast, as, TryFrom, or a crate such as bytemuck.",
    ),
)
RULES_BY_PATTERN = {rule.pattern: rule for rule in RULES}

# Whatever is written in these files decides what a scan returns.
DECIDING_FILES = {
    "jarvis_workers.source": ("calls.py", "lex.py", "match.py"),
    "jarvis_workers.sec": ("evidence.py", "scanner.py"),
    "jarvis_workers.sec.rules": (
        "__init__.py",
        "commands.py",
        "copies.py",
        "formats.py",
        "literals.py",
        "realloc.py",
        "rule.py",
        "rust.py",
    ),
}


def rules_fingerprint() -> str:
    """Return 16 hex digits that change whenever the result of a scan could."""
    import hashlib  # noqa: PLC0415 - slow, and no scanning process needs them
    import pkgutil  # noqa: PLC0415

    digest = hashlib.sha256()
    for package, names in DECIDING_FILES.items():
        for name in names:
            digest.update(f"{package}/{name}\0".encode())
            digest.update(pkgutil.get_data(package, name) or b"")
    return digest.hexdigest()[:16]
