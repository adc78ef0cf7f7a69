"""The analyzers that a scan can run, and how those of C and C++ are called, on one unit each, and their output is read.

They run with checks for defects, not for style: what they print otherwise is read as findings by nobody.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from jarvis_workers.sec.alerts.alert import AlertReport, UnreadableReport
from jarvis_workers.sec.alerts.compiler_logs import read_log
from jarvis_workers.sec.alerts.known_weaknesses import with_weakness
from jarvis_workers.sec.alerts.report_forms import read_alerts
from jarvis_workers.sec.witnesses.analyzer import REASON_MAX, Analyzer, AnalyzerAnswer
from jarvis_workers.sec.witnesses.clippy import CLIPPY

AUTO, NONE = "auto", "none"
# Warnings of gcc 12 about memory, formats and sizes, beside those of -fanalyzer; -O1 is what most of them need.
GCC_CHECKS = (
    *("-fanalyzer", "-O1", "-Wformat=2", "-Wno-format-nonliteral", "-Wmaybe-uninitialized", "-Wuninitialized"),
    *("-Wuse-after-free=2", "-Wdangling-pointer=2", "-Wfree-nonheap-object", "-Wmismatched-dealloc", "-Wnonnull"),
    *("-Wreturn-local-addr", "-Warray-bounds=1", "-Wstringop-overflow", "-Wstringop-overread", "-Wrestrict"),
    *("-Wformat-overflow=1", "-Wformat-truncation=1", "-Wsizeof-pointer-memaccess", "-Wsizeof-pointer-div"),
    *("-Wsizeof-array-argument", "-Wmemset-transposed-args", "-Wmemset-elt-size", "-Wshift-count-overflow"),
    *("-Wdiv-by-zero", "-Waggressive-loop-optimizations", "-Wreturn-type"),
    # On by default, and about the code's age.
    *("-Wno-deprecated-declarations", "-Wno-attributes"),
)
OF_C = ("-Wno-implicit-function-declaration", "-Wno-int-conversion", "-Wno-incompatible-pointer-types")
GXX_CHECKS = ("-Wmismatched-new-delete", "-Wdelete-non-virtual-dtor", "-Wclass-memaccess", "-Winit-self")
TIDY_CHECKS = ",".join(
    (
        *("-*", "clang-analyzer-*", "bugprone-*", "cert-*"),
        # Style, or a line for each use of a function.
        *("-clang-analyzer-deadcode.*", "-clang-analyzer-optin.performance.*"),
        "-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling",
        *("-clang-analyzer-security.insecureAPI.strcpy", "-cert-env33-c"),
        *("-bugprone-easily-swappable-parameters", "-bugprone-narrowing-conversions", "-bugprone-branch-clone"),
        *("-bugprone-macro-parentheses", "-bugprone-reserved-identifier", "-bugprone-switch-missing-default-case"),
        *("-bugprone-assignment-in-if-condition", "-bugprone-multi-level-implicit-pointer-conversion"),
        *("-bugprone-implicit-widening-of-multiplication-result", "-bugprone-suspicious-string-compare"),
        *("-bugprone-casting-through-void", "-bugprone-sizeof-expression"),
        *("-bugprone-suspicious-include", "-bugprone-unsafe-functions"),
        *("-cert-dcl*", "-cert-err33-c", "-cert-err34-c", "-cert-int09-c", "-cert-msc3*", "-cert-msc5*"),
    )
)
CPPCHECK_CHECKS = ("--enable=warning", "--inconclusive", "--xml", "--quiet")
# cppcheck takes macros and directories of headers alone.
OF_CPPCHECK = ("-D", "-U", "-I")
DIRECTORIES = ("-isystem", "-iquote", "-idirafter")
# What cppcheck reports about itself, or of a file that it cannot read.
CPPCHECK_FAILURES = ("syntaxError", "internalAstError", "internalError", "preprocessorErrorDirective", "cppcheckError")
CPP_SUFFIXES = (".cc", ".cpp", ".cxx", ".c++", ".C", ".cp", ".hh", ".hpp", ".hxx")
COMPILE_ERROR = re.compile(r"^(?P<place>[^\n:]+:\d+)(?::\d+)?: (?:fatal )?error: (?P<text>[^\n]+)$", re.MULTILINE)
# The check in which clang-tidy reports an error of the compiler.
TIDY_ERROR = "clang-diagnostic-error"
NOT_COMPILED = "it does not compile: {text} ({place}); --build records how the project is compiled"


def _gcc_words(program: str, file: str, arguments: Sequence[str]) -> list[str]:
    of_cpp = is_cpp(file, arguments)
    compiler = re.sub(r"gcc(?=[^/]*$)", "g++", program) if of_cpp else program
    checks = (*GCC_CHECKS, *(GXX_CHECKS if of_cpp else OF_C))
    return [compiler, *arguments, *checks, "-fdiagnostics-plain-output", "-S", "-o", "/dev/null", file]


def _tidy_words(program: str, file: str, arguments: Sequence[str]) -> list[str]:
    # The settings of the tree under scan are not used.
    return [program, "--quiet", "--config={}", f"--checks={TIDY_CHECKS}", "--header-filter=.*", file, "--", *arguments]


def _cppcheck_words(program: str, file: str, arguments: Sequence[str]) -> list[str]:
    return [program, *CPPCHECK_CHECKS, *_for_cppcheck(arguments), file]


def _for_cppcheck(arguments: Sequence[str]) -> Iterator[str]:
    words = iter(arguments)
    for word in words:
        if word in (*OF_CPPCHECK, *DIRECTORIES):
            yield (word if word in OF_CPPCHECK else "-I") + next(words, "")
        elif word.startswith(OF_CPPCHECK):
            yield word


def is_cpp(file: str, arguments: Sequence[str]) -> bool:
    """Return whether a unit is compiled as C++."""
    given = [value for option, value in pairwise(arguments) if option == "-x"]
    return given[-1].startswith("c++") if given else file.endswith(CPP_SUFFIXES)


def _read_gcc(_: str, messages: str) -> AnalyzerAnswer:
    failure = _compile_error(messages)
    alerts = () if failure else read_log(messages).alerts
    return AnalyzerAnswer(tuple(with_weakness(one._replace(tool="gcc")) for one in alerts), failure)


def _read_tidy(output: str, messages: str) -> AnalyzerAnswer:
    found = read_log(output).alerts
    alerts = tuple(with_weakness(one) for one in found if one.rule != TIDY_ERROR)
    return AnalyzerAnswer(alerts, _compile_error(output) if len(alerts) < len(found) else "")


def _read_cppcheck(_: str, messages: str) -> AnalyzerAnswer:
    start = messages.find("<?xml")
    try:
        report = read_alerts(messages[max(0, start) :].encode()) if start >= 0 else AlertReport((), {})
    except UnreadableReport as problem:
        return AnalyzerAnswer((), f"its report cannot be read: {problem}")
    failed = [one for one in report.alerts if one.rule in CPPCHECK_FAILURES]
    alerts = tuple(one for one in report.alerts if one.rule not in CPPCHECK_FAILURES)
    if failed:
        return AnalyzerAnswer(alerts, f"{failed[0].text} (line {failed[0].line})"[:REASON_MAX])
    return AnalyzerAnswer(alerts, "" if start >= 0 else "it printed no report")


def _compile_error(text: str) -> str:
    found = COMPILE_ERROR.search(text)
    return NOT_COMPILED.format(text=found["text"], place=found["place"])[:REASON_MAX] if found else ""


ANALYZERS: Mapping[str, Analyzer] = {
    one.name: one
    for one in (
        Analyzer("gcc", _gcc_words, _read_gcc),
        Analyzer("clang-tidy", _tidy_words, _read_tidy),
        Analyzer("cppcheck", _cppcheck_words, _read_cppcheck),
        CLIPPY,
    )
}
NAMES = ", ".join(ANALYZERS)
