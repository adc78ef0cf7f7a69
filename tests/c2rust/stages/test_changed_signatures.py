"""A translator asks for another signature: the stages after `translate`; nothing is built, see FakeBench."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from jarvis_workers.c2rust.conversion import PassedParameter, decode_conversion
from jarvis_workers.c2rust.crate_layout import CratePlan
from jarvis_workers.c2rust.plan_files import PlanFiles
from jarvis_workers.c2rust.stages import translate_again
from jarvis_workers.c2rust.stages.change_signatures import CHANGED, FAILING
from jarvis_workers.c2rust.stages.final_bodies import Resigned, read_resigned
from jarvis_workers.c2rust.stages.options import TranslateOptions
from jarvis_workers.c2rust.stages.pipelines import TRANSPILE
from jarvis_workers.c2rust.stages.skeleton import decode_skeleton
from jarvis_workers.c2rust.stages.translated_bodies import TranslatePayload, read_translated
from jarvis_workers.pipeline.history import StageHistory
from jarvis_workers.toolchain.cargo import CargoMessage
from tests.agents.loop.server import Body, Step, calls
from tests.agents.loop.translating import HEAD, is_review, mechanical_body, task_of
from tests.c2rust.stages.conversion_runs import ConversionRun, conversion_run
from tests.c2rust.stages.fake_benches import FakeBench, FakeCrateBench
from tests.store.arrange import run_now

FILES = {
    "a.c": """int sum(const int *numbers, int count)
{
    int all = 0;
    for (int i = 0; i < count; i++)
        all += numbers[i];
    return all;
}
int mean(int a, int b)
{
    int both[2] = { a, b };
    return sum(both, 2) / 2;
}
int first(const int *at) { return at[0]; }
enum tint { DARK, LIGHT = 9 };
int shade(enum tint tint) { return tint == LIGHT; }
""",
}
PLAN = PlanFiles(modules=CratePlan.model_validate({"modules": [], "enums": {"tint": "enum"}}))
CALLED = ("sum", "mean", "first", "shade")
# With these calls the caller compiles only for the first signature, and only for the changed one.
SAFE_CALL, RAW_CALL = "rust_sum(&[a, b])", "crate::c::sum(core::ptr::null(), 0)"


class CallerBench(FakeBench):
    """A bench on which a safe call of `sum` compiles only if its wrapper takes a slice."""

    def cargo(
        self, *words: str, flags: str = "", rustc: Sequence[str] = ()
    ) -> tuple[bool, tuple[CargoMessage, ...], float]:
        wrapper = "".join(text for file, text in self.crate.items() if "src/f_" not in file)
        if SAFE_CALL in self.crate.get("src/f_mean.rs", "") and "fn rust_sum(numbers: &[" not in wrapper:
            self.crate["src/f_mean.rs"] += "// BREAKS"
        return super().cargo(*words, flags=flags, rustc=rustc)


def answer(body: Body) -> Step:
    """Ask for raw pointers in `sum`, and for a wrong kind in `first`; `mean` calls the safe function."""
    if is_review(body):
        return calls("submit_report", issues=[])
    task = task_of(body)
    head, name = HEAD.findall(task)[0]
    if name == "mean":
        safe = f"{head} {{ {SAFE_CALL} / 2 }}"
        raw = f"{head} {{ // SAFETY: it reads nothing.\n unsafe {{ {RAW_CALL} / 2 }} }}"
        return calls("submit_report", rust=raw if "which was refused" in task else safe)
    kinds = {"sum": "raw", "first": "cstr"}
    wish = None
    if name in kinds and "*const i32" not in head:
        parameter = {"name": "numbers" if name == "sum" else "at", "kind": kinds[name], "length": None}
        wish = {"parameters": [parameter], "reason": "callers pass NULL"}
    return calls("submit_report", rust=mechanical_body(task), change_signature=wish)


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[ConversionRun]:
    directory = tmp_path_factory.mktemp("run")
    bench = CallerBench(directory / "bench", CALLED, CALLED)
    with conversion_run(directory, sqlite_template, answer, bench, FakeCrateBench()) as run:
        plan = run.resources.blobs.put(PLAN.model_dump_json().encode())
        run.convert(TRANSPILE, FILES, TranslateOptions(model_group="m", translate=True, max_retries=1, plan=plan))
        yield run


@pytest.mark.slow
def test_planned_enums_stay_in_the_signatures_of_other_functions(ended: ConversionRun) -> None:
    skeleton = decode_skeleton(ended.resources.blobs.read(resigned(ended).skeleton))
    assert "tint: Result<tint, u32>" in skeleton.targets["shade"].item.text
    assert "pub enum tint {" in skeleton.types
    assert decode_conversion(ended.artifact("planned")).enums == {"tint": "enum"}


def resigned(run: ConversionRun) -> Resigned:
    return read_resigned(run.resources.blobs, [one.result or "" for one in run.jobs("resign")])


@pytest.mark.slow
def test_the_signature_changes_and_its_callers_are_checked(ended: ConversionRun) -> None:
    found = resigned(ended)
    assert (found.changed, found.broken) == ({"sum": CHANGED}, {"mean": "check: E0308 mismatched types"})
    text = "\n".join(found.remarks)
    assert "the signature of sum is changed; the model asked for it: callers pass NULL" in text
    assert "the signature of first is not changed" in text and FAILING not in text


def test_what_the_change_breaks_is_translated_again_with_the_answers_that_are_left(ended: ConversionRun) -> None:
    jobs = ended.jobs("retranslate")
    payloads = [TranslatePayload.from_json(one.payload) for one in jobs]
    assert [(one.slot, one.failure) for one in payloads] == [
        ("mean", "check: E0308 mismatched types"),
        ("sum", CHANGED),
    ]
    assert all(one.earlier for one in payloads)
    bodies = read_translated(ended.resources.blobs, jobs)
    assert RAW_CALL in bodies["mean"].text and "*const i32" in bodies["sum"].text
    functions = {one.name: one for one in decode_conversion(ended.artifact("conversion")).functions}
    assert (functions["sum"].attempts, functions["sum"].state) == (2, "translated")
    assert functions["sum"].mapping[0] == PassedParameter("numbers", "raw")


def test_nothing_is_translated_again_after_the_last_answer(ended: ConversionRun) -> None:
    run = run_now(ended.store, ended.run_id)
    history = StageHistory(ended.jobs, ended.resources.blobs.put, ended.store.read)
    planned = list(translate_again.plan_on(run, ended.resources.blobs, history))
    assert [one.label for one in planned] == ["mean", "sum"]
    run.options["max_retries"] = 0
    assert list(translate_again.plan_on(run, ended.resources.blobs, history)) == []
