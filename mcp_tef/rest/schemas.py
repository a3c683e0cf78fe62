"""Fields of servers, tools, test cases and models in requests and answers, with their bounds and defaults."""

from datetime import datetime
from enum import Enum
from typing import Any, Generic, Self, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator

from mcp_tef import (
    MAX_TOKENS,
    REST_CALLER,
    RETRIES,
    SEED,
    TEMPERATURE,
    TIMEOUT,
    CallingMode,
    CaseDraft,
    Expectation,
    ExpectedCall,
    LibraryTool,
    ModelSettings,
    RunDetail,
    Server,
    ServerId,
    ServerSpec,
    TestCase,
    Tool,
    ToolChoiceMode,
    Transport,
    expectation_from_json,
    expectation_to_json,
    fingerprint,
    messages_from_json,
    messages_to_json,
)
from mcp_tef.rest.errors import without_server_words

T = TypeVar("T")
LONGEST_NAME = 1_000
LONGEST_TEXT = 1_000_000
MOST_ITEMS = 10_000


class RequestFields(BaseModel):
    """Fields of a request; unknown ones are refused."""

    model_config = ConfigDict(extra="forbid")


class AnswerFields(BaseModel):
    """Fields of an answer."""

    @classmethod
    def of(cls, source: object, **more: Any) -> Self:
        """Return the fields of a value that it has under the same names, and `more` that it has not."""
        return cls(**{name: getattr(source, name) for name in cls.model_fields if name not in more}, **more)


class AnswerPage(BaseModel, Generic[T]):
    """One page of a list, with the number of all items."""

    items: list[T]
    total: int
    offset: int
    limit: int


class HttpTransport(Enum):
    """Transports that a server can be registered with; files are registered at the machine only."""

    STREAMABLE_HTTP = "streamable-http"
    SSE = "sse"
    STDIO = "stdio"


class ServerChange(RequestFields):
    """Fields of a server to change."""

    name: str | None = Field(None, min_length=1, max_length=LONGEST_NAME)
    url: str | None = Field(None, min_length=1, max_length=LONGEST_NAME)
    transport: HttpTransport | None = None
    command: str | None = Field(None, min_length=1, max_length=LONGEST_NAME)
    args: list[str] | None = Field(None, max_length=1_000)
    cwd: str | None = Field(None, max_length=LONGEST_NAME)
    env: dict[str, str] | None = None

    def fields(self) -> dict[str, Any]:
        """Return what was given as fields of a spec."""
        given = {name: value for name in self.model_fields_set if (value := getattr(self, name)) is not None}
        if "transport" in given:
            given["transport"] = Transport(given["transport"].value)
        given |= {"args": tuple(given["args"])} if "args" in given else {}
        return given | ({"origin": REST_CALLER} if given.keys() & {"url", "command"} else {})


class ServerCreate(ServerChange):
    """A server to register: `url` for HTTP, `command` with `args`, `cwd` and `env` for stdio."""

    name: str = Field(min_length=1, max_length=LONGEST_NAME)
    transport: HttpTransport = HttpTransport.STREAMABLE_HTTP

    def spec(self) -> ServerSpec:
        """Return the server as it is stored."""
        return ServerSpec(**{"transport": Transport(self.transport.value), **self.fields()})


class ServerAnswer(AnswerFields):
    """A registered server with what the last check found; `consent_needed` until somebody agreed at the machine."""

    id: str
    name: str
    url: str | None
    transport: str
    command: str | None
    args: list[str]
    cwd: str | None
    env: list[str]
    status: str
    reason: str | None
    hint: str | None
    tool_count: int | None
    consent_needed: bool
    last_connected_at: datetime | None
    created_at: datetime
    updated_at: datetime


def server_answer(server: Server, *, consent_needed: bool) -> ServerAnswer:
    """Return a server; of its variables only the names."""
    spec = server.spec
    return ServerAnswer.of(
        server,
        url=spec.url and spec.address,
        reason=server.reason and without_server_words(server.reason),
        transport=spec.transport,
        command=spec.command,
        args=spec.args,
        cwd=spec.cwd,
        env=sorted(spec.env),
        consent_needed=consent_needed,
    )


class ToolCreate(RequestFields):
    """A tool to add to the library, as a draft; the server, if named, is that of the library."""

    name: str = Field(min_length=1, max_length=100)
    description: str = Field(min_length=1, max_length=LONGEST_TEXT)
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None = None
    mcp_server_id: str | None = None
    test_run_id: None = None


class ToolAnswer(AnswerFields):
    """A tool of the library, of a server as last listed, or of one run; `status` is that of a library tool."""

    id: str
    name: str
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None
    mcp_server_id: str | None
    mcp_server_name: str
    test_run_id: str | None
    status: str | None
    created_at: datetime
    updated_at: datetime


def library_answer(tool: LibraryTool, server: Server | None) -> ToolAnswer:
    """Return a tool of the library."""
    return ToolAnswer.of(
        tool,
        description=tool.design.description,
        input_schema=dict(tool.design.input_schema),
        output_schema=dict(tool.design.output_schema) if tool.design.output_schema else None,
        mcp_server_id=server.id if server else None,
        mcp_server_name=server.name if server else "",
        test_run_id=None,
    )


def tool_answer(tool: Tool, server: ServerId | None, at: datetime, run: str | None = None) -> ToolAnswer:
    """Return a tool of a server; its id is the fingerprint of its definition."""
    return ToolAnswer.of(
        tool,
        id=tool.fingerprint,
        input_schema=dict(tool.input_schema),
        output_schema=dict(tool.output_schema) if tool.output_schema else None,
        mcp_server_id=server,
        mcp_server_name=tool.server,
        test_run_id=run,
        status=None,
        created_at=at,
        updated_at=at,
    )


class CaseChange(RequestFields):
    """Fields of a test case to change; `expected` is an expectation as in case files, in place of the three fields."""

    name: str | None = Field(None, min_length=1, max_length=LONGEST_NAME)
    query: str | None = Field(None, min_length=1, max_length=LONGEST_TEXT)
    expected_mcp_server_name: str | None = Field(None, max_length=LONGEST_NAME)
    expected_tool_name: str | None = Field(None, max_length=LONGEST_NAME)
    expected_parameters: dict[str, Any] | None = None
    expected: list[Any] | dict[str, Any] | None = None
    servers: list[str] | None = Field(None, max_length=1_000)
    suites: list[str] | None = Field(None, max_length=1_000)
    tags: list[str] | None = Field(None, max_length=1_000)
    family: str | None = Field(None, max_length=LONGEST_NAME)
    before: list[Any] | None = Field(None, max_length=1_000)

    @model_validator(mode="after")
    def _one_expectation(self) -> Self:
        if self.expected is not None and self.expected_tool_name:
            raise ValueError("give either expected or expected_tool_name")
        if self.expected_parameters is not None and not self.expected_tool_name:
            raise ValueError("expected_parameters needs expected_tool_name")
        if type(self) is CaseChange and self.expected_mcp_server_name and not self.expected_tool_name:
            raise ValueError("expected_mcp_server_name needs expected_tool_name")
        return self

    def fields(self) -> dict[str, Any]:
        """Return what was given as fields of a draft."""
        given = {name: value for name in self.model_fields_set if (value := getattr(self, name)) is not None}
        changed: dict[str, Any] = {name: given[name] for name in ("name", "query", "family") if name in given}
        changed |= {name: tuple(given[name]) for name in ("servers", "suites", "tags") if name in given}
        if "before" in given:
            changed["before"] = messages_from_json(given["before"])
        if self.model_fields_set & {"expected", "expected_tool_name"}:
            changed["expectation"] = self._expectation()
        return changed

    def _expectation(self) -> Expectation:
        if not self.expected_tool_name:
            return expectation_from_json(self.expected)
        call = {"tool": self.expected_tool_name, "server": self.expected_mcp_server_name}
        return expectation_from_json([call | {"parameters": self.expected_parameters}])


class CaseCreate(CaseChange):
    """A test case to add; without `servers`, the expected one offers its tools."""

    name: str = Field(min_length=1, max_length=LONGEST_NAME)
    query: str = Field(min_length=1, max_length=LONGEST_TEXT)

    def draft(self) -> CaseDraft:
        """Return the case as it is stored."""
        expected = (self.expected_mcp_server_name,) if self.expected_mcp_server_name else ()
        return CaseDraft(**{"servers": expected, **self.fields()})


class CaseAnswer(AnswerFields):
    """A test case; the three fields of one expected call are null where `expected` is anything else."""

    id: str
    name: str
    query: str
    expected_mcp_server_name: str | None
    expected_tool_name: str | None
    expected_parameters: dict[str, Any] | None
    expected: Any
    servers: list[str]
    suites: list[str]
    tags: list[str]
    family: str
    before: list[Any]
    origin: str
    created_at: datetime
    updated_at: datetime


def case_answer(case: TestCase) -> CaseAnswer:
    """Return a test case."""
    draft, call = case.draft, _only_call(case.draft.expectation)
    return CaseAnswer.of(
        draft,
        id=case.id,
        expected_mcp_server_name=call.server if call else None,
        expected_tool_name=call.tool if call else None,
        expected_parameters=dict(call.parameters) if call and call.parameters is not None else None,
        expected=expectation_to_json(draft.expectation),
        before=messages_to_json(draft.before) or [],
        created_at=case.created_at,
        updated_at=case.updated_at,
    )


def _only_call(expectation: Expectation) -> ExpectedCall | None:
    match expectation.alternatives:
        case ((call,),):
            return call
    return None


class ModelSettingsCreate(RequestFields):
    """A model and how it is asked; a key is never among the fields."""

    provider: str = Field(min_length=1, max_length=100)
    model: str = Field(min_length=1, max_length=100)
    timeout: int = Field(TIMEOUT.default, ge=TIMEOUT.low, le=TIMEOUT.high)
    temperature: float = Field(TEMPERATURE.default, ge=TEMPERATURE.low, le=TEMPERATURE.high)
    max_retries: int = Field(RETRIES.default, ge=RETRIES.low, le=RETRIES.high)
    base_url: str | None = Field(None, max_length=LONGEST_NAME)
    system_prompt: str | None = Field(None, max_length=LONGEST_TEXT)
    mode: CallingMode = CallingMode.AUTO
    tool_choice: ToolChoiceMode = ToolChoiceMode.AUTO
    seed: int | None = Field(None, ge=SEED.low, le=SEED.high)
    max_tokens: int | None = Field(None, ge=MAX_TOKENS.low, le=MAX_TOKENS.high)
    client: str = Field("", max_length=LONGEST_NAME)

    def settings(self) -> ModelSettings:
        """Return the settings of a run."""
        return ModelSettings(**{name: getattr(self, name) for name in type(self).model_fields})


class WithModel(RequestFields):
    """A request for one model, under either name that callers know for its settings."""

    model_settings: ModelSettingsCreate = Field(validation_alias=AliasChoices("model_settings", "model_config"))


class ModelSettingsAnswer(AnswerFields):
    """The model of a run and how it was asked, without a key; equal settings have one id."""

    id: str
    provider: str
    model: str
    timeout: int
    temperature: float
    max_retries: int
    base_url: str | None
    system_prompt: str | None
    seed: int | None
    max_tokens: int | None
    client: str
    created_at: datetime | None


def settings_answer(detail: RunDetail) -> ModelSettingsAnswer:
    """Return the settings of a run."""
    told = ModelSettingsAnswer.of(detail.settings, id="", created_at=detail.summary.created_at)
    asked = told.model_dump(exclude={"id", "created_at"})
    return told.model_copy(update={"id": fingerprint(asked)[:32]})
