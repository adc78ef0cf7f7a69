"""How files of a proof are shown to people."""

from base64 import b64encode

import pytest

from jarvis_workers.sec.proof.proof import ProofSource
from jarvis_workers.sec.report.proof_inputs import input_text


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"PORT 1,1\r\n", "PORT 1,1\\r\\n"),
        (b"GET \x00 and more words", "GET \\x00 and more words"),
        (b"\xff\xd8\x00\x01", "base64: /9gAAQ=="),
        (b"", ""),
    ],
)
def test_bytes_that_are_mostly_text_are_shown_as_text(content: bytes, text: str) -> None:
    assert input_text(ProofSource("a", base64=b64encode(content).decode())) == text


def test_a_text_is_shown_as_it_is_and_cut() -> None:
    assert input_text(ProofSource("a", "line\nline"), 6) == "line\nl"
