"""Of what a command writes the beginning and the end are kept."""

import os

from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.toolchain.bounded_output import Output


def test_what_is_short_enough_is_kept_whole() -> None:
    output = Output(4)
    output.add(b"abcd")
    output.add(b"efgh")

    assert (output.text(), output.cut) == (b"abcdefgh", 0)


@given(st.lists(st.binary(max_size=30), max_size=30), st.integers(min_value=1, max_value=40))
def test_the_middle_is_cut_and_said(chunks: list[bytes], half: int) -> None:
    output, whole = Output(half), b"".join(chunks)
    for chunk in chunks:
        output.add(chunk)

    cut = max(0, len(whole) - 2 * half)
    said = f"\n[... {cut} bytes cut ...]\n".encode() if cut else b""
    assert output.cut == cut
    assert output.text() == (whole[:half] + said + whole[len(whole) - half :] if cut else whole)


def test_a_pipe_is_read_as_far_as_it_goes() -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    output = Output(100)

    assert output.take(reading)
    os.write(writing, b"first ")
    assert output.take(reading)
    os.write(writing, b"second")
    output.drain(reading)
    os.close(writing)
    assert not output.take(reading)
    assert output.text() == b"first second"
    os.close(reading)
