"""Read the settings, and say where each came from.

A flag wins over a JARVIS_* variable, that over jarvis.yaml, that over [tool.jarvis] in pyproject.toml
(both in the directory of the command), that over the default.  What is not a setting is refused
wherever it stands, and each place is checked by itself, so that the message can name it.

In variables a section is parted by two underscores (JARVIS_SCAN__EXTENSIONS), a list by commas, and a
mapping is a=b,c=d; an empty variable counts as not set.  A secret may be read from a file
(JARVIS_STORE_URL_FILE).
"""

from jarvis_workers.settings.origins import Origin, load_settings, origins
from jarvis_workers.settings.schema import Cache, ReportSettings, RulesSettings, ScanSettings, Settings
from jarvis_workers.settings.sources import FLAG, TOML_FILE, TOML_PLACE, YAML_FILE

__all__ = [
    "FLAG",
    "TOML_FILE",
    "TOML_PLACE",
    "YAML_FILE",
    "Cache",
    "Origin",
    "ReportSettings",
    "RulesSettings",
    "ScanSettings",
    "Settings",
    "load_settings",
    "origins",
]
