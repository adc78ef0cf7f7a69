"""Secrets are redacted in addresses and in what servers say."""

import pytest

from jarvis_workers.redact import redact_server_text, without

KEY = "long/and+secret=key"


def test_the_key_that_was_sent_is_redacted_wherever_it_is_repeated() -> None:
    assert redact_server_text(f"no such key: {KEY} ({KEY})", KEY) == "no such key: *** (***)"


@pytest.mark.parametrize("text", ["Bearer abc", "bearer abc", "key sk-12345678 is wrong"])
def test_what_looks_like_a_key_is_redacted(text: str) -> None:
    assert "***" in redact_server_text(text)
    assert "abc" not in redact_server_text(text)
    assert "12345678" not in redact_server_text(text)


def test_what_is_too_short_for_a_secret_is_not_redacted() -> None:
    assert without("it is on", "on") == "it is on"
