"""The types of the front door, for checkers and editors; `__init__.py` loads the names when they are first used."""

from mcp_tef.agents.operations import WorkspaceOperations, tool_definitions
from mcp_tef.api.answer_pages import answer_pages, answer_tokens
from mcp_tef.api.batch_following import batch_to_its_end
from mcp_tef.api.budget import CallBudget, SpendingRoom, UsedUpCap, parse_dollars, start_within_cap
from mcp_tef.api.cluster import Cluster, cluster_for
from mcp_tef.api.consent import (
    AskConsent,
    ConsentAnswer,
    ConsentDeclinedError,
    apply_consent_answer,
    consent_rows,
    ensure_consent,
    launch_preview,
    sign_in_where_needed,
    warning_lines,
)
from mcp_tef.api.evidence import EvidenceCheck, batch_evidence, outdated_badge, outdated_parts, verified_evidence
from mcp_tef.api.patch_trials import draft_of_patch, trial_of_affected_cases
from mcp_tef.api.repeated_evidence import RepeatedEvidence, repeated_evidence
from mcp_tef.api.run_texts import run_failure_text
from mcp_tef.api.samples import run_sample
from mcp_tef.api.score_lines import PairLine, pair_results, read_pair_lines, score_lines
from mcp_tef.api.scored_runs import scored_overview, scored_run
from mcp_tef.api.serializers.drafts import (
    conflict_to_json,
    crowd_to_json,
    draft_summary_to_json,
    draft_to_json,
    improvement_to_json,
    prediction_to_json,
    steal_to_json,
    trial_to_json,
)
from mcp_tef.api.serializers.library import (
    execution_figures_to_json,
    execution_to_json,
    library_tool_to_json,
    server_health_to_json,
    tool_version_to_json,
)
from mcp_tef.api.serializers.metrics import confusions_to_json, metrics_to_json, overview_to_json
from mcp_tef.api.serializers.models import (
    client_check_to_json,
    client_result_to_json,
    client_to_json,
    group_abilities_to_json,
    local_server_to_json,
    model_check_to_json,
    model_info_to_json,
    model_router_to_json,
    prompt_to_json,
    route_comparison_to_json,
    route_decision_to_json,
)
from mcp_tef.api.serializers.runs import (
    batch_to_json,
    comparison_to_json,
    error_to_json,
    rejudge_report_to_json,
    run_detail_to_json,
    run_to_json,
    verdict_to_json,
)
from mcp_tef.api.serializers.tools import advice_to_json, quality_to_json
from mcp_tef.api.serializers.workspace import (
    case_export_to_json,
    case_finding_to_json,
    case_import_to_json,
    case_to_json,
    detected_config_to_json,
    drafted_cases_to_json,
    drift_to_json,
    import_items_to_json,
    listing_to_json,
    server_check_to_json,
    server_import_to_json,
    server_to_json,
    tool_call_to_json,
)
from mcp_tef.api.temporary_workspace import placed_source, temporary_workspace
from mcp_tef.engine import Engine
from mcp_tef.errors import (
    GAVE_UP,
    ChangedMeanwhileError,
    ConflictError,
    EmbeddingError,
    FieldConflict,
    InputError,
    ModelError,
    ModelFault,
    NotFoundError,
    ReachError,
    ServerError,
    ServerFault,
    StoreError,
    TefError,
)
from mcp_tef.events import (
    BatchEnded,
    BatchesChanged,
    BatchPaused,
    BatchProgressed,
    BatchQueued,
    BatchStarted,
    CasesChanged,
    DefinitionsChanged,
    DraftsChanged,
    Event,
    LibraryChanged,
    LibraryExecuted,
    NoticePublished,
    RejudgeProgressed,
    RunEnded,
    RunsChanged,
    RunStarted,
    ServersChanged,
    ServerStateChanged,
    ToolCallsChanged,
)
from mcp_tef.formats.cases.texts import require_replaceable, write_text
from mcp_tef.formats.csv_tables import to_spreadsheet_cell
from mcp_tef.formats.definition_files import read_router
from mcp_tef.formats.suppressions import read_baseline, read_suppressions
from mcp_tef.llm.keys import KeyRing
from mcp_tef.model.addresses import SENDS_CREDENTIALS, origin_of
from mcp_tef.model.answers import ActualCall, Answer, CallingMode, ConfidenceSource, RankedTool, ToolChoiceMode
from mcp_tef.model.cancellation import CancellableWork, EndingSignals, StoppedError
from mcp_tef.model.cases import (
    NO_TOOL,
    CaseDraft,
    CaseOrigin,
    EarlierMessage,
    Expectation,
    ExpectedCall,
    Speaker,
    TestCase,
    expectation_from_json,
    expectation_to_json,
    messages_from_json,
    messages_to_json,
)
from mcp_tef.model.clients import (
    PLAIN_API,
    CaseVisibility,
    ChangeKind,
    ClientCase,
    ClientCheck,
    ClientFact,
    ClientProfile,
)
from mcp_tef.model.comparison import (
    BatchComparison,
    CasePair,
    CaseSide,
    Claim,
    ClaimVerdict,
    ClientResult,
    ComparedRuns,
    DefinitionChange,
    Drift,
    HeldCase,
    PairChange,
    PairedBy,
    PassCounts,
    PassCriterion,
    RateDifference,
    RejudgeReport,
    RunComparison,
    ShareChange,
    ToolChange,
    ToolDrift,
    ValueChange,
    VerdictChange,
)
from mcp_tef.model.config import PORT, TOKEN, VARIABLES, Config
from mcp_tef.model.crowds import (
    CrowdKind,
    CrowdLoss,
    CrowdPoint,
    CrowdRequest,
    CrowdResult,
    CrowdSource,
    OrderEffect,
    RetrievalPoint,
    SilencePoint,
    StealRequest,
    StealResult,
    StolenPair,
    StolenTool,
    StrangerPick,
)
from mcp_tef.model.definitions import (
    BUILT_IN,
    LONGEST_PROMPT_NAME,
    DefinitionKind,
    PromptKind,
    PromptTemplate,
    require_prompt_name,
)
from mcp_tef.model.draft_edits import ParameterEdit, RebasedDraft, TextConflict, ToolEdit, edited_draft
from mcp_tef.model.drafted_cases import (
    CaseAction,
    CaseDoubt,
    CaseFinding,
    DraftedCase,
    DraftedCases,
    DraftKind,
    RefusedDraft,
)
from mcp_tef.model.drafts import INSTRUCTIONS, Draft, ToolKey, ToolRevision, require_draft_name
from mcp_tef.model.health import ContactKind, HealthState, ServerContact, ServerHealth, percentile
from mcp_tef.model.ids import BatchId, CaseId, DraftId, LibraryToolId, RunId, ServerId, SnapshotId
from mcp_tef.model.improvements import (
    CandidateRound,
    HopelessCase,
    ImprovementEnd,
    ImprovementPlan,
    ImprovementRequest,
    ImprovementResult,
    ImprovementStep,
    TextCandidate,
)
from mcp_tef.model.installation import VERSION, how_to_install, missing_library
from mcp_tef.model.json import (
    Json,
    JsonObject,
    KeyTwiceError,
    canonical,
    deeper_than,
    fingerprint,
    loads_bounded,
    loads_unique,
)
from mcp_tef.model.library import (
    NEXT_STATUSES,
    Execution,
    ExecutionFigures,
    ExecutionStatus,
    ExecutorKind,
    LibraryTool,
    ToolCategory,
    ToolDesign,
    ToolStatus,
    ToolVersion,
    design_from_json,
    design_to_json,
)
from mcp_tef.model.limits import CALL_SECONDS, LARGEST_FILE_BYTES
from mcp_tef.model.metrics import (
    CalibrationBin,
    CalibrationReport,
    ConfusionMatrix,
    FilterChoices,
    GroupMetrics,
    Metrics,
    MetricsOverview,
    ModelMetrics,
    PassAllRate,
    Rate,
    RepeatedCase,
    RepeatStatistics,
    SourceCalibration,
    ThresholdCheck,
    ToolMetrics,
    TrendPoint,
)
from mcp_tef.model.model_catalogue import (
    TARGET_PROVIDERS,
    CheckState,
    CheckStep,
    LocalServer,
    ModelCheck,
    ModelInfo,
    parse_model,
)
from mcp_tef.model.model_groups import Deployment, GroupAbilities, ModelGroup, parse_deployment
from mcp_tef.model.model_routers import ModelRoute, ModelRouter, RouteDecision, RouteScore
from mcp_tef.model.prediction import (
    DirectionRecord,
    Neighbour,
    Prediction,
    RankedCase,
    ScopeReason,
    ToolPrediction,
    TrialScope,
)
from mcp_tef.model.quality import (
    GradedQuality,
    LintFinding,
    LintRule,
    ModelReview,
    QualityReport,
    ServerTokenCount,
    Severity,
    Suppression,
    ToolQuality,
)
from mcp_tef.model.rates import decimal_text, interval_text, outcome_text, percent_text, priced_text, share_text
from mcp_tef.model.run_fields import (
    CONCURRENCY,
    MAX_TOKENS,
    REPEATS,
    RETRIES,
    RUN_FIELDS,
    SEED,
    TEMPERATURE,
    TIMEOUT,
    WRITING_TIMEOUT_S,
    RunField,
    parse_number,
    parse_prices,
)
from mcp_tef.model.run_filter import RunFilter, RunOrder
from mcp_tef.model.runs import (
    CUT_OFF_CODE,
    NOT_OFFERED_CODE,
    Arm,
    Baseline,
    Batch,
    BatchRequest,
    BatchStatus,
    Estimate,
    FailureInfo,
    ModelSettings,
    RunDetail,
    RunStatus,
    RunSummary,
    is_baseline,
)
from mcp_tef.model.search import SearchHit, SearchHitKind, did_you_mean
from mcp_tef.model.secrets import (
    RedactingFormatter,
    Secret,
    SessionSecrets,
    keys_by_name,
    require_no_credentials,
    secrets_in,
    without_keys,
)
from mcp_tef.model.servers import (
    REST_CALLER,
    SIGNING_ALGORITHMS,
    AuthType,
    OAuthClient,
    Server,
    ServerSpec,
    ServerStatus,
    Transport,
)
from mcp_tef.model.similarity import (
    ClusterMerge,
    Clusters,
    ComparedTool,
    DifferentiationIssue,
    EmbedderChoice,
    EmbedderKind,
    FlagRule,
    IssueType,
    MatrixKind,
    OverlapWeights,
    PairAdvice,
    PairExplanation,
    PairObservation,
    PairStatus,
    Priority,
    Recommendation,
    ScoreExplanation,
    SharedParameter,
    SourceKind,
    ToolGroup,
    ToolPair,
    ToolSet,
    ToolSource,
    UnreachableSource,
    WorkItem,
    confusability_level,
    parse_embedder,
)
from mcp_tef.model.times import local_time_text
from mcp_tef.model.tool_calls import ToolCall, ToolCallStatus, ToolReply
from mcp_tef.model.tools import (
    INVENTED_TOOL_LABEL,
    NO_TOOL_LABEL,
    LabelKind,
    Listing,
    OfferedTool,
    Snapshot,
    Tool,
    ToolLabel,
    ToolProblem,
)
from mcp_tef.model.transfer import (
    CASE_FILE_SUFFIXES,
    CaseFileFormat,
    CaseImportPreview,
    DefinitionWithoutSecrets,
    DetectedConfig,
    DetectedFile,
    ExportReport,
    FieldChange,
    FileKind,
    ImportedCase,
    ImportedItem,
    ImportedServer,
    ImportStatus,
    NewServer,
    PlainTextSecret,
    ReportFormat,
    ServerFileFormat,
    ServerImportPreview,
)
from mcp_tef.model.trials import CaseOutcome, GuardOutcome, TrialClaims, TrialEnd, TrialGoal, TrialRequest, TrialResult
from mcp_tef.model.variables import Variable, foreign_note, number
from mcp_tef.model.verdicts import (
    CallMatch,
    Classification,
    ConfidenceCategory,
    FindingReason,
    ParameterFinding,
    PastVerdict,
    RejudgeReason,
    RunMark,
    Verdict,
    VerdictKind,
)
from mcp_tef.model.web_search import (
    USUAL_RESULTS,
    Freshness,
    SearchAnswer,
    SearchProvider,
    SearchRequest,
    SearchResult,
    SearchTool,
    parse_search_provider,
    search_answer_to_json,
    search_request,
    search_tool_to_json,
)
from mcp_tef.options import OPTIONS, SOURCE_USES, ProjectUse, VerbOption
from mcp_tef.ports.calling import AgentOperations, CallingAgent
from mcp_tef.prompts.templates import (
    BUILT_IN_VARIABLES,
    SELECTING_KINDS,
    asked_with,
    filled,
    prompt_fault,
    selection_values,
    template_pieces,
    unknown_variables,
    variables_in,
    word_changes,
)
from mcp_tef.reports.analysis_reports import AnalysisReports, require_ending
from mcp_tef.reports.crowds import crowd_html, steal_html
from mcp_tef.reports.drafts import (
    DraftFormat,
    draft_format,
    draft_html,
    draft_text,
    left_out_of_override,
    trials_evidence,
    write_draft,
)
from mcp_tef.reports.results import Results
from mcp_tef.reports.run_reports import RunReports, write_results
from mcp_tef.reports.similarity_html import SimilarityResults
from mcp_tef.reports.similarity_tables import matrix_file, overlap_json, similarity_json
from mcp_tef.rest.service import RestOptions, serve_rest
from mcp_tef.scoring.command_risks.risks import launch_risks
from mcp_tef.scoring.differentiation.patches import joint_changes
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.overlap import Overlap, OverlappingPair
from mcp_tef.servers.agent_server import serve_agents
from mcp_tef.servers.bounded_protocol import bounded_by
from mcp_tef.servers.programs import kill_process_groups
from mcp_tef.statistics.confusion_patterns import cluster_confusions
from mcp_tef.statistics.improvement_text import improvement_sentences
from mcp_tef.statistics.intervals import wilson
from mcp_tef.statistics.route_comparison import RouteArm, RouteComparison, ThresholdPoint
from mcp_tef.statistics.trial_text import (
    drafts_tried_text,
    joint_sentence,
    joint_verdict,
    left_out_text,
    trial_explanation,
    trial_sentences,
)
from mcp_tef.storage.workspace_backups import adopt_workspace, back_up_workspace, restore_workspace
from mcp_tef.storage.workspace_copies import copy_workspace, rename_workspace, renamed_path
from mcp_tef.storage.workspace_file import default_workspace, require_workspace
from mcp_tef.trust.addresses import Reach, UnexpectedAddressError, callers_reach
from mcp_tef.trust.bounds import LARGEST_PAGE, HeldBodies, page_within
from mcp_tef.trust.consents import Consent, ConsentError, ConsentKind, ConsentRequest
from mcp_tef.trust.field_changes import changed_fields, merged_fields
from mcp_tef.trust.files import (
    append_text,
    bounded_lines,
    make_private_folder,
    open_inside,
    open_private,
    open_regular_file,
    rename,
    tighten,
    unlink,
    write_failed,
    write_file,
    write_lines,
    write_private,
)
from mcp_tef.trust.git_objects import GitObjects, git_objects
from mcp_tef.trust.isolation import protect_process
from mcp_tef.trust.listeners import bears, new_token, strong_token
from mcp_tef.trust.name_keys import name_key
from mcp_tef.trust.names import shown_address, shown_host, visible
from mcp_tef.trust.outputs import document_text, json_text, terminal_line
from mcp_tef.trust.project_files import path_inside, read_inside, result_path, write_result
from mcp_tef.workflows.batch_results import tally_of
from mcp_tef.workflows.case_drafting import DraftingPlan
from mcp_tef.workflows.cases import free_suite_name
from mcp_tef.workflows.crowd_plan import repeat_text
from mcp_tef.workflows.draft_repairs import RepairedDraft, put_in_repair
from mcp_tef.workflows.file_detection import detect_files
from mcp_tef.workflows.health import HealthOverview
from mcp_tef.workflows.library_imports import TakenTools
from mcp_tef.workflows.run_parts import part_name, part_of
from mcp_tef.workflows.sample_program import READING_ROOM, SAMPLE_SERVER, SampleName
from mcp_tef.workflows.source_edits import CopyOnlyText, SourceEdit, undo_source_edit, write_source_edit
from mcp_tef.workflows.transfer import ImportReport
from mcp_tef.workflows.trial_plan import newest_trials, trials_by_step

__all__ = [
    "BUILT_IN", "BUILT_IN_VARIABLES", "CALL_SECONDS", "CASE_FILE_SUFFIXES", "CONCURRENCY", "CUT_OFF_CODE", "GAVE_UP",
    "INSTRUCTIONS", "INVENTED_TOOL_LABEL", "LARGEST_FILE_BYTES", "LARGEST_PAGE", "LONGEST_PROMPT_NAME", "MAX_TOKENS",
    "NEXT_STATUSES", "NOT_OFFERED_CODE", "NO_TOOL", "NO_TOOL_LABEL", "OPTIONS", "PLAIN_API", "PORT", "READING_ROOM",
    "REPEATS", "REST_CALLER", "RETRIES", "RUN_FIELDS", "SAMPLE_SERVER", "SEED", "SELECTING_KINDS", "SENDS_CREDENTIALS",
    "SIGNING_ALGORITHMS", "SOURCE_USES", "TARGET_PROVIDERS", "TEMPERATURE", "TIMEOUT", "TOKEN", "USUAL_RESULTS",
    "VARIABLES", "VERSION", "WRITING_TIMEOUT_S", "ActualCall", "AgentOperations", "AnalysisReports", "Answer", "Arm",
    "AskConsent", "AuthType", "Baseline", "Batch", "BatchComparison", "BatchEnded", "BatchId", "BatchPaused",
    "BatchProgressed", "BatchQueued", "BatchRequest", "BatchStarted", "BatchStatus", "BatchesChanged",
    "CalibrationBin", "CalibrationReport", "CallBudget", "CallMatch", "CallingAgent", "CallingMode",
    "CancellableWork", "CandidateRound", "CaseAction", "CaseDoubt", "CaseDraft", "CaseFileFormat", "CaseFinding",
    "CaseId", "CaseImportPreview", "CaseOrigin", "CaseOutcome", "CasePair", "CaseSide", "CaseVisibility",
    "CasesChanged", "ChangeKind", "ChangedMeanwhileError", "CheckState", "CheckStep", "Claim", "ClaimVerdict",
    "Classification", "ClientCase", "ClientCheck", "ClientFact", "ClientProfile", "ClientResult", "Cluster",
    "ClusterMerge", "Clusters", "ComparedRuns", "ComparedTool", "ConfidenceCategory", "ConfidenceSource", "Config",
    "ConflictError", "ConfusionMatrix", "Consent", "ConsentAnswer", "ConsentDeclinedError", "ConsentError",
    "ConsentKind", "ConsentRequest", "ContactKind", "CopyOnlyText", "CrowdKind", "CrowdLoss", "CrowdPoint",
    "CrowdRequest", "CrowdResult", "CrowdSource", "DefinitionChange", "DefinitionKind", "DefinitionWithoutSecrets",
    "DefinitionsChanged", "Deployment", "DetectedConfig", "DetectedFile", "DifferentiationIssue", "DirectionRecord",
    "Draft", "DraftFormat", "DraftId", "DraftKind", "DraftedCase", "DraftedCases", "DraftingPlan", "DraftsChanged",
    "Drift", "EarlierMessage", "EmbedderChoice", "EmbedderKind", "EmbeddingError", "EndingSignals", "Engine",
    "Estimate", "Event", "EvidenceCheck", "Execution", "ExecutionFigures", "ExecutionStatus", "ExecutorKind",
    "Expectation", "ExpectedCall", "ExportReport", "FailureInfo", "FieldChange", "FieldConflict", "FileKind",
    "FilterChoices", "FindingReason", "FlagRule", "Freshness", "GitObjects", "GradedQuality", "GroupAbilities",
    "GroupMetrics", "GuardOutcome", "HealthOverview", "HealthState", "HeldBodies", "HeldCase", "HopelessCase",
    "ImportReport", "ImportStatus", "ImportedCase", "ImportedItem", "ImportedServer", "ImprovementEnd",
    "ImprovementPlan", "ImprovementRequest", "ImprovementResult", "ImprovementStep", "InputError", "IssueType",
    "Json", "JsonObject", "KeyRing", "KeyTwiceError", "LabelKind", "LibraryChanged", "LibraryExecuted", "LibraryTool",
    "LibraryToolId", "LintFinding", "LintRule", "Listing", "LocalServer", "MatrixKind", "Metrics", "MetricsOverview",
    "ModelCheck", "ModelError", "ModelFault", "ModelGroup", "ModelInfo", "ModelMetrics", "ModelReview", "ModelRoute",
    "ModelRouter", "ModelSettings", "Neighbour", "NewServer", "NotFoundError", "NoticePublished", "OAuthClient",
    "OfferedTool", "OrderEffect", "Overlap", "OverlapWeights", "OverlappingPair", "PairAdvice", "PairChange",
    "PairExplanation", "PairLine", "PairObservation", "PairStatus", "PairedBy", "ParameterEdit", "ParameterFinding",
    "PassAllRate", "PassCounts", "PassCriterion", "PastVerdict", "PlainTextSecret", "Prediction", "Priority",
    "ProjectUse", "PromptKind", "PromptTemplate", "QualityReport", "RankedCase", "RankedTool", "Rate",
    "RateDifference", "Reach", "ReachError", "RebasedDraft", "Recommendation", "RedactingFormatter", "RefusedDraft",
    "RejudgeProgressed", "RejudgeReason", "RejudgeReport", "RepairedDraft", "RepeatStatistics", "RepeatedCase",
    "RepeatedEvidence", "ReportFormat", "RestOptions", "Results", "RetrievalPoint", "RouteArm", "RouteComparison",
    "RouteDecision", "RouteScore", "RunComparison", "RunDetail", "RunEnded", "RunField", "RunFilter", "RunId",
    "RunMark", "RunOrder", "RunReports", "RunStarted", "RunStatus", "RunSummary", "RunsChanged", "SampleName",
    "ScopeReason", "ScoreExplanation", "SearchAnswer", "SearchHit", "SearchHitKind", "SearchProvider",
    "SearchRequest", "SearchResult", "SearchTool", "Secret", "Server", "ServerContact", "ServerError", "ServerFault",
    "ServerFileFormat", "ServerHealth", "ServerId", "ServerImportPreview", "ServerSpec", "ServerStateChanged",
    "ServerStatus", "ServerTokenCount", "ServersChanged", "SessionSecrets", "Severity", "ShareChange",
    "SharedParameter", "SilencePoint", "Similarity", "SimilarityResults", "Snapshot", "SnapshotId",
    "SourceCalibration", "SourceEdit", "SourceKind", "Speaker", "SpendingRoom", "StealRequest", "StealResult",
    "StolenPair", "StolenTool", "StoppedError", "StoreError", "StrangerPick", "Suppression", "TakenTools", "TefError",
    "TestCase", "TextCandidate", "TextConflict", "ThresholdCheck", "ThresholdPoint", "Tool", "ToolCall",
    "ToolCallStatus", "ToolCallsChanged", "ToolCategory", "ToolChange", "ToolChoiceMode", "ToolDesign", "ToolDrift",
    "ToolEdit", "ToolGroup", "ToolKey", "ToolLabel", "ToolMetrics", "ToolPair", "ToolPrediction", "ToolProblem",
    "ToolQuality", "ToolReply", "ToolRevision", "ToolSet", "ToolSource", "ToolStatus", "ToolVersion", "Transport",
    "TrendPoint", "TrialClaims", "TrialEnd", "TrialGoal", "TrialRequest", "TrialResult", "TrialScope",
    "UnexpectedAddressError", "UnreachableSource", "UsedUpCap", "ValueChange", "Variable", "VerbOption", "Verdict",
    "VerdictChange", "VerdictKind", "WorkItem", "WorkspaceOperations", "adopt_workspace", "advice_to_json",
    "answer_pages", "answer_tokens", "append_text", "apply_consent_answer", "asked_with", "back_up_workspace",
    "batch_evidence", "batch_to_its_end", "batch_to_json", "bears", "bounded_by", "bounded_lines", "callers_reach",
    "canonical", "case_export_to_json", "case_finding_to_json", "case_import_to_json", "case_to_json",
    "changed_fields", "client_check_to_json", "client_result_to_json", "client_to_json", "cluster_confusions",
    "cluster_for", "comparison_to_json", "conflict_to_json", "confusability_level", "confusions_to_json",
    "consent_rows", "copy_workspace", "crowd_html", "crowd_to_json", "decimal_text", "deeper_than",
    "default_workspace", "design_from_json", "design_to_json", "detect_files", "detected_config_to_json",
    "did_you_mean", "document_text", "draft_format", "draft_html", "draft_of_patch", "draft_summary_to_json",
    "draft_text", "draft_to_json", "drafted_cases_to_json", "drafts_tried_text", "drift_to_json", "edited_draft",
    "ensure_consent", "error_to_json", "execution_figures_to_json", "execution_to_json", "expectation_from_json",
    "expectation_to_json", "filled", "fingerprint", "foreign_note", "free_suite_name", "git_objects",
    "group_abilities_to_json", "how_to_install", "import_items_to_json", "improvement_sentences",
    "improvement_to_json", "interval_text", "is_baseline", "joint_changes", "joint_sentence", "joint_verdict",
    "json_text", "keys_by_name", "kill_process_groups", "launch_preview", "launch_risks", "left_out_of_override",
    "left_out_text", "library_tool_to_json", "listing_to_json", "loads_bounded", "loads_unique",
    "local_server_to_json", "local_time_text", "make_private_folder", "matrix_file", "merged_fields",
    "messages_from_json", "messages_to_json", "metrics_to_json", "missing_library", "model_check_to_json",
    "model_info_to_json", "model_router_to_json", "name_key", "new_token", "newest_trials", "number", "open_inside",
    "open_private", "open_regular_file", "origin_of", "outcome_text", "outdated_badge", "outdated_parts",
    "overlap_json", "overview_to_json", "page_within", "pair_results", "parse_deployment", "parse_dollars",
    "parse_embedder", "parse_model", "parse_number", "parse_prices", "parse_search_provider", "part_name", "part_of",
    "path_inside", "percent_text", "percentile", "placed_source", "prediction_to_json", "priced_text", "prompt_fault",
    "prompt_to_json", "protect_process", "put_in_repair", "quality_to_json", "read_baseline", "read_inside",
    "read_pair_lines", "read_router", "read_suppressions", "rejudge_report_to_json", "rename", "rename_workspace",
    "renamed_path", "repeat_text", "repeated_evidence", "require_draft_name", "require_ending",
    "require_no_credentials", "require_prompt_name", "require_replaceable", "require_workspace", "restore_workspace",
    "result_path", "route_comparison_to_json", "route_decision_to_json", "run_detail_to_json", "run_failure_text",
    "run_sample", "run_to_json", "score_lines", "scored_overview", "scored_run", "search_answer_to_json",
    "search_request", "search_tool_to_json", "secrets_in", "selection_values", "serve_agents", "serve_rest",
    "server_check_to_json", "server_health_to_json", "server_import_to_json", "server_to_json", "share_text",
    "shown_address", "shown_host", "sign_in_where_needed", "similarity_json", "start_within_cap", "steal_html",
    "steal_to_json", "strong_token", "tally_of", "template_pieces", "temporary_workspace", "terminal_line", "tighten",
    "to_spreadsheet_cell", "tool_call_to_json", "tool_definitions", "tool_version_to_json", "trial_explanation",
    "trial_of_affected_cases", "trial_sentences", "trial_to_json", "trials_by_step", "trials_evidence",
    "undo_source_edit", "unknown_variables", "unlink", "variables_in", "verdict_to_json", "verified_evidence",
    "visible", "warning_lines", "wilson", "without_keys", "word_changes", "write_draft", "write_failed", "write_file",
    "write_lines", "write_private", "write_result", "write_results", "write_source_edit", "write_text",
]  # fmt: skip
