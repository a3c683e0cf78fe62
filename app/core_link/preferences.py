"""Preferences: the values that apply, their sources, and how they are set; no Qt.

Preferences of the core have the names of their environment variables; settings of runs belong to the start form.
"""

import os
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from app.core_link.settings import Settings
from mcp_tef import RUN_FIELDS, VARIABLES, Config, InputError, Variable, number, parse_model

CORE: Final = "core"
FORM: Final = "runs.form"
KEPT: Final = ("workspace", "workspaces", "window.place_and_size", "window.maximised")
"""Window state, which a reset keeps."""

_NOT_HERE = (
    *("DATABASE_URL", "DEFAULT_LLM_PROVIDER", "DEFAULT_LLM_MODEL", "MCP_TEF_EMBEDDING_FOLDER"),
    *("PORT", "MCP_TEF_TOKEN"),
)


class Origin(StrEnum):
    """The source of a value."""

    ENVIRONMENT = "environment"
    HERE = "here"
    DEFAULT = "default"


def _a_model(text: str) -> str | None:
    try:
        parse_model(text)
    except InputError:
        return None
    return text


RUNS: Final[tuple[Variable[Any], ...]] = (
    Variable(
        name="model",
        title="Model",
        reason="The model to use. Without one, the built-in baseline, which needs neither key nor network.",
        allowed="PROVIDER/NAME, for example openai/gpt-4.1-mini",
        read=_a_model,
        default="offline/retrieval",
    ),
    *(field.variable for field in RUN_FIELDS),
    Variable(
        name="cost_cap",
        title="Cost cap",
        reason="A batch stops before it costs more. Without one it runs to its end.",
        allowed="an amount above 0",
        read=number(0.000001, 1_000_000),
        default="none",
        unit="$",
    ),
)
_OF_RUNS = {one.name: one for one in RUNS}
_OF_CORE = {one.name: one for one in VARIABLES if one.name not in _NOT_HERE}
LIMITS: Final = tuple(
    one for one in _OF_CORE.values() if one.name.startswith(("MCP_TEF_MAX_", "TOOL_INGESTION_TIMEOUT"))
)


class Preferences:
    """Every preference by its name. A value from the environment overrides one that is set here."""

    def __init__(self, settings: Settings, environment: Mapping[str, str] | None = None) -> None:
        self._settings = settings
        self._environment = dict(os.environ if environment is None else environment)

    def core(self) -> dict[str, str]:
        """Return the settings of the core that were set here, by environment variable."""
        kept = self._settings.get(CORE, {})
        return {name: text for name, text in kept.items() if name in _OF_CORE and isinstance(text, str)}

    def variable(self, name: str) -> Variable[Any]:
        """Return the description of a preference."""
        return _OF_RUNS.get(name) or _OF_CORE[name]

    def origin(self, name: str) -> Origin:
        """Return the source of the value that applies."""
        if self._of_environment(name):
            return Origin.ENVIRONMENT
        return Origin.HERE if self._set_here(name) else Origin.DEFAULT

    def text(self, name: str) -> str:
        """Return the value that applies; "" for the default."""
        return self._of_environment(name) or self._set_here(name)

    def set(self, name: str, text: str) -> str:
        """Set a value, "" for the default; return one sentence if it is wrong, and change nothing then."""
        variable, text = self.variable(name), text.strip()
        fault = variable.fault(text)
        if not fault:
            self._keep(name, "" if text == variable.default else text)
        return fault

    def state(self) -> dict[str, Any]:
        """Return everything that a reset changes, so that it can be undone."""
        return self._settings.values_without(KEPT)

    def reset(self) -> None:
        """Set every preference to its default; workspaces and their contents are left alone."""
        self._settings.replace_all_but(KEPT, {})

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state."""
        self._settings.replace_all_but(KEPT, state)

    def _keep(self, name: str, text: str) -> None:
        key = FORM if name in _OF_RUNS else CORE
        kept = {other: value for other, value in self._settings.get(key, {}).items() if other != name}
        if text:
            kept[name] = text
        if name == "model":
            kept["offline"] = not text
        self._settings.set(key, kept)

    def _set_here(self, name: str) -> str:
        kept = self._settings.get(FORM if name in _OF_RUNS else CORE, {})
        if name == "model" and kept.get("offline") is not False:
            return ""
        variable, text = self.variable(name), kept.get(name)
        usable = isinstance(text, str) and text != variable.default and not variable.fault(text)
        return text if usable and isinstance(text, str) else ""

    def _of_environment(self, name: str) -> str:
        if name == "model":
            usual, _ = Config.lenient(self._environment, {})
            return "" if usual.default_model.offline else usual.default_model.label
        text = _OF_CORE[name].text(self._environment) if name in _OF_CORE else ""
        return "" if text and _OF_CORE[name].fault(text) else text
