"""Golden output of the verbs about models, routers and searches: text and JSON."""

import json
from pathlib import Path

from tests.support.golden import Transcript, assert_golden, normalized
from tests.support.routers import WORDS_ONLY
from tests.support.search_services import FORMS, SearchService


def test_models(transcript: Transcript, folder: Path, replacements: dict[str, str]) -> None:
    routes = [{"name": "group/fast", "utterances": ["train times", "When does the train leave?"]}]
    (folder / "router.yaml").write_text(json.dumps({**WORDS_ONLY, "routes": routes}), "utf-8")
    transcript.both("models", "list", "gpt-4.1-", "--tools", "--limit", "2")
    transcript.both("models", "show", "openai/gpt-4.1-mini")
    deployments = ("--deployment", "openai/gpt-4.1-mini,rpm=500", "--deployment", "azure/gpt-4.1-nano,rpm=100,tpm=9000")
    transcript.both("models", "groups", "add", "fast", *deployments)
    transcript.both("models", "groups", "list")
    transcript.both("models", "groups", "show", "fast")
    transcript.both("models", "check", "openai/gpt-4.1-mini")
    transcript.both("routes", "add", "router.yaml")
    transcript.both("routes", "list")
    transcript.both("routes", "show", "auto")
    transcript.both("routes", "test", "auto", "train times")
    transcript.both("routes", "compare", "auto", "--suite", "Sample")
    transcript.both("search", "add", "news", "brave")
    with SearchService(FORMS["searxng"]) as service:
        places = {**replacements, service.url: "http://SEARCH"}
        transcript.both("search", "add", "web", "searxng", "--base-url", service.url)
        transcript.both("search", "run", "web", "pumps", "--country", "at")
    transcript.both("search", "list")
    transcript.both("models", "export", "models.yaml")
    transcript.file(folder / "models.yaml")
    transcript.both("models", "import", "models.yaml")
    for name in (("routes", "remove", "auto"), ("models", "groups", "remove", "fast"), ("search", "remove", "web")):
        transcript.say(*name, "--json")
    assert_golden("commands/models.txt", normalized(transcript.text, places))
