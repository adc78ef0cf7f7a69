"""The tests' own pipelines, as a package installs them: as entry points, of which `jarvis_tests-1.0.dist-info` tells.

This directory is on the path of pytest (pyproject.toml); processes that a test starts get `PYTHONPATH`.
"""

import os
from pathlib import Path

PLUGINS = Path(__file__).parent
PYTHONPATH = os.pathsep.join([str(PLUGINS.parents[1]), str(PLUGINS)])
