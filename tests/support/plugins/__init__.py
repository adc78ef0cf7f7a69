"""The test pipelines, installed like those of a package: as entry points in `jarvis_tests-1.0.dist-info`.

This directory is on the path of pytest (pyproject.toml); processes that a test starts get `PYTHONPATH`.
"""

import os
from pathlib import Path

PLUGINS = Path(__file__).parent
PYTHONPATH = os.pathsep.join([str(PLUGINS.parents[1]), str(PLUGINS)])
