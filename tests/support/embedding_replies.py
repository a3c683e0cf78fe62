"""Answers of embedding services for the model stub, in OpenAI's shape and in text-embeddings-inference's."""

import hashlib
import json
from typing import Any

from tests.support.model_replies import Received, Reply

DIMENSIONS = 8


def vector(text: str) -> list[float]:
    """A vector of its own for each text."""
    return [1.0 + byte for byte in hashlib.sha256(text.encode()).digest()[:DIMENSIONS]]


def openai_reply(vectors: list[Any]) -> Reply:
    """These vectors, last first, each with its place."""
    rows = [{"object": "embedding", "index": place, "embedding": row} for place, row in enumerate(vectors)]
    usage = {"prompt_tokens": 5, "total_tokens": 5}
    return Reply(body=json.dumps({"object": "list", "model": "stub", "data": rows[::-1], "usage": usage}))


def openai(request: Received) -> Reply:
    """What an OpenAI-compatible server answers; it refuses other requests."""
    if "input" not in request.body:
        return refusal(422, "input is missing")
    return openai_reply([vector(text) for text in request.body["input"]])


def inference(request: Received) -> Reply:
    """What text-embeddings-inference answers; it refuses other requests."""
    if "inputs" not in request.body:
        return refusal(422, "inputs is missing")
    return Reply(body=json.dumps([vector(text) for text in request.body["inputs"]]))


def refusal(status: int, words: str) -> Reply:
    """An error in OpenAI's shape."""
    return Reply(status=status, body=json.dumps({"error": {"message": words, "type": "error", "code": None}}))
