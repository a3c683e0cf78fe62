"""Models that can be called, and the keys that may be sent to them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from mcp_tef.errors import InputError, ModelError, ModelFault
from mcp_tef.model.addresses import SENDS_CREDENTIALS, is_loopback
from mcp_tef.model.consents import TYPED_KEY, ConsentError, ConsentRequest, key_request
from mcp_tef.model.runs import Destination, ModelInfo, ModelSettings, required_origin
from mcp_tef.model.secrets import Secret
from mcp_tef.model.similarity import EmbedderChoice, EmbedderKind
from mcp_tef.ports import KeySource, ModelCatalogue
from mcp_tef.workflows.consent import Consents

Keys: TypeAlias = Mapping[Destination, Secret]


class Models:
    """The catalogue of models, and the rule by which a key belongs to a provider and an origin."""

    def __init__(self, catalogue: ModelCatalogue, keys: KeySource, consents: Consents, default: ModelSettings) -> None:
        self._catalogue = catalogue
        self._keys = keys
        self._consents = consents
        self.default = default

    async def catalogue(self) -> tuple[ModelInfo, ...]:
        """Every known model; the offline baseline first."""
        return await self._catalogue.models()

    async def info(self, settings: ModelSettings) -> ModelInfo | None:
        """Return the catalogue entry of one model; None where it is unknown."""
        return await self._catalogue.find(settings)

    def key_variable(self, provider: str) -> str:
        """The environment variable that would hold the provider's key."""
        return self._catalogue.key_variable(provider)

    def needs_key(self, settings: ModelSettings) -> bool:
        """Return True if a run would fail because a key is missing."""
        return self._catalogue.asks_for_key(settings) and not self._decide(settings.destination, {})[0]

    def keys_for(self, models: Sequence[ModelSettings], given: Mapping[str, Secret]) -> Keys:
        """Return the key of each destination: given for this batch by provider, else at hand.

        Raises:
            ConsentError: a key would go to an origin that is not the provider's own and not allowed.
            ModelError: a cloud provider has no key.
        """
        asked = [model for model in models if not model.offline]
        found = self.keys_at([model.destination for model in asked], given)
        for model in asked:
            if model.destination not in found and self._catalogue.asks_for_key(model):
                raise self._missing(model.provider)
        return found

    def keys_at(self, destinations: Iterable[Destination], given: Mapping[str, Secret]) -> Keys:
        """Return the keys that may be sent to some destinations; none where there is none. Raises ConsentError."""
        decided = {destination: self._decide(destination, given) for destination in destinations}
        requests = {request.fingerprint: request for _, request in decided.values() if request}
        if requests:
            raise ConsentError.of(tuple(requests.values()))
        return {destination: key for destination, (key, _) in decided.items() if key}

    def embedder_key(self, choice: EmbedderChoice | None, typed: Secret | None = None) -> Secret | None:
        """Return the key that may be sent to an embedder: typed for it, else at hand. Raises ConsentError."""
        if choice is None or choice.kind not in (EmbedderKind.LITELLM, EmbedderKind.HTTP):
            return None
        if choice.kind is EmbedderKind.HTTP:
            destination = Destination(str(choice.kind), choice.target)
            return self.keys_at([destination], {destination.provider: typed}).get(destination) if typed else None
        provider = choice.target.partition("/")[0]
        destination = Destination(provider, choice.base_url or None)
        return self.keys_at([destination], {provider: typed} if typed else {}).get(destination)

    def _decide(
        self, destination: Destination, given: Mapping[str, Secret]
    ) -> tuple[Secret | None, ConsentRequest | None]:
        """Return the key to send, or the question to ask first; neither where no key is sent.

        A key goes unasked to its provider's own origin, and where the user typed it or the environment sets it beside
        the address. To this machine a stored key is not sent, and nothing is asked: local servers need none. Providers
        that sign in by credentials of their own (Vertex, Bedrock, …) send these with every request, so each foreign
        address is asked about.
        """
        provider = destination.provider
        origin, beside = self._origin(destination)
        own = not origin or (origin in self._catalogue.own_origins(provider) and not is_loopback(origin))
        typed = given.get(provider) or self._keys.typed(provider, "" if own else origin)
        key, source = (typed, TYPED_KEY) if typed else self._stored(provider)
        signs_in = provider in SENDS_CREDENTIALS
        if own or (key is None and not signs_in):
            return key, None
        source = source or f"your {provider} credentials"
        request = key_request(
            provider,
            source,
            origin,
            self._consents.listed_in if destination.base_url else (),
            unencrypted=self._consents.is_unencrypted(origin),
        )
        if self._consents.declines(request):
            if signs_in:
                raise _needs_credentials(request)
            return None, None
        if self._consents.allows(request):
            return key, None
        if is_loopback(origin) and not (typed or beside or signs_in):
            return None, None
        together = self._consents.is_typed(provider, origin) or (typed and provider not in given)
        agreed = (together or beside) and not request.unencrypted
        return (key, None) if agreed else (None, request)

    def _origin(self, destination: Destination) -> tuple[str, bool]:
        """Return where a model is asked (empty: at the provider's own), and if the environment sets that address."""
        if destination.base_url:
            return required_origin(destination.base_url), False
        if set_address := self._keys.address(destination.provider):
            return required_origin(set_address), True
        local = (origin for origin in self._catalogue.own_origins(destination.provider) if is_loopback(origin))
        return next(local, ""), False

    def _stored(self, provider: str) -> tuple[Secret | None, str]:
        stored = self._keys.stored(provider)
        return (stored.secret, stored.source) if stored else (None, "")

    def _missing(self, provider: str) -> ModelError:
        variable = self.key_variable(provider)
        return ModelError(
            ModelFault.KEY_MISSING,
            f"There is no key for {provider}.",
            hint=f"Type it when you start the run, or set {variable}.",
            context={"provider": provider, "variable": variable},
        )


def _needs_credentials(request: ConsentRequest) -> InputError:
    """Return the error for credentials that were declined and are sent with every request."""
    return InputError(
        f"{request.subject} cannot be asked at {request.target} without {request.names[0]}.",
        hint="Allow it, or leave the address out.",
    )
