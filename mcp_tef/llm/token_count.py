"""Token counts with a bundled vocabulary; nothing is downloaded."""

import hashlib
from binascii import a2b_base64
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiktoken import Encoding

VOCABULARY = "cl100k_base"
CHARACTERS_PER_TOKEN = 4
LONGEST_PART = 50_000
ESTIMATE = f"estimate, {CHARACTERS_PER_TOKEN} characters a token"

_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
_PIECES = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)


def bundled_folder() -> Path | None:
    """Return the vocabularies that come with litellm, which is not imported for that; None where it has none."""
    found = find_spec("litellm")
    if found is None or not found.submodule_search_locations:
        return None
    return Path(found.submodule_search_locations[0]) / "litellm_core_utils" / "tokenizers"


class BundledTokenCounter:
    """Counts by the vocabulary of GPT-4, which other models' counts are near to; by characters where it is missing.

    The vocabulary is read once for all counters, at the first count, in whichever thread counts.
    """

    _reading = Lock()

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or bundled_folder()

    @property
    def name(self) -> str:
        """`cl100k_base`, or an estimate that says so."""
        return VOCABULARY if self._ready() else ESTIMATE

    def count(self, texts: Sequence[str]) -> tuple[int, ...]:
        """Return tokens of each text, special tokens read as plain text."""
        encoding = self._ready()
        if encoding is None:
            return tuple(-(-len(text) // CHARACTERS_PER_TOKEN) for text in texts)
        return tuple(sum(len(encoding.encode_ordinary(part)) for part in _parts(text)) for text in texts)

    def _ready(self) -> "Encoding | None":
        with self._reading:
            return self._encoding

    @cached_property
    def _encoding(self) -> "Encoding | None":
        file = _vocabulary(self._folder) if self._folder else None
        return _encoding_of(file) if file else None


def _parts(text: str) -> Iterator[str]:
    """Return a text in parts of at most `LONGEST_PART`: the library breaks down over a million spaces in a row."""
    return (text[start : start + LONGEST_PART] for start in range(0, len(text), LONGEST_PART))


def _vocabulary(folder: Path) -> Path | None:
    """Return the file of the vocabulary, told by its content; None where no file holds it."""
    try:
        files = [file for file in sorted(folder.iterdir()) if file.is_file()]
        return next((file for file in files if hashlib.sha256(file.read_bytes()).hexdigest() == _SHA256), None)
    except OSError:
        return None


@cache
def _encoding_of(file: Path) -> "Encoding":
    """Return the encoding by a file that holds the vocabulary."""
    from tiktoken import Encoding

    pairs = (line.split() for line in file.read_bytes().splitlines())
    ranks = {a2b_base64(token): int(rank) for token, rank in pairs}
    return Encoding(VOCABULARY, pat_str=_PIECES, mergeable_ranks=ranks, special_tokens={})
