"""The rule by which every search field of the window finds texts."""


def matches_all_words(text: str, query: str) -> bool:
    """Return True if each word of the query occurs in the text, in any order and case; an empty query matches."""
    folded = text.casefold()
    return all(word in folded for word in query.casefold().split())
