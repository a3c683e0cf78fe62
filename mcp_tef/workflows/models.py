"""Models that can be called, and the keys that may be sent to them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from mcp_tef.errors import InputError, ModelError, ModelFault, NotFoundError
from mcp_tef.model.addresses import SENDS_CREDENTIALS, Destination, is_custom, is_loopback, required_origin
from mcp_tef.model.config import Config, CurrentConfig
from mcp_tef.model.json import fingerprint
from mcp_tef.model.model_catalogue import ModelInfo
from mcp_tef.model.model_groups import Deployment
from mcp_tef.model.runs import ModelSettings
from mcp_tef.model.search import did_you_mean
from mcp_tef.model.secrets import Secret
from mcp_tef.model.similarity import EmbedderChoice, EmbedderKind
from mcp_tef.ports import KeySource, ModelCatalogue
from mcp_tef.trust.addresses import place_of
from mcp_tef.trust.consents import TYPED_KEY, ConsentError, ConsentKind, ConsentRequest, key_request
from mcp_tef.workflows.consent import Consents

Keys: TypeAlias = Mapping[Destination, Secret]


@dataclass(frozen=True, slots=True, kw_only=True)
class _FoundKey:
    """The key for a destination, where it comes from, and the facts that decide if it may be sent there.

    `set_address`: the environment sets the address. `typed_together`: the user typed key and address together.
    `signs_in`: the provider sends credentials of its own.
    """

    key: Secret | None
    source: str
    origin: str
    place: str
    own_origin: bool
    set_address: bool
    typed: bool
    typed_together: bool
    signs_in: bool

    @property
    def is_keyless(self) -> bool:
        """True if there is no key to send."""
        return self.key is None and not self.signs_in

    @property
    def is_unneeded(self) -> bool:
        """True for a stored key and a server on this machine."""
        return is_loopback(self.origin) and not (self.typed or self.set_address or self.signs_in)

    @property
    def is_intended(self) -> bool:
        """True if the user or the environment gave key and address together."""
        return self.typed_together or self.set_address

    def require_no_credentials(self, request: ConsentRequest) -> None:
        """Raise InputError for declined credentials that the provider sends with every request."""
        if self.signs_in:
            raise InputError(
                f"{request.subject} cannot be asked at {request.target} without {request.names[0]}.",
                hint="Allow it, or leave the address out.",
            )


class Models:
    """The catalogue of models, and the rule by which a key belongs to a provider and an origin."""

    def __init__(
        self, catalogue: ModelCatalogue, keys: KeySource, consents: Consents, config: Config | CurrentConfig
    ) -> None:
        self._catalogue = catalogue
        self._keys = keys
        self._consents = consents
        self._config = config

    @property
    def default(self) -> ModelSettings:
        """The model that is used where none is named."""
        return self._config.default_model

    async def catalogue(self) -> tuple[ModelInfo, ...]:
        """Return every known model; the offline baseline first."""
        return await self._catalogue.models()

    async def info(self, settings: ModelSettings) -> ModelInfo | None:
        """Return the catalogue entry of one model; None where it is unknown.

        Its prices are those that the user gave, if any. At a custom address the catalogue's do not hold.
        """
        found = await self._catalogue.find(settings)
        address = settings.base_url or self._keys.address(settings.provider)
        prices = settings.token_prices
        if prices is None and not is_custom(settings.provider, address):
            return found
        known = found or ModelInfo(provider=settings.provider, model=settings.model)
        price_in, price_out = prices or (None, None)
        return replace(known, input_price=price_in, output_price=price_out)

    async def entry(self, settings: ModelSettings) -> ModelInfo:
        """Return the catalogue entry of one model; NotFoundError names the nearest."""
        found = await self._catalogue.find(settings)
        if found is None:
            known = [info.label for info in await self.catalogue()]
            hint = did_you_mean(settings.label, known, "Look for it with: mcp-tef models list TEXT")
            raise NotFoundError(f"The catalogue does not know {settings.label}.", hint=hint)
        return found

    async def served(self, settings: ModelSettings, typed: Secret | None = None) -> tuple[str, ...]:
        """Return the names that the server at the settings' address lists; a key that may not go there stays here.

        Raises ModelError.
        """
        destination = settings.destination
        try:
            keys = self.keys_at([destination], {settings.provider: typed} if typed else {})
        except ConsentError:
            keys = {}
        return await self._catalogue.served(settings.base_url or "", keys.get(destination))

    def with_key(self, providers: Iterable[str]) -> frozenset[str]:
        """Return those providers whose key is at hand, in the environment or typed."""
        return frozenset(provider for provider in providers if self._keys.is_at_hand(provider))

    def own_origins(self, provider: str) -> frozenset[str]:
        """Return the origins that belong to a provider."""
        return self._catalogue.own_origins(provider)

    def key_variable(self, provider: str) -> str:
        """Return the environment variable that would hold the provider's key."""
        return self._catalogue.key_variable(provider)

    def needs_key(self, settings: ModelSettings) -> bool:
        """Return True if a run would fail because a key is missing, and not since its provider is unknown."""
        known = self._is_known(settings.provider, settings.base_url)
        needed = known and self._catalogue.asks_for_key(settings)
        return needed and not self._decide(settings.destination, {})[0]

    def is_usual_address(self, settings: ModelSettings) -> bool:
        """Return True if the model is asked where its provider is by itself, whose key the keychain may hold."""
        return not self._place(settings.destination)

    def is_local(self, settings: ModelSettings) -> bool:
        """Return True for a model on this machine, which costs nothing."""
        return settings.offline or is_loopback(self._origin(settings.destination)[0])

    def address_requests(self, models: Iterable[ModelSettings], listed_in: Sequence[str]) -> list[ConsentRequest]:
        """Return the question about each address of models that somebody else named, whether a key goes there or not.

        Prompts and tools are sent there, this machine included. InputError for what is no address.
        """
        asked = {model.destination: required_origin(model.base_url) for model in models if model.base_url}
        found = (self._address_request(one, origin, listed_in) for one, origin in asked.items())
        return list({request.fingerprint: request for request in found}.values())

    def _address_request(self, destination: Destination, origin: str, listed_in: Sequence[str]) -> ConsentRequest:
        return ConsentRequest(
            kind=ConsentKind.CONNECTION,
            subject=f"models of {destination.provider}",
            fingerprint=fingerprint({"models at": origin}),
            target=origin,
            listed_in=tuple(listed_in),
            unencrypted=self._consents.is_unencrypted(origin),
        )

    def keys_for(self, models: Sequence[ModelSettings], given: Mapping[str, Secret]) -> Keys:
        """Return the key of each destination: given for this batch by provider or `provider@origin`, else at hand.

        Raises:
            NotFoundError: a provider is unknown, and nothing says where it is.
            ConsentError: a key would go to an origin that is not the provider's own and not allowed.
            ModelError: a cloud provider has no key.
        """
        asked = [model for model in models if not model.offline]
        for model in asked:
            self.require_known(model.provider, model.base_url)
        found = self.keys_at([model.destination for model in asked], given)
        for model in asked:
            if model.destination not in found and self._catalogue.asks_for_key(model):
                raise self._missing(model.destination)
        return found

    def given_for(
        self, part: Sequence[Destination], asked: Sequence[Destination], given: Mapping[str, Secret]
    ) -> Mapping[str, Secret]:
        """Return the given keys that are meant for a part of what is asked.

        A key given by the name of a provider alone is for one address: of several, the one where the provider is asked
        if no address is named. Raises InputError where there is none.
        """
        meant = {one.provider for one in part if self._meets_bare_key(one, asked, given)}
        unmeant = {one.provider for one in part} - meant
        return {name: key for name, key in given.items() if name not in unmeant}

    def _meets_bare_key(
        self, destination: Destination, asked: Sequence[Destination], given: Mapping[str, Secret]
    ) -> bool:
        """Return True if a key given by the provider's name alone is for this destination; an own key wins later."""
        if destination.provider not in given:
            return False
        same = [one for one in asked if one.provider == destination.provider and not self._own_key(one, given)]
        places = {self._place(one) for one in same}
        if len(places) < 2:
            return True
        usual = places & {"", *(self._place(one) for one in same if not one.base_url)}
        if len(usual) != 1:
            raise _ambiguous(destination.provider, sorted(places))
        return self._place(destination) in usual

    def require_known(self, provider: str, address: str | None) -> None:
        """Raise NotFoundError for a provider that is unknown where nothing says where it is."""
        if not self._is_known(provider, address):
            raise self._unknown(provider)

    def require_meant(self, models: Sequence[ModelSettings], given: Mapping[str, Secret]) -> None:
        """Raise InputError for a given key that is for none of these models, with the nearest name."""
        asked = [model.destination for model in models if not model.offline]
        names = {name for one in asked for name in (one.provider, *self._exact_names(one))}
        if unknown := next((name for name in given if name not in names), None):
            hint = did_you_mean(unknown, names, f"Asked are {', '.join(sorted({one.provider for one in asked}))}.")
            raise InputError(f"No model of {unknown} is asked, so its key has no use.", hint=hint)

    async def deployment_info(self, deployment: Deployment) -> ModelInfo | None:
        """Return the catalogue entry of a deployment, without prices at an address of its own."""
        place = deployment.provider, deployment.model, deployment.base_url
        return await self.info(ModelSettings(provider=place[0], model=place[1], base_url=place[2]))

    def keys_at(self, destinations: Iterable[Destination], given: Mapping[str, Secret]) -> Keys:
        """Return the keys that may be sent to some destinations; none where there is none. Raises ConsentError."""
        asked = tuple(destinations)
        decided = {one: self._decide(one, self.given_for((one,), asked, given)) for one in asked}
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

    def stored_embedder_key(self, choice: EmbedderChoice | None) -> Secret | None:
        """Return the key for an embedder that a workspace names; ConsentError before its address is contacted."""
        self._consents.require_folder(choice, "the router")
        key = self.embedder_key(choice)
        address = None if choice is None else choice.base_url
        if choice is not None and choice.kind is EmbedderKind.HTTP:
            address = choice.target
        if choice is not None and address:
            provider = str(choice.kind) if choice.kind is EmbedderKind.HTTP else choice.target.partition("/")[0]
            if requests := self.contacts([Destination(provider, address)], {}):
                raise ConsentError.of(requests)
        return key

    def _decide(
        self, destination: Destination, given: Mapping[str, Secret]
    ) -> tuple[Secret | None, ConsentRequest | None]:
        """Return the key to send, or the question to ask first; neither where no key is sent.

        A key goes unasked to its provider's own origin, and where the user typed it or the environment sets it beside
        the address. To this machine a stored key is not sent, and nothing is asked: local servers need none. Providers
        that sign in by credentials of their own (Vertex, Bedrock, …) send these with every request, so each foreign
        address is asked about.
        """
        found = self._found_key(destination, given)
        if found.own_origin:
            return found.key, None
        if found.is_keyless:
            return None, None
        request = self._key_question(destination, found)
        if self._consents.declines(request):
            found.require_no_credentials(request)
            return None, None
        if self._consents.allows(request):
            return found.key, None
        if found.is_unneeded:
            return None, None
        return (found.key, None) if found.is_intended and not request.unencrypted else (None, request)

    def _key_question(self, destination: Destination, found: _FoundKey) -> ConsentRequest:
        return key_request(
            destination.provider,
            found.source or f"your {destination.provider} credentials",
            found.place,
            self._consents.listed_in if destination.base_url else (),
            unencrypted=self._consents.is_unencrypted(found.origin),
        )

    def contacts(self, stored: Iterable[Destination], given: Mapping[str, Secret]) -> tuple[ConsentRequest, ...]:
        """Return the questions to ask before stored addresses are contacted, with a key or without, each once.

        Nothing is asked about a provider's own address, one of the environment, and one that a key may go to.
        """
        asked = tuple(dict.fromkeys(stored))
        found = [self._contact(one, self.given_for((one,), asked, given)) for one in asked]
        return tuple({request.fingerprint: request for request in found if request}.values())

    def _contact(self, destination: Destination, given: Mapping[str, Secret]) -> ConsentRequest | None:
        found = self._found_key(destination, given)
        key, question = self._decide(destination, given)
        if found.own_origin or found.set_address or question or (key and not found.is_keyless):
            return None
        if not found.is_keyless and self._consents.declines(self._key_question(destination, found)):
            return None  # who chose to run without a key was shown this address
        own = found.origin in self._catalogue.own_origins(destination.provider)
        return None if own else self._consents.may_contact(found.place, destination.provider)

    def _found_key(self, destination: Destination, given: Mapping[str, Secret]) -> "_FoundKey":
        provider = destination.provider
        origin, set_address = self._origin(destination)
        place = place_of(destination.base_url) if destination.base_url else origin
        own = not self._place(destination)
        typed, together = self._typed(destination, given)
        key, source = (typed, TYPED_KEY) if typed else self._stored(provider)
        return _FoundKey(
            key=key,
            source=source,
            origin=origin,
            place=place,
            own_origin=own,
            set_address=set_address,
            typed=bool(typed),
            typed_together=together or self._consents.is_typed(provider, place),
            signs_in=provider in SENDS_CREDENTIALS,
        )

    def _typed(self, destination: Destination, given: Mapping[str, Secret]) -> tuple[Secret | None, bool]:
        """Return the key that was typed for a destination, and if it was typed together with the address."""
        if key := self._own_key(destination, given):
            return key, True
        if key := given.get(destination.provider):
            return key, False
        kept = None if self._place(destination) else self._keys.typed(destination.provider, "")
        return kept, bool(kept)

    def _own_key(self, destination: Destination, given: Mapping[str, Secret]) -> Secret | None:
        """Return the key that was given for this very address, else the one kept for it if it is a foreign one."""
        exact = next((given[name] for name in self._exact_names(destination) if name in given), None)
        place = self._place(destination)
        return exact or (self._keys.typed(destination.provider, place) if place else None)

    def _exact_names(self, destination: Destination) -> tuple[str, ...]:
        """Return the names under which a key is given for this address alone, `PROVIDER@` for the provider's own."""
        provider, place = destination.provider, self._place(destination)
        origins = (place,) if place else ("", *sorted(self._catalogue.own_origins(provider)))
        return tuple(f"{provider}@{origin}" for origin in origins)

    def _place(self, destination: Destination) -> str:
        """Return the origin where a model is asked; empty for every address that is the provider's own."""
        origin = self._origin(destination)[0]
        own = origin in self._catalogue.own_origins(destination.provider) and not is_loopback(origin)
        return "" if own else origin

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

    def _is_known(self, provider: str, address: str | None) -> bool:
        return bool(address or self._keys.address(provider)) or provider in self._catalogue.providers()

    def _unknown(self, provider: str) -> NotFoundError:
        otherwise = "Select one from the catalogue, or give the base URL of an OpenAI-compatible server."
        hint = did_you_mean(provider, self._catalogue.providers(), otherwise)
        return NotFoundError(f"There is no provider called {provider}.", hint=hint)

    def _missing(self, destination: Destination) -> ModelError:
        provider, place = destination.provider, self._place(destination)
        variable = self.key_variable(provider)
        return ModelError(
            ModelFault.KEY_MISSING,
            f"There is no key for {provider}{f' at {place}' if place else ''}.",
            hint=f"Give it for this run, or set {variable}.",
            context={"provider": provider, "variable": variable, "given_as": f"{provider}@{place}"},
        )


def _ambiguous(provider: str, places: Sequence[str]) -> InputError:
    shown = [place or "its own address" for place in places]
    return InputError(
        f"The key for {provider} could go to {', '.join(shown[:-1])} or {shown[-1]}.",
        hint=f"Give the key of each address as {provider}@ADDRESS.",
        code="bad_key",
    )
