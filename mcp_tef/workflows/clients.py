"""Client profiles: those that are known, what a client does to tools, and what its search finds."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence, Set
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mcp_tef.errors import ChangedMeanwhileError, FieldConflict, InputError, NotFoundError
from mcp_tef.formats.cases.texts import parse_yaml, read_text, to_yaml, write_text
from mcp_tef.formats.definition_files import bundled_profiles, not_a_profile, profile_of, read_profile
from mcp_tef.model.cases import TestCase
from mcp_tef.model.clients import (
    CaseVisibility,
    ChangeKind,
    ClientCase,
    ClientChange,
    ClientCheck,
    ClientProfile,
    ClientView,
    SearchMethod,
    SearchRule,
)
from mcp_tef.model.json import Json
from mcp_tef.model.search import did_you_mean
from mcp_tef.model.similarity import EmbedderKind
from mcp_tef.model.tools import OfferedTool, Tool
from mcp_tef.model.transfer import ImportedItem
from mcp_tef.ports import Embedder, Embedders
from mcp_tef.prompts.selection_prompt import offer
from mcp_tef.scoring.client_view import WordSearch, best, presented, searched_text, shown_instructions
from mcp_tef.scoring.missing_tools import expected_tools
from mcp_tef.trust.field_changes import shown
from mcp_tef.trust.files import make_private_folder, unlink
from mcp_tef.trust.import_changes import imported_item, values_over
from mcp_tef.trust.name_keys import name_key, stored_name

_Scores = NDArray[np.float64]
_Search = Callable[[str], Awaitable[_Scores]]


def require_client_name(profile: ClientProfile) -> None:
    """Raise InputError for a name that cannot be that of a file."""
    if not profile.name.replace("-", "").isalnum() or not profile.name.isascii():
        raise InputError(f"A client profile cannot be named {profile.name}.", hint="Use letters, digits and hyphens.")


class Clients:
    """The bundled profiles and the user's own, which lie in `folder`."""

    def __init__(self, folder: Path, embedders: Embedders) -> None:
        self._folder = folder
        self._embedders = embedders

    def profiles(self) -> tuple[ClientProfile, ...]:
        """Return every profile; one of the user's takes the place of a bundled one with its name."""
        own = map(read_profile, self._files())
        known = {name_key(profile.name): profile for profile in (*bundled_profiles(), *own)}
        return tuple(known.values())

    def _files(self) -> list[Path]:
        return sorted(self._folder.glob("*.yaml")) if self._folder.is_dir() else []

    def documents(self) -> list[Json]:
        """Return the profiles of the user as they are written; InputError for a damaged file."""
        return [parse_yaml(read_text(file), file.name) for file in self._files()]

    def find(self, name: str) -> ClientProfile:
        """Return a profile by name or by the label that runs record; NotFoundError names the nearest."""
        wanted, _, version = name.partition("@")
        known = {profile.name: profile for profile in self.profiles()}
        stored = stored_name(wanted, known)
        if stored is None:
            hint = did_you_mean(wanted, known, "List them with: mcp-tef clients list")
            raise NotFoundError(f"There is no client profile named {wanted}.", hint=hint)
        profile = known[stored]
        if version and version != str(profile.version):
            message = f"The client profile {wanted} is known in version {profile.version}, and not in {version}."
            raise NotFoundError(message, hint="Start a new batch with the profile of today.")
        return profile

    def shown_by(self, name: str) -> bool:
        """Return True if a client shows the instructions of servers to the model; without a name there is none."""
        return bool(name) and self.find(name).uses_instructions

    def preview(self, file: Path) -> tuple[ImportedItem, ClientProfile, str]:
        """Return what keeping a file's profile would do, the whole profile and its text; InputError."""
        text = read_text(file)
        document = parse_yaml(text, file.name)
        if not isinstance(document, Mapping):
            raise not_a_profile(file.name)
        item, whole, merged = self.incoming(document, file.name)
        return item, whole, text if merged == to_yaml(document) else merged

    def incoming(self, given: Mapping[str, Json], source: str) -> tuple[ImportedItem, ClientProfile, str]:
        """Return the fate of a profile in a file, and the whole of it: fields that it does not name stay as they are.

        InputError for a profile that is not sound, or whose name is unusable.
        """
        name = str(given.get("name"))
        before = self._document_of(name)
        document = values_over(before, {**given, **({"name": before["name"]} if before else {})})
        profile = profile_of(document, source)
        require_client_name(profile)
        return imported_item("client profile", profile.name, before, document, edited=True), profile, to_yaml(document)

    def _document_of(self, name: str) -> Mapping[str, Json] | None:
        """Return the user's own profile of a name as it is written."""
        documents = [one for one in self.documents() if isinstance(one, Mapping)]
        return next((one for one in documents if name_key(str(one.get("name"))) == name_key(name)), None)

    def keep(self, profile: ClientProfile, text: str) -> str:
        """Keep the text of a profile, in the place of one of its name, and return that one's text, or "".

        InputError for an unusable name.
        """
        require_client_name(profile)
        make_private_folder(self._folder)
        file = self._file_of(profile.name)
        before = read_text(file) if file else ""
        write_text(file or self._folder / f"{profile.name}.yaml", text)
        return before

    def put_back(self, name: str, text: str, *, seen: str) -> None:
        """Undo `keep`; ChangedMeanwhileError where another text than was seen is kept by now."""
        file = self._file_of(name)
        now = read_text(file) if file else ""
        if file is None or now != seen:
            raise ChangedMeanwhileError(
                f"the client profile “{name}”", [FieldConflict("text", shown(now), shown(text))]
            )
        if text:
            write_text(file, text)
        else:
            unlink(file)

    def _file_of(self, name: str) -> Path | None:
        """Return the file of the user's own profile of a name."""
        files = {read_profile(file).name: file for file in self._files()}
        stored = stored_name(name, files)
        return files[stored] if stored else None

    async def check(
        self, profile: ClientProfile, tools: Sequence[Tool], cases: Sequence[TestCase] = (), model: str = ""
    ) -> ClientCheck:
        """Return what a client does to tools, and which expected tools its search shows for the cases' queries.

        Every case is searched over all the tools. Cases that expect none of them do not count.
        """
        asked = [(case, expected) for case in cases if (expected := expected_tools(case.draft.expectation, tools))]
        search = await self.search(profile, offer(tools), model)
        found = [_case(search, case, expected, await search.shown(case.draft.query)) for case, expected in asked]
        return ClientCheck(view=search.view, tools=len(tools), cases=tuple(found), by=search.by)

    async def search(self, profile: ClientProfile, offered: Sequence[OfferedTool], model: str = "") -> "ClientSearch":
        """Return the tools as a client shows them, ready to be searched."""
        view = await asyncio.to_thread(presented, profile, offered, model)
        rule = profile.search
        if rule is None:
            return ClientSearch(view, None, "")
        if rule.method is not SearchMethod.EMBEDDINGS:
            words = await asyncio.to_thread(WordSearch, rule, view.shown)
            return ClientSearch(view, partial(_found_by_words, words), rule.method)
        embedder = await self._embedders.best()
        return ClientSearch(view, await _by_meaning(embedder, rule, view.shown), _reading(embedder))


_CUTS = (ChangeKind.DESCRIPTION_CUT, ChangeKind.PARAMETERS_CUT)


def _case(
    search: "ClientSearch", case: TestCase, expected: Set[tuple[str, str]], shown: Sequence[OfferedTool]
) -> ClientCase:
    """Return what a client does to the tool that a case expects; one whole tool of several is enough."""
    made = partial(ClientCase, case_id=case.id, case_name=case.name)
    seen = expected & set(map(_key, shown))
    if not seen:
        left_out = any(search.view.reason(*one) for one in expected)
        visibility = CaseVisibility.LEFT_OUT if left_out else CaseVisibility.NOT_FOUND
        return made(visibility=visibility, reason=search.why_missing(expected))
    cuts = [one for one in search.view.changes if one.kind in _CUTS and _key(one) in seen]
    if set(map(_key, cuts)) != seen:
        return made(visibility=CaseVisibility.SHOWN)
    return made(visibility=CaseVisibility.CUT, reason=cuts[0].sentence, lost=cuts[0].lost)


def _key(one: OfferedTool | ClientChange) -> tuple[str, str]:
    return one.tool.server, one.tool.name


async def _found_by_words(words: WordSearch, query: str) -> _Scores:
    return await asyncio.to_thread(words.scores, query)


async def _by_meaning(embedder: Embedder, rule: SearchRule, shown: Sequence[OfferedTool]) -> _Search:
    texts = [searched_text(one.tool, rule.reads) for one in shown]
    together = embedder.name == EmbedderKind.TFIDF  # its vectors are only comparable within one call
    vectors = None if together or not texts else await embedder.embed(texts)

    async def compared(query: str) -> _Scores:
        if not texts:
            return np.zeros(0)
        both = await embedder.embed([*texts, query] if vectors is None else [query])
        known = both[:-1] if vectors is None else vectors
        return np.asarray(known @ both[-1], dtype=np.float64)

    return compared


def _reading(embedder: Embedder) -> str:
    return "words (TF-IDF)" if embedder.name == EmbedderKind.TFIDF else f"meaning ({embedder.name})"


class ClientSearch:
    """Tools as one client shows them; `by` says what its search reads, "" where it shows all."""

    def __init__(self, view: ClientView, scores: _Search | None, by: str) -> None:
        self.view = view
        self.by = by
        self._scores = scores

    async def shown(self, query: str) -> tuple[OfferedTool, ...]:
        """Return the tools that the model sees for a request: all, or those that the search finds, best first."""
        rule = self.view.profile.search
        if self._scores is None or rule is None:
            return self.view.shown
        return tuple(self.view.shown[place] for place in best(await self._scores(query), rule.results))

    def instructions(self, given: Mapping[str, str]) -> str:
        """Return what the client tells the model of the instructions of servers, by name."""
        return shown_instructions(self.view.profile, given)

    def why_missing(self, expected: Iterable[tuple[str, str]]) -> str:
        """Return why none of these tools, by server and name, is shown."""
        reasons = list(filter(None, (self.view.reason(*one) for one in expected)))
        rule = self.view.profile.search
        if reasons or rule is None:
            return reasons[0] if reasons else f"{self.view.profile.title} does not show it."
        return f"It is not among the {rule.results} tools that the search of {self.view.profile.title} finds."
