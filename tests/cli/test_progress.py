"""The progress line of a stage in which a model translates functions, and why such a run is paused."""

from dataclasses import replace

from jarvis_cli.kit.progress import describe, rate_of
from jarvis_workers.c2rust.commands.conversion_output import explain_without_result
from jarvis_workers.c2rust.replacement_lines import ReplacementCounts
from jarvis_workers.c2rust.report.wording import words_in_reports
from jarvis_workers.runs.run_facts import RunCosts, run_facts
from jarvis_workers.store.values import Run, StageProgress

TRANSLATE = StageProgress(
    "translate",
    "open",
    jobs=64,
    done=40,
    failed=1,
    running=16,
    tokens=123_456,
    cost=0.25,
    mean_seconds=80.0,
    seconds_left=115.0,
    proofs={"compared": 30, "none": 3, "reached": 7},
)


def test_translated_functions_are_shown_with_proofs_rate_cost_and_time_left() -> None:
    assert describe(TRANSLATE, rate_of(TRANSLATE), "functions") == (
        "41/64 functions, 37 accepted (30 compared, 7 reached), 4 stepped down, 12 a minute, 115 s left, "
        "123,456 tokens, 0.2500 dollars, 1 failed"
    )


def test_what_is_left_follows_what_was_spent() -> None:
    under_way = replace(TRANSLATE, tokens_left=61_728)

    assert describe(under_way, rate_of(under_way)).endswith(
        ", 123,456 of about 185,200 tokens, 0.2500 dollars of about 0.3750 dollars, 1 failed"
    )
    said = describe(replace(under_way, cost=None), 0.0, say=words_in_reports("zh"))
    assert said.endswith("，约 185,200 个 token 中的 123,456 个，成本未知：没有价格，1 个失败")


def test_the_line_of_a_stage_is_in_the_language_of_a_run() -> None:
    closed = replace(TRANSLATE, jobs=41, seconds_left=0.0, cached=3)

    assert describe(closed, rate_of(closed), say=words_in_reports("zh")) == (
        "41/41 任务，37 个被接受 (30 compared, 7 reached)，4 个降级，每分钟 12 个，41 个任务中 3 个来自缓存，"
        "123,456 个 token，0.2500 美元，1 个失败"
    )
    assert describe(StageProgress("merge", "open"), 0.0, say=words_in_reports("zh")) == "尚无任务"
    counts = ReplacementCounts(judged=3, replaced=1, pruned=3, remaining=3)
    assert counts.line(words_in_reports("zh")) == "6 个函数中已判断 3 个：1 个由库替代，3 个被剪除，2 个待翻译"
    assert counts.line().startswith("3 of 6 functions judged: 1 replaced by libraries, 3 pruned, 2 left")


def test_json_has_the_same_numbers() -> None:
    run = Run("abcd", "c2rust.transpile", "/", b"/", "", "", "")
    stage = run_facts(run, [TRANSLATE, StageProgress("merge", "open")], RunCosts())["stages"]
    assert (
        stage["translate"]
        | {
            "jobs": 64,
            "running": 16,
            "accepted": 37,
            "stepped_down": 4,
            "proofs": {"compared": 30, "reached": 7},
            "a_minute": 12.0,
            "seconds_left": 115.0,
            "tokens": 123_456,
            "cost": 0.25,
        }
        == stage["translate"]
    )
    assert "tokens" not in stage["merge"]


def test_a_run_in_which_many_functions_step_down_says_what_to_do() -> None:
    run = Run("abcd", "c2rust.transpile", "/", b"/", "", "", "", state="paused")
    many = replace(run, reason="c2rust.pause_share: 40 of the last 50 functions have no accepted body")

    assert explain_without_result(many).startswith(f"run abcd is paused ({many.reason}); go back to stage 3 or 1 of ")
    assert "check the signatures of these functions" in explain_without_result(many)
    assert explain_without_result(many).endswith("; continue with: jarvis runs resume abcd")
    assert explain_without_result(replace(run, reason="budget")) == (
        "run abcd is paused (budget); for the crate so far: jarvis runs export abcd -d DIR; "
        "continue with: jarvis runs resume abcd --budget AMOUNT"
    )
    assert explain_without_result(replace(run, kind="c2rust.prepare", reason="budget")) == (
        "run abcd is paused (budget); continue with: jarvis runs resume abcd --budget AMOUNT"
    )
