"""Run the product over trees: with a model group of the user, or with a model that replays recordings."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.agents.loop.server import ModelServer
from tests.bench.reading.replay import Replay
from tests.support.settings_files import write_settings

REPORT = "report.json"
# The report is written, whatever it says: nothing found, findings, or files that were not checked.
WRITTEN = (0, 1, 3)
# As the baseline of the measurements: dollars a million tokens.
PRICES = {"input": 3, "output": 15}
DATA_DIR = "JARVIS_DATA_DIR"


def run_product(tree: Path, output: Path, options: Sequence[str], **settings: Any) -> Mapping[str, Any]:
    """Run `jarvis sec agent` over a tree, and return its JSON report; other arguments are those of `subprocess`."""
    command = [sys.executable, "-m", "jarvis_cli", "sec", "agent", str(tree.resolve()), "-q", "-o", str(output)]
    code = subprocess.run([*command, *options], check=False, **settings).returncode
    if code not in WRITTEN:
        raise ValueError(f"{tree}: jarvis sec agent ended with exit code {code}")
    report: Mapping[str, Any] = json.loads(output.read_text())
    return report


def replay_product(tree: Path, replay: Replay, options: Sequence[str]) -> Mapping[str, Any]:
    """Run the product over a tree with recorded answers, in an empty store."""
    with tempfile.TemporaryDirectory() as name, ModelServer(forever=replay) as server:
        place = Path(name)
        (place / "data").mkdir()
        group = {"model": "recorded", "base_url": server.url, "profile": "openai", "api_key": "k", "prices": PRICES}
        write_settings(place, {"models": {"recorded": group}, "model_group": "recorded"})
        environment = {key: value for key, value in os.environ.items() if not key.startswith("JARVIS_")}
        # A known bug has no recorded answer.
        environment |= {DATA_DIR: str(place / "data"), "JARVIS_AGENT__CANARY": "false"}
        return run_product(tree, place / REPORT, options, cwd=place, env=environment)
