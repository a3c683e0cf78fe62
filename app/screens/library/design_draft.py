"""The design of a library tool while it is typed; knows no Qt."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from app.arguments.values import UnreadableError, dumps, is_json, loads
from app.screens.library.schema_text import EMPTY, SchemaText, compact, read_object
from mcp_tef import ExecutorKind, InputError, Json, JsonObject, ToolDesign

EXECUTORS: Final[Mapping[ExecutorKind, str]] = {
    ExecutorKind.ANSWER: "Fixed answer",
    ExecutorKind.PYTHON: "Python script",
    ExecutorKind.HTTP: "HTTP request",
    ExecutorKind.SHELL: "Program",
    ExecutorKind.MCP: "Tool of a server",
    ExecutorKind.SEARCH: "Web search",
}
CONFIGS: Final[Mapping[ExecutorKind, JsonObject]] = {
    ExecutorKind.ANSWER: {"answer": "Done."},
    ExecutorKind.PYTHON: {},
    ExecutorKind.HTTP: {"method": "GET", "url": "https://"},
    ExecutorKind.SHELL: {"argv": ["echo"]},
    ExecutorKind.MCP: {"server": "", "tool": ""},
    ExecutorKind.SEARCH: {"base_url": "http://127.0.0.1:8080"},
}
"""The config that a tool begins with when its executor is chosen."""
CONFIG_NOTES: Final[Mapping[ExecutorKind, str]] = {
    ExecutorKind.ANSWER: "Text or JSON, always the same but for the parameters: {name} stands for one.",
    ExecutorKind.PYTHON: "Runs in a Python process of its own, as you. It reads only the variables named here.",
    ExecutorKind.HTTP: "{name} stands for a parameter. The host is fixed: a redirect to another one is refused.",
    ExecutorKind.SHELL: "There is no shell: {name} stands for a parameter, and is never a command.",
    ExecutorKind.MCP: "Calls one tool of a registered server, with the same arguments unless others stand here.",
    ExecutorKind.SEARCH: "Searches the web by a search tool of yours, or by a SearXNG service at an address.",
}


class SettingForm(Enum):
    """Form in which a setting is typed: text, JSON or text, JSON alone, a number, words, or a line for each item."""

    TEXT = "text"
    ANY = "any"
    JSON = "json"
    NUMBER = "number"
    WORDS = "words"
    LINES = "lines"


_BETWEEN: Final[Mapping[SettingForm, str]] = {SettingForm.WORDS: ", ", SettingForm.LINES: "\n"}


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of an executor; `hint` is its placeholder. A `needed` one is kept while empty."""

    key: str
    title: str
    form: SettingForm = SettingForm.TEXT
    hint: str = ""
    needed: bool = False

    @property
    def is_long(self) -> bool:
        """True if it needs a separate line."""
        return self.form in (SettingForm.ANY, SettingForm.LINES) or self.key in ("url", "base_url")

    def show(self, config: JsonObject) -> str:
        """Return the setting as its field shows it; `read` reads it back."""
        value = config.get(self.key)
        between = _BETWEEN.get(self.form)
        if between and isinstance(value, list | tuple):
            texts = [compact(one) for one in value]
            joined = between.join(texts)
            return joined if self.read(joined) == list(value) else dumps(list(value))
        return compact(value)

    def read(self, text: str) -> Json:
        """Return what a text means; one that does not fit stays a text, which no tool can be saved with."""
        if self.form is SettingForm.TEXT or (self.form is SettingForm.ANY and not text.lstrip().startswith(("{", "["))):
            return text
        if self.form in _BETWEEN and not text.startswith("["):
            parts = text.split(_BETWEEN[self.form].rstrip(" "))
            return [one.strip(" ") for one in parts if one.strip()]
        return loads(text) if is_json(text) else text


SECONDS: Final = Setting("seconds", "Seconds at most", SettingForm.NUMBER, "30")
PROCESS: Final = (
    Setting("env", "Variables", SettingForm.WORDS, "none"),
    Setting("memory_mb", "Megabytes at most", SettingForm.NUMBER, "512"),
    SECONDS,
)
SETTINGS: Final[Mapping[ExecutorKind, tuple[Setting, ...]]] = {
    ExecutorKind.ANSWER: (Setting("answer", "Answer", SettingForm.ANY, needed=True),),
    ExecutorKind.PYTHON: PROCESS,
    ExecutorKind.HTTP: (
        Setting("url", "Address", hint="https://example.com/items?q={query}", needed=True),
        Setting("method", "Method", hint="GET"),
        Setting("result", "Result as JSON Pointer", hint="all of it"),
        SECONDS,
        Setting("headers", "Headers as JSON", SettingForm.JSON, "none"),
        Setting("body", "Body", SettingForm.ANY, "none"),
    ),
    ExecutorKind.SHELL: (
        Setting("argv", "Program, then an argument per line", SettingForm.LINES, needed=True),
        *PROCESS,
    ),
    ExecutorKind.MCP: (
        Setting("server", "Server", needed=True),
        Setting("tool", "Tool", needed=True),
        SECONDS,
        Setting("arguments", "Arguments", SettingForm.ANY, "those that the tool is given"),
    ),
    ExecutorKind.SEARCH: (
        Setting("search", "Search tool", hint="by its name"),
        Setting("base_url", "Or an address", hint="http://127.0.0.1:8080"),
        Setting("count", "Results", SettingForm.NUMBER),
        SECONDS,
    ),
}
"""Settings of each executor that the form shows; the JSON beside it shows everything."""


def with_setting(text: str, setting: Setting, typed: str) -> str:
    """Return a config as JSON with another value of a setting; an empty one goes, unless the executor needs it."""
    config = read_object(text or "{}", "Config")
    if typed or setting.needed:
        config[setting.key] = setting.read(typed)
    else:
        config.pop(setting.key, None)
    return dumps(config, indent=2)


SCRIPT: Final = "def run(input):\n    return input\n"
NOT_LOST: Final = "Nothing typed is lost."
NEW_SCHEMA: Final[JsonObject] = {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignDraft:
    """All fields of a design as typed; `tags` are separated by commas."""

    name: str = ""
    display_name: str = ""
    description: str = ""
    category: str = ""
    tags: str = ""
    executor: ExecutorKind = ExecutorKind.ANSWER
    config: str = ""
    script: str = ""
    input: SchemaText = EMPTY
    output: SchemaText = EMPTY

    @classmethod
    def of(cls, design: ToolDesign) -> "DesignDraft":
        """Return the draft that reads back as this design."""
        return cls(
            name=design.name,
            display_name=design.display_name,
            description=design.description,
            category=design.category or "",
            tags=", ".join(design.tags),
            executor=design.executor,
            config=dumps(dict(design.config), indent=2),
            script=design.script or "",
            input=SchemaText.of(design.input_schema),
            output=SchemaText.of(design.output_schema),
        )

    def with_executor(self, executor: ExecutorKind) -> "DesignDraft":
        """Return the draft carried out otherwise, with a config to begin with."""
        script = (self.script or SCRIPT) if executor is ExecutorKind.PYTHON else ""
        return replace(self, executor=executor, config=dumps(dict(CONFIGS[executor]), indent=2), script=script)

    def design(self) -> ToolDesign:
        """Return the design; InputError for the first field that cannot be read."""
        for what, schema in (("Input schema", self.input), ("Output schema", self.output)):
            if schema.fault:
                raise InputError(f"{what}: {schema.fault}", hint=NOT_LOST)
        return ToolDesign(
            name=self.name.strip(),
            display_name=self.display_name.strip(),
            description=self.description,
            tags=tuple(filter(None, map(str.strip, self.tags.split(",")))),
            category=self.category or None,
            input_schema=self.input.schema or NEW_SCHEMA,
            output_schema=self.output.schema,
            executor=self.executor,
            config=_config(self.config),
            script=self.script or None,
        )


def _config(text: str) -> JsonObject:
    try:
        return read_object(text or "{}", "Config")
    except UnreadableError as error:
        raise InputError(str(error), hint=NOT_LOST) from error


def new_design(name: str, description: str, executor: ExecutorKind) -> ToolDesign:
    """Return the design of a new tool without parameters."""
    draft = DesignDraft(name=name, description=description, input=SchemaText.of(NEW_SCHEMA)).with_executor(executor)
    return draft.design()
