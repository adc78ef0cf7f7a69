"""An estimate, as people and programs see it."""

import json
from dataclasses import replace

from jarvis_workers.models.platforms.usage_profile import ConversationProfile
from jarvis_workers.runs.stage_measure import StageShare
from jarvis_workers.sec.commands.scan_estimate import as_json, as_table
from jarvis_workers.sec.judge.cost_model import ASSUMED
from jarvis_workers.sec.runs.estimate import Estimate

CLUSTER = StageShare(3, 1, 2, 4_200, 500, 0.0042, 0.002, ASSUMED["cluster"])
VERIFY = StageShare(40, 0, 104, 1_234_567, 31_200, 1.2346, 0.1248, ConversationProfile(2.6, 85.5, 300, seen=310))
FOUND = Estimate("fast", 120, 120, 17, CLUSTER, VERIFY, 0.93, priced=True)


def test_people_see_a_table_and_what_it_rests_on() -> None:
    assert (
        "\n".join(as_table(FOUND))
        == """\
               jobs      known      questions      their tokens      answers' tokens      dollars
cluster           3          1              2             4,200                  500       0.0062
verify           40          0            104         1,234,567               31,200       1.3594
total            43          1            106         1,238,767               31,700       1.3656

candidates: 120; cluster jobs that need no model: 17; model group: fast
clustering a batch: 1.0 questions, 0 tokens added per conversation, 250 per answer (assumed until more jobs have run)
verifying a cluster: 2.6 questions, 86 tokens added per conversation, 300 per answer (the mean of 310 jobs)
tokens counted by the server per estimated token: 0.93
known: answers that are cached and cost nothing
answers are 9% of the cost; the estimate ignores the provider's prompt cache"""
    )


def test_the_candidates_that_max_findings_leaves_out_are_not_counted() -> None:
    shown = "\n".join(as_table(replace(FOUND, candidates=6, candidates_found=1_039)))

    assert "candidates: 6 of 1,039 (--max-findings); cluster jobs" in shown


def test_without_prices_there_are_no_dollars() -> None:
    *_, last = shown = list(as_table(replace(FOUND, priced=False, group="\x1b[31mred")))

    assert shown[3].endswith(" -")
    assert last == "cost not estimated: the model group \\x1b[31mred has no prices; set them in jarvis.yaml"


def test_what_depends_on_the_answers_is_shown_apart_as_an_upper_bound() -> None:
    bounds = {"seen": CLUSTER, "escalate": replace(VERIFY, priced=False)}
    found = replace(FOUND, read=CLUSTER, bounds=bounds)
    shown = list(as_table(found))
    rows = "\n".join(shown).split("\n\n")

    assert [line.split()[0] for line in rows[0].split("\n")[1:]] == ["read", "cluster", "verify", "total"]
    head, seen, escalate = rows[1].split("\n")
    assert head == "in addition to the total, depending on the answers, at most these jobs, of average length:"
    assert seen.startswith("seen ")
    assert shown[-1] == "the model group of --escalate has no prices"
    assert escalate.endswith(" -")
    assert "escalate: all candidates are left open by the first model" in rows[2]
    assert json.loads(as_json(found))["bounds"]["escalate"]["calls"] == 104


def test_programs_see_all_numbers() -> None:
    told = json.loads(as_json(FOUND))

    assert told["verify"]["habit"] == {"rounds": 2.6, "added": 85.5, "answer": 300, "seen": 310, "share": 0.0}
    assert (told["total"]["prompt"], told["total"]["jobs"], told["plain"]) == (1_238_767, 43, 17)
    assert told["total"]["completion_cost"] == 0.1268
