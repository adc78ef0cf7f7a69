"""The CPU time of each part of a scan, measured in one process by timers around the functions of the parts.

    python -m tests.bench.cpu_parts TREE REPORT [OPTION...]

prints a JSON object: seconds by part. The time of a part excludes that of the parts that it calls; "other" is what no
part has used since the process started. The hooks that run per expression would cost more than they measure, so the
analysis of paths is divided by its larger steps only.
"""

import builtins
import importlib
import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

PACKAGE = "jarvis_workers"
# Where each part is called from (module:name or module:class.method), and its name.
PARTS = {
    "snapshots.reader:Reader.read": "read files",
    "service.submit:pack": "pack the snapshot",
    "sec.scanner:compiler_newlines": "scan: normalize",
    "sec.scanner:_Language.names": "scan: match",
    "sec.scanner:mask": "scan: mask",
    "sec.scanner:_hits": "scan: rules",
    "sec.scanner:Scanner.scan": "scan: rest of a file",
    "steps.sec.scan_batch:decide": "scan: batch",
    "dataflow:mask": "summarize: mask",
    "dataflow:is_root": "summarize: triggers",
    "dataflow:reads_counted_buffer": "summarize: triggers",
    "dataflow:is_helper": "summarize: triggers",
    "dataflow.frontend:branches": "summarize: functions and directives",
    "dataflow.frontend:places": "summarize: functions and directives",
    "dataflow.frontend:Outside": "summarize: declarations and macros",
    "dataflow.frontend.grammar:Reading.__init__": "summarize: parse",
    "dataflow.frontend:function": "summarize: lower functions",
    "dataflow:model": "summarize: rest of a file",
    "steps.sec.summarize:pack_model": "summarize: encode and compress",
    "steps.sec.summarize:index_of": "summarize: index",
    "steps.sec.summarize:decide": "summarize: batch",
    "steps.sec.trace_flows:merge_names": "flow: merge names",
    "steps.sec.trace_flows:model_of": "flow: decompress and decode",
    "dataflow.ir.decode:function": "flow: decode functions",
    "steps.sec.symbol_index:SymbolIndex.lookup": "flow: look up names",
    "dataflow:AnalysisContext": "flow: decode declarations",
    "dataflow:analyze": "flow: rest of a file",
    "dataflow:follow": "flow: statements of analyzed functions",
    "dataflow.interpreter:_enter": "flow: statements of called functions, arguments",
    "dataflow.statements:branch": "flow: conditions",
    "dataflow.loops:branch": "flow: conditions",
    "dataflow.statements:define": "flow: declarations",
    "dataflow.assignments:_store": "flow: stores",
    "dataflow.interpreter:few": "flow: join paths",
    "dataflow.loops:few": "flow: join paths",
    "steps.sec.trace_flows:_answers": "flow: keys of cached results",
    "steps.sec.trace_flows:_commit": "flow: findings",
    "steps.sec.trace_flows:decide": "flow: batch",
    "steps.sec.write_report:decide": "report",
    "local.executor:advance": "run: open and close stages",
}
OUTSIDE = {"sqlalchemy.orm:Session.execute": "store", "sqlalchemy.orm:Session.commit": "store"}


class Timers:
    """The CPU seconds of parts; nested parts interrupt the part around them."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._names = ["start and other"]
        self._since = 0.0

    def _lap(self) -> None:
        now = time.process_time()
        self.seconds[self._names[-1]] += now - self._since
        self._since = now

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        self._lap()
        self._names.append(name)
        try:
            yield
        finally:
            self._lap()
            self._names.pop()

    def around(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        def timed(*args: Any, **named: Any) -> Any:
            with self.part(name):
                return function(*args, **named)

        return timed

    def install(self, place: str, name: str) -> None:
        module, _, attribute = place.partition(":")
        owner: Any = importlib.import_module(module)
        *outer, last = attribute.split(".")
        for one in outer:
            owner = getattr(owner, one)
        setattr(owner, last, self.around(getattr(owner, last), name))


def measure(arguments: list[str]) -> dict[str, float]:
    timers = Timers()
    builtins.__import__ = timers.around(builtins.__import__, "imports")  # type: ignore[assignment]
    with timers.part("imports"):
        from jarvis_cli.main import run

        places = {f"{PACKAGE}.{place}": name for place, name in PARTS.items()} | OUTSIDE
        for place in places:
            importlib.import_module(place.partition(":")[0])
    for place, name in places.items():
        timers.install(place, name)
    run(["sec", "fast", "-q", *arguments])
    with timers.part("start and other"):
        return dict(timers.seconds)


if __name__ == "__main__":
    tree, report, *options = sys.argv[1:]
    print(json.dumps(measure(["-j", "0", "--no-cache", "-p", tree, "-o", report, *options])))
