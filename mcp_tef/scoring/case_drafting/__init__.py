"""Requests for tools, drafted from their definitions, and the rules that every drafted request keeps."""

import json
from importlib.resources import files
from typing import Any

WORDING: dict[str, Any] = json.loads(files("resources").joinpath("case_drafting.json").read_text("utf-8"))
"""Phrases, verbs and values; braces stand for parts of a request."""
