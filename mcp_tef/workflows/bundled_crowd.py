"""The bundled crowd: tools of servers of everyday kinds, and queries that none of them can serve."""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from mcp_tef.model.json import Json, JsonObject


@dataclass(frozen=True, slots=True)
class BundledCrowd:
    """Definitions by server as `tools/list` gives them; `silence` holds the queries. `version` changes with any."""

    version: int
    servers: dict[str, list[JsonObject]]
    silence: tuple[str, ...]


@cache
def read_bundled_crowd() -> BundledCrowd:
    """Read the crowd that is shipped with the program."""
    value: dict[str, Json] = json.loads(files("resources").joinpath("crowd.json").read_text(encoding="utf-8"))
    return BundledCrowd(value["version"], value["servers"], tuple(value["silence"]))
