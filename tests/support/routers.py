"""Routers for tests, as documents."""

from typing import Any

WORDS_ONLY: dict[str, Any] = {
    "name": "auto",
    "default": "offline/words",
    "embedder": "tfidf",
    "threshold": 0.3,
    "routes": [{"name": "offline/words", "utterances": ["train times", "When does the train leave?"]}],
}
"""A router that asks one baseline, so that nothing needs a key."""
