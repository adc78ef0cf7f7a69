"""Clippy over a crate or a workspace: how it is called, and how its output is read.

Build scripts and macros of the crate run, too, so it is compiled in a copy. Settings of its tree name no compiler and
no command; lints that its code allows stay allowed. Dependencies are those that `cargo vendor` has written into the
tree.
"""

from collections.abc import Sequence

from jarvis_workers.sec.alerts.alert import Alert, counted, shortened
from jarvis_workers.sec.alerts.known_weaknesses import rules_of, with_weakness
from jarvis_workers.sec.witnesses.analyzer import REASON_MAX, Analyzer, AnalyzerAnswer
from jarvis_workers.toolchain.cargo import CUT, CargoMessage, error_line, read_messages

NAME = "clippy"
# The arguments: the root of the tree, the directory of the crate below it, the program, and its lints.
COPY = """tree=$HOME/tree && rm -rf "$tree" && cp -R "$0/." "$tree" && cd "$tree/$1" && bin=${2%/*} && shift &&
CARGO_HOME=$HOME/cargo CARGO_TARGET_DIR=$HOME/target CARGO_INCREMENTAL=0 CARGO_TERM_COLOR=never RUSTC=$bin/rustc \\
RUSTC_WRAPPER= RUSTC_WORKSPACE_WRAPPER= CLIPPY_CONF_DIR=$HOME CARGO_ENCODED_RUSTFLAGS= PATH=$bin:$PATH \\
exec "$@\""""
CALL = ("clippy", "--workspace", "--keep-going", "--offline", "--message-format=json", "--", "--cap-lints", "warn")
MISSING = "no matching package"
NOT_COMPILED = "it does not compile: {text}{place}"


def _words(program: str, directory: str, roots: Sequence[str]) -> list[str]:
    lints = [word for lint in rules_of(NAME) for word in ("-W", f"clippy::{lint}")]
    return ["sh", "-c", COPY, *roots, directory, program, *CALL, *lints]


def _read(output: str, messages: str) -> AnalyzerAnswer:
    found = list(read_messages(output.encode()))
    alerts = counted([alert for one in found if (alert := _alert(one)).cwe and one.file])
    if error := next((one for one in found if one.level == "error"), None):
        place = f" ({error.file}:{error.line})" if error.file else ""
        failure = NOT_COMPILED.format(text=error.text, place=place)
    elif any(one.text == CUT for one in found):
        failure = CUT
    else:
        failure = error_line(messages.encode())
        if MISSING in failure:
            failure += "; cargo vendor writes dependencies into the tree"
    return AnalyzerAnswer(alerts, failure[:REASON_MAX])


def _alert(message: CargoMessage) -> Alert:
    rule = message.code.removeprefix("clippy::")
    text = shortened(f"{message.text}: {message.label}" if message.label else message.text)
    alert = Alert(NAME, rule, text, message.file, message.line, message.column, 0, message.level)
    return with_weakness(alert)


CLIPPY = Analyzer(NAME, _words, _read, of_crates=True)
