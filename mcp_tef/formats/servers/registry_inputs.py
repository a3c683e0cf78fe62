"""The values of the registry's `server.json`: given, with a default, or to be set by the user as a variable."""

import re
from collections.abc import Iterator, Mapping

from mcp_tef.formats.servers.fields import plain_text
from mcp_tef.model.json import Json
from mcp_tef.model.references import variable_name

MAX_VARIABLES = 100
"""Places in one value that are filled in, so that a small file cannot unfold into a huge one."""

_TEMPLATE = re.compile(r"(?<!\$)\{([A-Za-z0-9_.-]{1,100})\}")


def field(value: Mapping[str, Json], *names: str) -> Json:
    """The first of these fields that is there: the current name, then older ones."""
    return next((value[name] for name in names if value.get(name) is not None), None)


def listed(value: Mapping[str, Json], *names: str) -> list[Mapping[str, Json]]:
    """The mappings in a list."""
    items = field(value, *names)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


class Inputs:
    """Fills in what is known, and writes `${NAME}` with a remark for what the user must set."""

    def __init__(self, server: str) -> None:
        self.notes: list[str] = []
        self._server = server

    def named_values(self, items: list[Mapping[str, Json]], *, own: bool = False) -> dict[str, str]:
        """Variables of the program, or headers; optional ones without a value are only mentioned."""
        found: dict[str, str] = {}
        for item in items:
            name = plain_text(field(item, "name") or "", "a name")
            value = self._value(item, name, name if own else None)
            if value is not None:
                found[name] = value
        return found

    def arguments(self, items: list[Mapping[str, Json]]) -> list[str]:
        """Arguments in order; a named one gives its name and then its value."""
        return [argument for item in items for argument in self._argument(item)]

    def filled(self, item: Mapping[str, Json], text: Json) -> str:
        """A text with each `{variable}` that the item explains filled in."""
        variables = item.get("variables")
        known = variables if isinstance(variables, dict) else {}

        def value(found: re.Match[str]) -> str:
            about = known.get(found[1])
            return self._value(about, found[1], needed=True) or "" if isinstance(about, dict) else found[0]

        return _TEMPLATE.sub(value, plain_text(text or "", "a value"), count=MAX_VARIABLES)

    def _argument(self, item: Mapping[str, Json]) -> Iterator[str]:
        name = plain_text(field(item, "name") or "", "a name")
        if item.get("type") != "named":
            value = self._value(item, str(field(item, "valueHint", "value_hint") or name or "argument"))
            yield from [value] if value is not None else []
        elif field(item, "value", "default") is None and not _required(item):
            self._mention(item, name, "It can take the argument")
        else:
            value = self._value(item, name)
            yield from [name, value] if value else [name]

    def _value(
        self, item: Mapping[str, Json], name: str, variable: str | None = None, *, needed: bool = False
    ) -> str | None:
        given = field(item, "value", "default")
        if given is not None and given != "":
            return plain_text(given, "a value") if needed else self.filled(item, given)
        if not (needed or _required(item)):
            self._mention(item, name, "It can take")
            return None
        variable = variable or variable_name(f"{self._server}_{name}")
        self._mention(item, variable, "Set the environment variable")
        return f"${{{variable}}}"

    def _mention(self, item: Mapping[str, Json], name: str, words: str) -> None:
        about = item.get("description")
        why = f": {' '.join(about.split())[:200]}" if isinstance(about, str) and about.strip() else ""
        self.notes.append(f"{words} {name}{why}".rstrip(".") + ".")


def _required(item: Mapping[str, Json]) -> bool:
    return bool(field(item, "isRequired", "is_required"))
