"""`jarvis doctor`, as a user sees it."""

import json
import sys

import pytest

from jarvis_cli.main import run


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JARVIS_DATA_DIR", str(tmp_path / "data"))
    return tmp_path


def test_a_machine_that_can_run_passes(capsys):
    assert run(["doctor"]) == 0

    shown = capsys.readouterr().out
    assert "✓ store" in shown
    assert "jarvis.db" in shown


def test_a_store_that_cannot_be_used_fails_with_a_remedy(monkeypatch, capsys):
    monkeypatch.setenv("JARVIS_STORE_URL", "nonsense")

    assert run(["doctor"]) == 2

    shown = capsys.readouterr().out
    assert "✗ store" in shown
    assert "→ set JARVIS_STORE_URL" in shown


def test_as_json_each_check_is_an_object(capsys):
    assert run(["doctor", "--json"]) == 0

    checks = json.loads(capsys.readouterr().out)
    assert {"name", "state", "says", "remedy"} == set(checks[0])


@pytest.mark.parametrize(
    ("setting", "address", "module", "extra"),
    [
        ("JARVIS_BLOBS_URL", "s3://bucket/jarvis", "s3fs", "s3"),
        ("JARVIS_BLOBS_URL", "gs://bucket/jarvis", "gcsfs", "gcs"),
        ("JARVIS_BROKER_URL", "redis://127.0.0.1:1/0", "celery", "cluster"),
        ("JARVIS_STORE_URL", "postgresql://127.0.0.1:1/jarvis", "psycopg", "postgres"),
    ],
)
def test_a_missing_extra_is_named_by_doctor_and_by_submit_before_anything_runs(
    monkeypatch, capsys, here, setting, address, module, extra
):
    (here / "a.c").write_text("int a;\n")
    monkeypatch.setitem(sys.modules, module, None)
    for loaded in ("jarvis_workers.store.postgres_address", f"{module}.pq"):
        monkeypatch.delitem(sys.modules, loaded, raising=False)
    monkeypatch.setenv(setting, address)

    assert run(["doctor"]) == 2
    shown = capsys.readouterr().out
    assert f"✗ extra {extra}" in shown and f'the extra "{extra}" of jarvis-workers' in shown
    for command in (["sec", "fast"], ["sec", "agent"], ["sec", "fast", "--baseline", "main"]):
        assert run(command) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert f"{module}, which is not installed; install it with: pip install" in line
    assert not (here / "data" / "blobs").exists()


@pytest.mark.slow
def test_a_bucket_that_cannot_be_reached_fails_with_a_remedy_and_no_secret(monkeypatch, capsys):
    monkeypatch.setenv("JARVIS_BLOBS_URL", "s3://bucket/jarvis?endpoint_url=http://127.0.0.1:1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY")

    assert run(["doctor"]) == 2

    shown = capsys.readouterr().out
    assert "✗ blobs" in shown and "→ set JARVIS_BLOBS_URL to" in shown
    assert "AKIA" not in shown and "wJalr" not in shown


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "address", "module", "command"),
    [
        ("JARVIS_STORE_URL", "postgresql://127.0.0.1:1/jarvis", "psycopg", ["list"]),
        ("JARVIS_STORE_URL", "postgresql://127.0.0.1:1/jarvis", "psycopg", ["cancel", "last"]),
        ("JARVIS_BLOBS_URL", "s3://bucket/jarvis", "s3fs", ["report", "last"]),
        ("JARVIS_BLOBS_URL", "gs://bucket/jarvis", "gcsfs", ["prune"]),
    ],
)
def test_commands_on_runs_name_a_missing_extra(monkeypatch, capsys, here, setting, address, module, command):
    (here / "a.c").write_text("int a;\n")
    assert run(["sec", "fast", "-q"]) == 0
    capsys.readouterr()
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setenv(setting, address)

    assert run(["runs", *command]) == 2

    (line,) = capsys.readouterr().err.splitlines()
    assert module in line and "is not installed; install it with: pip install" in line
