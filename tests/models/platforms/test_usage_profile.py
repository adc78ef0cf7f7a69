"""What conversations are likely to take, from what earlier ones took."""

from jarvis_workers.models.platforms.usage_profile import (
    LEAST_SAMPLES,
    ConversationProfile,
    ConversationTotals,
    profile_of,
)

ASSUMED = ConversationProfile(2, 600, 300)


def test_the_mean_of_earlier_jobs_is_a_habit_once_there_are_enough() -> None:
    jobs = [ConversationTotals(calls=2, first=1000, prompt=2300, completion=200)] * (LEAST_SAMPLES - 1)
    habit = profile_of([*jobs, ConversationTotals(calls=4, first=1000, prompt=4300, completion=400)], ASSUMED)

    assert profile_of(jobs, ASSUMED) is ASSUMED
    assert habit == ConversationProfile(rounds=2.1, added=300, answer=100, seen=LEAST_SAMPLES)


def test_each_question_says_again_what_was_said_before() -> None:
    assert ConversationProfile(rounds=3, added=500, answer=100).prompt(1000) == 3500
    assert ConversationProfile(rounds=3, added=500, answer=100).completion() == 300
    assert ConversationProfile(rounds=2, added=0, answer=0, share=0.3).completion(1000) == 300
