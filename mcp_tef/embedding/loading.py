"""Loads fastembed with what it would say and send turned off: nothing leaves this machine unasked."""

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastembed import TextEmbedding


def load_fastembed() -> "type[TextEmbedding]":
    """fastembed's class; the runtime below it would keep a number for this machine, and report to its maker."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    from fastembed import TextEmbedding
    from loguru import logger
    from onnxruntime import disable_telemetry_events  # type: ignore[import-untyped]  # it ships no types

    disable_telemetry_events()
    logger.disable("fastembed")
    return TextEmbedding
