"""Client profiles: every figure has a source, and a file that is wrong is refused in a sentence."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import yaml

from mcp_tef.errors import InputError
from mcp_tef.formats.definition_files import bundled_profiles, profile_of, read_profile
from mcp_tef.model.clients import PLAIN_API, ClientProfile

PROFILE = {"name": "ours", "title": "Ours", "version": 1, "checked": "2026-11-26"}


@pytest.mark.parametrize("profile", bundled_profiles(), ids=lambda profile: str(profile.name))
def test_every_figure_of_a_bundled_profile_has_a_source_and_a_date(profile: ClientProfile) -> None:
    told = {fact.of for fact in profile.facts}
    assert set(profile.limits()) <= told
    assert profile.names.pattern == "{tool}" or "names.pattern" in told
    for fact in profile.facts:
        part, _, key = fact.of.partition(".")
        value: Any = asdict(profile)[part]
        assert (value[key] if key else value) is not None
        assert fact.source
        assert fact.date[:2] == "20"
        assert fact.confidence.replace("*", "").replace("/", "").isalpha()


def test_the_plain_api_comes_first_and_changes_nothing() -> None:
    first = bundled_profiles()[0]
    assert (first.name, first.limits(), first.search) == (PLAIN_API, {}, None)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"names": {"allowed": "x](a+)+$|[a"}}, "names.allowed"),
        ({"nams": {}}, "names"),
        ({"names": {"longst": 3}}, "longest"),
        ({"names": {"longest": 0}}, "names.longest"),
        ({"most_tools": "many"}, "most_tools"),
        ({"names": {"pattern": "mcp__{server}"}}, "{tool}"),
        ({"search": {"method": "bm25", "results": 0}}, "search.results"),
        ({"search": {"method": "magic", "results": 3}}, "search.method"),
        ({"search": {"method": "bm25", "results": 3, "reads": ["descripton"]}}, "description"),
        ({"facts": [{"of": "names", "sais": "x"}]}, "says"),
        ({"title": None}, "title"),
    ],
)
def test_a_wrong_profile_is_refused_and_the_place_is_named(change: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError) as refused:
        profile_of({**PROFILE, **change}, "ours.yaml")
    assert "ours.yaml" in refused.value.message
    assert named in f"{refused.value.message} {refused.value.hint}"


@pytest.mark.parametrize("text", ["", "- 1", "name: [", "3"])
def test_a_file_that_is_no_profile_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "ours.yaml"
    file.write_text(text, "utf-8")
    with pytest.raises(InputError):
        read_profile(file)


def test_a_profile_of_the_user_is_read_as_written(tmp_path: Path) -> None:
    file = tmp_path / "ours.yaml"
    file.write_text(yaml.safe_dump({**PROFILE, "search": {"method": "keywords", "results": 2}}), "utf-8")
    profile = read_profile(file)
    assert profile.label == "ours@1"
    assert profile.search is not None
    assert (profile.search.results, profile.search.reads) == (2, ("name", "description"))
