"""The former name of `jarvis_workers.api`, for those who import from it."""

import sys
from typing import TYPE_CHECKING

from jarvis_workers import api

if TYPE_CHECKING:
    from jarvis_workers.api import *  # noqa: F403

sys.modules[__name__] = api
