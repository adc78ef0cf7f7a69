"""Settings files of tests: written as their user writes them, who trusts them."""

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path

import yaml

from jarvis_workers.settings.trust import DATA_DIR, decide


def write_settings(directory: Path, settings: Mapping[str, object], *data: Path) -> Path:
    """Write a jarvis.yaml that the user of these data directories trusts, by default of the one beside the file."""
    file = directory / "jarvis.yaml"
    file.write_text(
        yaml.safe_dump(json.loads(json.dumps(settings)), default_flow_style=True, sort_keys=False, width=math.inf)
    )
    trust_file(file, *data)
    return file


def trust_file(file: Path, *data: Path) -> None:
    """Store the decision of the user of these data directories to trust a settings file."""
    for one in data or (Path(os.environ.get(DATA_DIR) or file.parent / "data"),):
        decide(file, {DATA_DIR: str(one)}, trusted=True)
