"""Download of a fastembed model, file by file, into a folder that appears only when it is complete.

Each file is pinned: by the commit that it is fetched from, its size and its SHA-256. A model without pins is refused.

`huggingface_hub.snapshot_download` would not do: it checks no content against its hash (huggingface_hub#3643, #2364),
an interrupted download can pass for a whole one (#3371), and it runs in threads that cannot be cancelled.
"""

import hashlib
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final
from urllib.parse import quote, urlsplit

import httpx

from mcp_tef.embedding.local_embedder import HOW_TO_HAVE_ONE, load_fastembed
from mcp_tef.errors import EmbeddingError
from mcp_tef.model.addresses import is_loopback
from mcp_tef.ports import Progress
from mcp_tef.provider_http.checked_client import checked_client
from mcp_tef.trust.addresses import UnexpectedAddressError
from mcp_tef.trust.files import make_private_folder, remove_folder, rename, replaced_file

USUAL_HUB = "https://huggingface.co"
HUB_VARIABLE = "HF_ENDPOINT"
SILENT_SECONDS = 30.0
CHUNK_BYTES = 1024 * 1024
_UNCOMPRESSED = {"Accept-Encoding": "identity"}

_UNFINISHED = ".unfinished-"
_HINT = "Try again later, or give the folder of a model that you have (folder:DIR)."


@dataclass(frozen=True, slots=True)
class HubModel:
    """A model that fastembed knows: its name, and the repository that holds it."""

    name: str
    repository: str


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """Pin of one file of a model: its size in bytes and its SHA-256."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class PinnedModel:
    """The commit of a repository whose files were checked, and these files by path."""

    commit: str
    files: Mapping[str, PinnedFile]


PINNED: Final[Mapping[str, PinnedModel]] = MappingProxyType({})
"""The models that may be fetched, by fastembed's name. There is none: only files that were fetched and read can be
pinned, and no hub could be reached where this was written. A folder, and the bundled model, need no hub."""


def known_model(name: str) -> HubModel:
    """Return the model of that name, however its letters are cased; EmbeddingError where fastembed has none."""
    for found in load_fastembed().list_supported_models():
        if found["model"].lower() == name.lower() and found["sources"]["hf"]:
            return HubModel(found["model"], found["sources"]["hf"])
    raise EmbeddingError(
        f"fastembed has no model called {name}.",
        hint="Select one that it has, such as BAAI/bge-small-en-v1.5, or give a folder (folder:DIR).",
        context={"model": name},
    )


class ModelDownload:
    """One fetch from a hub. Cancelling or failing leaves nothing behind; a model that was there before stays."""

    def __init__(
        self,
        hub: str,
        model: HubModel,
        progress: Progress,
        *,
        patience: float = SILENT_SECONDS,
        pins: Mapping[str, PinnedModel] = PINNED,
    ) -> None:
        self._pinned = pins.get(model.name)
        self._hub = hub.rstrip("/")
        self._patience = patience
        self._model = model
        self._progress = progress
        self._done = 0.0

    async def into(self, home: Path) -> None:
        """Put the model's files into `home`; EmbeddingError where the hub does not give them as they are pinned."""
        if self._pinned is None:
            raise self._failed("mcp-tef has no hashes to check its files by", HOW_TO_HAVE_ONE)
        if urlsplit(self._hub).scheme != "https" and not is_loopback(self._hub):
            raise self._failed(f"{self._host} is not asked over https, so anybody on the way could change the model")
        work = home.with_name(f"{_UNFINISHED}{uuid.uuid4().hex}")
        try:
            await self._fetch(work, self._pinned)
            _replace(work, home)
        except OSError as error:
            raise self._failed(f"the disk refuses it ({error.strerror or type(error).__name__})") from error
        finally:
            remove_folder(work)

    async def _fetch(self, work: Path, pinned: PinnedModel) -> None:
        outcome = await self._exchange(work, pinned)
        if outcome:
            raise self._failed(outcome)

    async def _exchange(self, work: Path, pinned: PinnedModel) -> str:
        """Fetch everything; why not, where that fails."""
        try:
            async with checked_client(
                timeout=self._patience, follow_redirects=True, max_redirects=5, headers=_UNCOMPRESSED
            ) as client:
                total = max(1, sum(file.size for file in pinned.files.values()))
                for path, file in pinned.files.items():
                    address = f"{self._hub}/{self._model.repository}/resolve/{pinned.commit}/{quote(path)}"
                    await self._save(client, address, file, work / path, total)
        except UnexpectedAddressError as error:
            return error.message.rstrip(".")
        except httpx.TimeoutException:
            return f"{self._host} said nothing for {self._patience:g} seconds"
        except httpx.HTTPStatusError as error:
            return f"{self._host} answered with HTTP {error.response.status_code}"
        except (httpx.HTTPError, httpx.InvalidURL):
            return f"{self._host} cannot be reached"
        return ""

    async def _save(self, client: httpx.AsyncClient, address: str, file: PinnedFile, target: Path, total: int) -> None:
        digest, size = hashlib.sha256(), 0
        async with client.stream("GET", address) as answer:
            answer.raise_for_status()
            make_private_folder(target.parent)
            with replaced_file(target) as out:
                async for chunk in answer.aiter_raw(CHUNK_BYTES):
                    size += len(chunk)
                    if size > file.size:
                        break
                    digest.update(chunk)
                    out.write(chunk)
                    self._tell(len(chunk) / total)
        if size != file.size or file.sha256 != digest.hexdigest():
            raise self._failed(f"{target.name} is not the file that mcp-tef knows by its hash")

    def _tell(self, share: float) -> None:
        """Say how much is done, by whole hundredths."""
        before, self._done = self._done, self._done + share
        if int(before * 100) != int(self._done * 100):
            self._progress(min(1.0, self._done))

    @property
    def _host(self) -> str:
        return urlsplit(self._hub).netloc.rpartition("@")[2] or self._hub

    def _failed(self, reason: str, hint: str = _HINT) -> EmbeddingError:
        name = self._model.name
        message = f"The embedding model {name} could not be fetched: {reason}."
        return EmbeddingError(message, hint=hint, context={"model": name})


def _replace(work: Path, home: Path) -> None:
    """Put the finished folder where the old one was, if there was one."""
    old = work.with_name(f"{work.name}-old")
    if home.exists():
        rename(home, old)
    rename(work, home)
    remove_folder(old)
