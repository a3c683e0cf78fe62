"""A key belongs to a provider and an origin: a table of where keys go, where a question comes first, and where none."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from mcp_tef.errors import InputError, ModelError, NotFoundError
from mcp_tef.model.config import Config
from mcp_tef.model.model_catalogue import ModelInfo
from mcp_tef.model.runs import ModelSettings
from mcp_tef.model.secrets import Secret
from mcp_tef.model.similarity import parse_embedder
from mcp_tef.trust.consents import ConsentError
from mcp_tef.workflows.consent import Consents
from mcp_tef.workflows.models import Models
from tests.support.fake_ports import FakeCatalogue, FakeKeys, no_consents

OWN, FOREIGN, LOCAL = "https://cloud.example/v1", "https://evil.example/v1", "http://127.0.0.1:1234/v1"
PLAIN, TYPED = "http://10.1.2.3/v1", Secret("typed-1")


class StoredKeys:
    """Models with one stored key of `cloud`, and every way to change where it may go."""

    def __init__(self, config: Config | None = None) -> None:
        self.keys = FakeKeys(cloud="stored-1", ollama="stored-2")
        self.consents: Consents = no_consents(config=config)
        self.models = Models(FakeCatalogue(), self.keys, self.consents, Config())

    def outcome(self, base_url: str | None, given: Mapping[str, Secret] | None = None, provider: str = "cloud") -> str:
        """`asks`, `none`, or the key that is sent."""
        settings = ModelSettings(provider=provider, model="m", base_url=base_url)
        try:
            key = self.models.keys_for([settings], given or {}).get(settings.destination)
        except ConsentError:
            return "asks"
        return key.reveal() if key else "none"


@pytest.mark.parametrize(
    ("base_url", "outcome"),
    [
        (None, "stored-1"),
        (OWN, "stored-1"),
        ("https://CLOUD.example:443", "stored-1"),
        (FOREIGN, "asks"),
        ("https://cloud.example.evil/v1", "asks"),
        ("http://cloud.example/v1", "asks"),
        (LOCAL, "none"),
        ("http://[::1]:8080", "none"),
    ],
)
def test_a_stored_address_gets_a_stored_key_only_at_the_providers_own_origin(
    base_url: str | None, outcome: str
) -> None:
    assert StoredKeys().outcome(base_url) == outcome


def test_an_unknown_provider_is_refused_with_the_nearest_name_unless_an_address_is_given() -> None:
    stored = StoredKeys()
    with pytest.raises(NotFoundError, match="There is no provider called clout") as raised:
        stored.outcome(None, provider="clout")
    assert raised.value.hint == "Did you mean cloud?"
    assert not stored.models.needs_key(ModelSettings(provider="clout", model="m"))
    assert stored.outcome("http://127.0.0.1:1234/v1", provider="clout") == "none"
    stored.keys.addresses["clout"] = "http://127.0.0.1:1234/v1"
    assert stored.outcome(None, provider="clout") == "none"


def test_an_unknown_provider_of_a_file_cannot_name_a_variable_for_its_address() -> None:
    stored = StoredKeys()
    stored.keys = stored.models._keys = FakeKeys(github="marker")
    assert stored.outcome(FOREIGN, provider="github") == "asks"


def test_a_typed_address_is_agreement_for_that_origin_and_provider_only() -> None:
    stored = StoredKeys()
    stored.consents.add_typed_address("cloud", FOREIGN)
    assert stored.outcome(FOREIGN) == "stored-1"
    assert stored.outcome("https://other.example") == "asks"
    stored.consents.add_typed_address("cloud", LOCAL)
    assert stored.outcome(LOCAL) == "none"


def test_an_address_in_the_environment_beside_the_key_is_agreement() -> None:
    stored = StoredKeys()
    stored.keys.addresses["cloud"] = FOREIGN
    assert stored.outcome(None) == "stored-1"
    assert stored.outcome(FOREIGN) == "asks"
    stored.keys.addresses["cloud"] = LOCAL
    assert stored.outcome(None) == "stored-1"


def test_a_typed_key_goes_to_the_address_that_it_was_typed_with() -> None:
    stored = StoredKeys()
    stored.keys.typed_keys["cloud", "https://evil.example"] = TYPED
    stored.keys.typed_keys["cloud", "http://127.0.0.1:1234"] = TYPED
    assert stored.outcome(FOREIGN) == stored.outcome(LOCAL) == "typed-1"
    assert stored.outcome("https://other.example") == "asks"
    assert stored.outcome(None) == "stored-1"


def test_a_key_given_for_a_batch_with_a_stored_address_is_asked_about() -> None:
    stored = StoredKeys()
    assert stored.outcome(FOREIGN, {"cloud": TYPED}) == "asks"
    assert stored.outcome(LOCAL, {"cloud": TYPED}) == "asks"
    assert stored.outcome(None, {"cloud": TYPED}) == "typed-1"
    stored.consents.add_typed_address("cloud", FOREIGN)
    assert stored.outcome(FOREIGN, {"cloud": TYPED}) == "typed-1"


def test_plain_http_to_another_machine_is_asked_about_even_where_it_was_typed() -> None:
    stored = StoredKeys()
    stored.consents.add_typed_address("cloud", PLAIN)
    stored.keys.addresses["ollama"] = PLAIN
    assert stored.outcome(PLAIN) == "asks"
    assert stored.outcome(PLAIN, {"cloud": TYPED}) == "asks"
    assert stored.outcome(None, provider="ollama") == "asks"
    trusting = StoredKeys(Config.from_environment({"MCP_TEF_TRUSTED_NETWORKS": "10.0.0.0/8"}))
    trusting.consents.add_typed_address("cloud", PLAIN)
    assert trusting.outcome(PLAIN) == "stored-1"


def test_a_local_provider_at_its_usual_address_gets_no_stored_key() -> None:
    assert StoredKeys().outcome(None, provider="ollama") == "none"


async def test_an_answer_counts_for_provider_source_and_origin() -> None:
    stored = StoredKeys()
    settings = ModelSettings(provider="cloud", model="m", base_url=FOREIGN)
    with pytest.raises(ConsentError) as caught:
        stored.models.keys_for([settings, settings], {})
    (request,) = caught.value.requests
    assert (request.subject, request.names, request.target) == ("cloud", ("CLOUD_API_KEY",), FOREIGN)
    stored.consents.decline_key(request)
    assert stored.outcome(FOREIGN) == "none"
    await stored.consents.allow(request)
    assert stored.outcome(FOREIGN) == "stored-1"
    assert stored.outcome("https://evil.example/another") == "asks"
    assert stored.outcome("https://other.example") == "asks"
    assert stored.outcome(FOREIGN, {"cloud": TYPED}) == "asks"


@pytest.mark.parametrize(
    "address", ["https://evil.example:٤٤٣/v1", "//evil.example", "https:\\\\evil.example", "https://groß.example"]
)
def test_an_address_that_cannot_be_told_is_refused_and_never_counts_as_the_providers_own(address: str) -> None:
    with pytest.raises(InputError, match="no address"):
        StoredKeys().outcome(address)


@pytest.mark.parametrize("provider", ["databricks", "watsonx", "watsonx_text"])
def test_credentials_that_a_library_finds_by_itself_are_asked_about(provider: str) -> None:
    assert StoredKeys().outcome(FOREIGN, provider=provider) == "asks"


@pytest.mark.parametrize("base_url", [FOREIGN, LOCAL])
def test_credentials_that_a_provider_sends_by_itself_are_asked_about_as_keys_are(base_url: str) -> None:
    stored = StoredKeys()
    settings = ModelSettings(provider="vertex_ai", model="m", base_url=base_url)
    assert stored.outcome(None, provider="vertex_ai") == "none"
    with pytest.raises(ConsentError) as caught:
        stored.models.keys_for([settings], {})
    (request,) = caught.value.requests
    assert request.names == ("your vertex_ai credentials",)
    stored.consents.decline_key(request)
    with pytest.raises(InputError, match="cannot be asked"):
        stored.models.keys_for([settings], {})
    fresh = StoredKeys()
    fresh.consents.add_typed_address("vertex_ai", base_url)
    assert fresh.outcome(base_url, provider="vertex_ai") == "none"


def test_a_cloud_provider_without_a_key_still_says_where_to_put_it() -> None:
    models = Models(FakeCatalogue(), FakeKeys(), no_consents(), Config())
    with pytest.raises(ModelError, match="no key for cloud"):
        models.keys_for([ModelSettings(provider="cloud", model="m")], {})


def test_embedders_follow_the_same_rule() -> None:
    stored = StoredKeys()
    model = parse_embedder("litellm:cloud/embed")
    assert stored.models.embedder_key(model) == Secret("stored-1")
    endpoint = parse_embedder("http:https://vectors.example/embed")
    assert stored.models.embedder_key(endpoint) is None
    with pytest.raises(ConsentError):
        stored.models.embedder_key(endpoint, TYPED)
    stored.consents.add_typed_address("http", "https://vectors.example/embed")
    assert stored.models.embedder_key(endpoint, TYPED) == TYPED
    assert stored.models.embedder_key(parse_embedder("tfidf"), TYPED) is None


def test_a_stored_key_goes_to_no_embedder_at_an_address_of_its_own_unasked() -> None:
    stored = StoredKeys()
    elsewhere = replace(parse_embedder("litellm:cloud/embed"), base_url="https://evil.example/v1")
    with pytest.raises(ConsentError, match=r"https://evil\.example"):
        stored.models.embedder_key(elsewhere)
    with pytest.raises(ConsentError, match=r"https://evil\.example"):
        stored.models.embedder_key(elsewhere, TYPED)
    stored.consents.add_typed_embedder(elsewhere)
    assert stored.models.embedder_key(elsewhere, TYPED) == TYPED


def at(base_url: str | None) -> ModelSettings:
    """A model of the cloud at an address."""
    return ModelSettings(provider="cloud", model="m", base_url=base_url)


def sent(stored: StoredKeys, given: Mapping[str, Secret], *addresses: str | None) -> list[str | None]:
    """The key that goes to each address where all are asked together."""
    models = [at(address) for address in addresses]
    found = stored.models.keys_for(models, given)
    return [key.reveal() if (key := found.get(one.destination)) else None for one in models]


def test_a_key_of_a_name_alone_goes_to_one_of_several_addresses_the_providers_own() -> None:
    stored = StoredKeys()
    stored.keys = stored.models._keys = FakeKeys()
    for address in (FOREIGN, "https://other.example"):
        stored.consents.add_typed_address("cloud", address)
    assert sent(stored, {"cloud": TYPED}, None, FOREIGN) == ["typed-1", None]
    assert sent(stored, {"cloud": TYPED}, FOREIGN, OWN) == [None, "typed-1"]
    assert sent(stored, {"cloud": TYPED}, None, OWN) == ["typed-1", "typed-1"]
    with pytest.raises(InputError, match=r"https://evil\.example.*https://other\.example"):
        sent(stored, {"cloud": TYPED}, FOREIGN, "https://other.example")
    both = {"cloud": TYPED, "cloud@https://evil.example": Secret("second")}
    assert sent(stored, both, FOREIGN, "https://other.example") == ["second", "typed-1"]
    stored.keys.typed_keys["cloud", "https://evil.example"] = Secret("kept")
    assert sent(stored, {"cloud": TYPED}, FOREIGN, "https://other.example", None) == ["kept", None, "typed-1"]


def test_a_key_kept_for_an_address_wins_there_and_one_of_an_address_goes_nowhere_else() -> None:
    stored = StoredKeys()
    stored.keys.typed_keys["cloud", "https://evil.example"] = Secret("kept")
    assert sent(stored, {"cloud": TYPED}, FOREIGN) == ["kept"]
    assert sent(stored, {"cloud@https://evil.example": TYPED}, FOREIGN, None) == ["typed-1", "stored-1"]
    for own in ("cloud@", "cloud@https://cloud.example"):
        stored.models.require_meant([at(None)], {own: TYPED})
        assert sent(stored, {own: TYPED}, None, FOREIGN, OWN) == ["typed-1", "kept", "typed-1"]


def test_a_missing_key_tells_the_address_that_it_is_for() -> None:
    stored = StoredKeys()
    stored.keys = stored.models._keys = FakeKeys()
    with pytest.raises(ModelError) as raised:
        stored.models.keys_for([at(None)], {})
    assert raised.value.context["given_as"] == "cloud@"
    stored.keys.addresses["cloud"] = FOREIGN
    with pytest.raises(ModelError, match=r"at https://evil\.example") as raised:
        stored.models.keys_for([at(None)], {})
    assert raised.value.context["given_as"] == "cloud@https://evil.example"
    assert sent(stored, {"cloud@https://evil.example": TYPED}, None) == ["typed-1"]


async def test_prices_of_the_catalogue_hold_at_the_providers_own_address_only_and_typed_ones_everywhere() -> None:
    known = ModelInfo(provider="cloud", model="m", input_price=1.0, output_price=2.0)
    keys = FakeKeys()
    models = Models(FakeCatalogue({"cloud/m": known}), keys, no_consents(), Config())
    settings = ModelSettings(provider="cloud", model="m")
    assert await models.info(settings) == known
    assert await models.info(replace(settings, base_url=FOREIGN)) == replace(known, input_price=None, output_price=None)
    priced = replace(settings, input_price=3e6, output_price=4e6)
    assert await models.info(priced) == replace(known, input_price=3.0, output_price=4.0)
    unknown = await models.info(replace(priced, model="new", base_url=FOREIGN))
    assert unknown == ModelInfo(provider="cloud", model="new", input_price=3.0, output_price=4.0)
    assert await models.info(replace(settings, model="new")) is None
    keys.addresses["cloud"] = FOREIGN
    assert await models.info(settings) == replace(known, input_price=None, output_price=None)


def test_a_key_is_missing_where_the_provider_asks_for_one_that_is_not_at_hand() -> None:
    without, settings = (
        Models(FakeCatalogue(), FakeKeys(), no_consents(), Config()),
        ModelSettings(provider="cloud", model="m"),
    )
    assert without.needs_key(settings) is True
    assert without.key_variable("cloud") == "CLOUD_API_KEY"
    assert StoredKeys().models.needs_key(settings) is False
    assert without.needs_key(ModelSettings(provider="other", model="m")) is False
    assert without.keys_for([replace(settings, base_url=FOREIGN)], {}) == {}


def test_a_given_key_that_no_asked_model_uses_is_refused_with_the_nearest_name() -> None:
    models, settings = StoredKeys().models, ModelSettings(provider="cloud", model="m")
    models.require_meant([settings], {"cloud": TYPED})
    with pytest.raises(InputError, match="No model of clout is asked") as raised:
        models.require_meant([settings], {"clout": TYPED})
    assert raised.value.hint == "Did you mean cloud?"


def test_the_question_about_a_key_names_the_workspace_of_a_stored_address_and_no_file_for_the_environments() -> None:
    keys = FakeKeys(cloud="stored-1")
    models = Models(FakeCatalogue(), keys, no_consents(workspace=Path("/w.db")), Config())

    def listed_in(base_url: str | None) -> tuple[str, ...]:
        with pytest.raises(ConsentError) as caught:
            models.keys_for([ModelSettings(provider="cloud", model="m", base_url=base_url)], {})
        return caught.value.requests[0].listed_in

    assert listed_in(FOREIGN) == ("workspace /w.db",)
    keys.addresses["cloud"] = PLAIN
    assert listed_in(None) == ()


def test_a_key_that_was_typed_without_an_address_is_the_providers_own_and_goes_nowhere_else_unasked() -> None:
    stored = StoredKeys()
    stored.keys.typed_keys["cloud", ""] = TYPED
    assert stored.outcome(None) == "typed-1"
    assert stored.outcome(FOREIGN) == "asks"
    assert stored.outcome(LOCAL) == "none"
