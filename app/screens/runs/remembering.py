"""What of the start form is remembered until the next time: how to ask, never which cases, and never a key."""

from collections.abc import Mapping
from typing import Any, Final

from app.screens.runs.start import StartForm
from mcp_tef import CallingMode

TEXTS: Final = ("model", "base_url", "repeats", "concurrency", "temperature", "timeout", "retries", "cost_cap")
FLAGS: Final = ("offline", "with_baseline")


def form_to_keep(form: StartForm) -> dict[str, str | bool]:
    """The part of a form that is worth keeping, as plain values."""
    return {**{name: getattr(form, name) for name in (*TEXTS, *FLAGS)}, "mode": form.mode.value}


def form_of(kept: Mapping[str, object]) -> StartForm:
    """The form of kept values; whatever does not fit is left at its default."""
    texts: dict[str, Any] = {name: value for name in TEXTS if isinstance(value := kept.get(name), str)}
    modes = {mode.value: mode for mode in CallingMode}
    return StartForm(
        **texts,
        offline=kept.get("offline") is not False,
        with_baseline=kept.get("with_baseline") is True,
        mode=modes.get(str(kept.get("mode")), CallingMode.AUTO),
    )
