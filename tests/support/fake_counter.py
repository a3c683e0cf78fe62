"""A token counter that needs no vocabulary."""

from collections.abc import Sequence


class FourCharactersEach:
    """Four characters are one token."""

    name = "four characters each"

    def count(self, texts: Sequence[str]) -> tuple[int, ...]:
        """A quarter of each length."""
        return tuple(len(text) // 4 for text in texts)
