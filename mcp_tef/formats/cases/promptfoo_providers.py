"""Providers of a promptfoo configuration: the tools that they list, and models that mcp-tef can ask instead."""

from collections.abc import Iterator, Mapping

from mcp_tef.errors import InputError
from mcp_tef.formats.cases.files_beside import SCHEME, FilesBeside
from mcp_tef.model.json import Json

_SAME_PROVIDERS = {"openai", "anthropic", "ollama", "mistral", "groq", "deepseek", "openrouter", "google"}
_CALL_KINDS = {"chat", "messages", "responses", "completion"}


def tools_and_notes(
    shared: Mapping[str, Json], files: FilesBeside
) -> tuple[tuple[Mapping[str, Json], ...], tuple[str, ...]]:
    """Return the tools of the first provider that lists some, and notes on what is not taken over."""
    notes: list[str] = []
    listings: list[list[Mapping[str, Json]]] = []
    for name, config in _providers(shared.get("providers", shared.get("targets"))):
        notes += _notes(name, config)
        try:
            listings += filter(None, [_functions(config.get("tools"), files)])
        except InputError as error:
            notes.append(f"The tools of a provider are not taken over: {error.message}")
    if any(one != listings[0] for one in listings):
        notes.append("Not taken over: other tools of the other providers.")
    return tuple(map(_definition, next(iter(listings), ()))), tuple(dict.fromkeys(notes))


def _notes(name: str, config: Mapping[str, Json]) -> Iterator[str]:
    if name:
        yield f"Not taken over: the provider {name}.{_model_hint(name)}"
    if keys := [key for key in config if key != "tools"]:
        yield f"Not taken over: settings of a provider ({', '.join(keys)})."


def _providers(providers: Json) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """Yield the name and the settings of each provider; the key of an object may be its name."""
    for provider in providers if isinstance(providers, list) else [providers]:
        match provider:
            case str():
                yield provider, {}
            case {"id": str() as name}:
                yield name, _mapping_or_nothing(provider.get("config"))
            case {"config": Mapping() as config}:
                yield "", config
            case Mapping():
                for name, settings in provider.items():
                    yield name, _mapping_or_nothing(_mapping_or_nothing(settings).get("config"))


def _mapping_or_nothing(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _model_hint(name: str) -> str:
    provider, *rest = name.split(":")
    if rest and rest[0] in _CALL_KINDS:
        rest = rest[1:]
    if provider not in _SAME_PROVIDERS or not rest:
        return ""
    return f" Ask it with --model {'gemini' if provider == 'google' else provider}/{':'.join(rest)}."


def _functions(tools: Json, files: FilesBeside) -> list[Mapping[str, Json]]:
    if isinstance(tools, str) and tools.startswith(SCHEME):
        tools = files.document(files.matching(tools)[0])
    listed = tools if isinstance(tools, list) else []
    functions = (one.get("function", one) for one in listed if isinstance(one, Mapping))
    return [one for one in functions if isinstance(one, Mapping) and isinstance(one.get("name"), str)]


def _definition(function: Mapping[str, Json]) -> Mapping[str, Json]:
    schema = function.get("parameters") or function.get("input_schema") or {"type": "object"}
    return {"name": function["name"], "description": str(function.get("description") or ""), "inputSchema": schema}
