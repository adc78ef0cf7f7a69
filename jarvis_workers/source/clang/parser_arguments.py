"""The arguments for libclang: our own, and those of a compile command that change the meaning of a source file.

The module uses an allow-list, since compile commands come from the project that is read: clang has arguments that load
a plugin into this process (`-fplugin`, `-Xclang -load`) or write files (`-MF`, `--serialize-diagnostics`), and rejects
arguments that only gcc supports.  The warnings of the project are disabled, including those treated as errors; errors
that only later standards define, such as a call without a declaration, are warnings, as in gcc.
"""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from jarvis_workers.source.clang.unit import ROOT, CompileCommand, Language

# Options that take their value from the next argument if it is not joined to them.
WITH_VALUE = (
    *("-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-iprefix", "-iwithprefixbefore", "-iwithprefix"),
    *("-isysroot", "--sysroot", "--target", "-target", "-I", "-D", "-U", "-x"),
)
JOINED = (
    *("-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-isysroot", "--sysroot=", "--target="),
    *("-I", "-D", "-U", "-x"),
)
PRECOMPILED = "-include-pch"
# Options of one word that change the meaning of a source, and that gcc and clang have.
MEANINGFUL = re.compile(
    r"""-ansi|-undef|-trigraphs|-pthread|-nostdinc(\+\+)?|-nostdlibinc|-O([0-3sg]|fast)?|-m(32|64|x32|16)
    |-f(no-)?(signed-char|unsigned-char|signed-bitfields|unsigned-bitfields|short-enums|short-wchar|builtin
        |builtin-[a-z_0-9]+|ms-extensions|gnu89-inline|freestanding|hosted|blocks|openmp|wrapv|char8_t|exceptions|rtti
        |PIC|pic|PIE|pie|math-errno|fast-math|asm|lax-vector-conversions|dollars-in-identifiers|strict-aliasing)
    |-fpack-struct(=\d+)?
    |-m(no-)?(sse[\d.]*|sse4[\da.]*|ssse3|avx|avx2|avx512(f|cd|bw|dq|vl|vbmi|ifma|vnni|bitalg|vpopcntdq)|aes|pclmul|bmi2?
        |fma4?|f16c|popcnt|lzcnt|sha|mmx|3dnow|rdrnd|rdseed|adx|xsave\w*|crc32|gfni|vaes|vpclmulqdq|movbe|ms-bitfields)""",
    re.VERBOSE,
)
CHOICES = re.compile(r"--?std=.*|-m(arch|cpu|fpu|abi|float-abi)=[\w.+-]+")
# Default errors of clang 18 that are only warnings in gcc 12.
WARNINGS = (
    *("implicit-function-declaration", "implicit-int", "int-conversion"),
    *("incompatible-function-pointer-types", "return-mismatch"),
)
CPP_SUFFIXES = (b".cc", b".cpp", b".cxx", b".c++", b".C", b".CC", b".cp", b".hh", b".hpp", b".hxx", b".h++", b".H")


def parser_arguments(root: bytes, command: CompileCommand, headers: Path) -> list[bytes]:
    """Return the arguments for libclang without the file; `root` is absolute, `headers` is clang's header directory."""
    own = [os.fsencode(argument).replace(ROOT.encode(), root) for argument in _with_meaning(command.arguments)]
    directory = os.path.normpath(os.path.join(root, command.directory))
    # -resource-dir keeps the headers at their position in the search order, but requires this directory name.
    place = (b"-resource-dir", headers.parent) if headers.name == "include" else (b"-isystem", headers)
    warnings = [f"{form}{name}".encode() for name in WARNINGS for form in ("-W", "-Wno-error=")]
    return [
        *own,
        b"-working-directory=" + directory,
        place[0],
        os.fsencode(place[1]),
        b"-Wno-error",
        b"-Wno-everything",
        *warnings,
    ]


def language_of(command: CompileCommand) -> Language:
    """Return the language of a unit: like a compiler, choose it by the last `-x`, or else by the suffix."""
    chosen = ""
    for index, argument in enumerate(command.arguments):
        if argument.startswith("-x"):
            chosen = argument[2:] or "".join(command.arguments[index + 1 : index + 2])
    if chosen and chosen != "none":
        return "c++" if "c++" in chosen else "c"
    return "c++" if command.file.endswith(CPP_SUFFIXES) else "c"


def _with_meaning(arguments: Sequence[str]) -> Iterator[str]:
    remaining = iter(arguments)
    for argument in remaining:
        if argument in WITH_VALUE:
            value = next(remaining, None)
            if value is not None:
                yield from (argument, value)
        elif any(rule.fullmatch(argument) for rule in (MEANINGFUL, CHOICES)) or _is_joined(argument):
            yield argument


def _is_joined(argument: str) -> bool:
    return argument.startswith(JOINED) and not argument.startswith(PRECOMPILED)
