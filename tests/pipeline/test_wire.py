"""A child's commit arrives at its parent as it was, on one line."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.errors import StepFailed
from jarvis_workers.pipeline.wire import decode_commit, encode_commit, to_line
from jarvis_workers.sec.assessment import Verdict
from jarvis_workers.sec.stages.results import CandidateResult, ClusterResult, VerdictResult
from jarvis_workers.store.values import Commit, Meaning, NewCluster, NewJob, Spot

paths = st.binary(min_size=1, max_size=40).filter(lambda path: b"\0" not in path)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
numbers = st.integers(min_value=0, max_value=2**53)
spots = st.builds(
    Spot,
    path=paths,
    pattern=words,
    line=numbers,
    confidence=st.floats(0, 1, allow_nan=False),
    evidence=words,
    suppressed=st.none() | words,
    trail=st.none() | words,
)
meanings = st.builds(
    Meaning, pattern=words, language=words, category=words, cwe=numbers, description=words, suggestion=words
)
new_jobs = st.builds(
    NewJob,
    step=words,
    queue=words,
    label=words,
    input_hash=words,
    payload=words,
    weight=numbers,
    stage=st.none() | words,
)
gids = st.lists(numbers, max_size=3).map(tuple)
clusters = st.builds(NewCluster, file=paths, batch_index=numbers, verification=words, gids=gids)
results = st.one_of(
    st.builds(
        CandidateResult,
        spots=st.lists(spots, max_size=5).map(tuple),
        meanings=st.lists(meanings, max_size=3).map(tuple),
    ),
    st.builds(ClusterResult, clusters=st.lists(clusters, max_size=3).map(tuple)),
    st.builds(VerdictResult, verdicts=st.lists(st.from_type(Verdict), max_size=3).map(tuple)),
)
commits = st.builds(
    Commit,
    files=numbers,
    size=numbers,
    cached=numbers,
    cpu_seconds=st.floats(0, 1e6),
    results=st.lists(results, max_size=2).map(tuple),
    not_checked=st.lists(st.tuples(paths, words), max_size=5).map(tuple),
    remarks=st.lists(st.tuples(paths, numbers, words, words), max_size=5).map(tuple),
    artifacts=st.just(()),
    children=st.lists(new_jobs, max_size=3).map(tuple),
    profile=st.none() | words.filter(bool),
    blobs=st.lists(st.tuples(words, words), max_size=2).map(tuple),
)


@given(commits)
def test_a_commit_comes_back_from_the_wire_as_it_was(commit: Commit) -> None:
    line = to_line(encode_commit(commit))

    assert decode_commit(json.loads(line), commit.cpu_seconds) == commit


@given(commits)
def test_a_message_is_one_line_of_ascii(commit: Commit) -> None:
    line = to_line(encode_commit(commit))

    assert b"\n" not in line
    assert line.isascii()


def test_a_path_need_not_be_utf_8() -> None:
    spot = Spot(b"src/\xff\xe9\xc3\xa9.c", "unsafe_api", 3, 0.8, "strcpy(a, b)")
    commit = Commit(files=1, results=(CandidateResult((spot,)),))

    assert decode_commit(json.loads(to_line(encode_commit(commit))), 0.0) == commit


def test_a_result_whose_type_is_not_registered_is_refused_and_nothing_is_imported_for_it() -> None:
    forged = encode_commit(Commit(files=1)) | {"results": [["this.module:name", []]]}

    with pytest.raises(StepFailed, match=r"a result of unknown type 'this\.module:name'"):
        decode_commit(forged, 0.0)
