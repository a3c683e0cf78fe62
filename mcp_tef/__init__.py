"""The core of mcp-tef: will a language model pick this tool, with the right arguments?

This is the front door. The window, the command line and other programs use these names and no
others. Importing it loads nothing; each name loads its module when it is first used (PEP 562).
`__init__.pyi` repeats the names as imports, from which type checkers and editors take their types.
"""

_NAMES = {
    "mcp_tef.agents.operations": "WorkspaceOperations tool_definitions",
    "mcp_tef.api.answer_pages": "answer_pages answer_tokens",
    "mcp_tef.api.batch_following": "batch_to_its_end",
    "mcp_tef.api.budget": "CallBudget SpendingRoom UsedUpCap parse_dollars start_within_cap",
    "mcp_tef.api.cluster": "Cluster cluster_for",
    "mcp_tef.api.consent": (
        "AskConsent ConsentAnswer ConsentDeclinedError apply_consent_answer consent_rows ensure_consent launch_preview "
        "sign_in_where_needed warning_lines"
    ),
    "mcp_tef.api.evidence": "EvidenceCheck batch_evidence outdated_badge outdated_parts verified_evidence",
    "mcp_tef.api.patch_trials": "draft_of_patch trial_of_affected_cases",
    "mcp_tef.api.repeated_evidence": "RepeatedEvidence repeated_evidence",
    "mcp_tef.api.run_texts": "run_failure_text",
    "mcp_tef.api.samples": "run_sample",
    "mcp_tef.api.score_lines": "PairLine pair_results read_pair_lines score_lines",
    "mcp_tef.api.scored_runs": "scored_overview scored_run",
    "mcp_tef.api.serializers.drafts": (
        "conflict_to_json crowd_to_json draft_summary_to_json draft_to_json improvement_to_json "
        "prediction_to_json steal_to_json trial_to_json"
    ),
    "mcp_tef.api.serializers.library": (
        "execution_figures_to_json execution_to_json library_tool_to_json server_health_to_json tool_version_to_json"
    ),
    "mcp_tef.api.serializers.metrics": "confusions_to_json metrics_to_json overview_to_json",
    "mcp_tef.api.serializers.models": (
        "client_check_to_json client_result_to_json client_to_json group_abilities_to_json local_server_to_json "
        "model_check_to_json model_info_to_json model_router_to_json prompt_to_json route_comparison_to_json "
        "route_decision_to_json"
    ),
    "mcp_tef.api.serializers.runs": (
        "batch_to_json comparison_to_json error_to_json rejudge_report_to_json run_detail_to_json run_to_json "
        "verdict_to_json"
    ),
    "mcp_tef.api.serializers.tools": "advice_to_json quality_to_json",
    "mcp_tef.api.serializers.workspace": (
        "case_export_to_json case_finding_to_json case_import_to_json case_to_json detected_config_to_json "
        "drafted_cases_to_json drift_to_json import_items_to_json listing_to_json server_check_to_json "
        "server_import_to_json server_to_json tool_call_to_json"
    ),
    "mcp_tef.api.temporary_workspace": "placed_source temporary_workspace",
    "mcp_tef.engine": "Engine",
    "mcp_tef.errors": (
        "GAVE_UP ChangedMeanwhileError ConflictError EmbeddingError FieldConflict InputError ModelError ModelFault "
        "NotFoundError ReachError ServerError ServerFault StoreError TefError"
    ),
    "mcp_tef.events": (
        "BatchEnded BatchPaused BatchProgressed BatchQueued BatchStarted BatchesChanged CasesChanged "
        "DefinitionsChanged DraftsChanged Event LibraryChanged LibraryExecuted NoticePublished RejudgeProgressed "
        "RunEnded RunStarted RunsChanged ServerStateChanged ServersChanged ToolCallsChanged"
    ),
    "mcp_tef.formats.cases.texts": "require_replaceable write_text",
    "mcp_tef.formats.csv_tables": "to_spreadsheet_cell",
    "mcp_tef.formats.definition_files": "read_router",
    "mcp_tef.formats.suppressions": "read_baseline read_suppressions",
    "mcp_tef.llm.keys": "KeyRing",
    "mcp_tef.model.addresses": "SENDS_CREDENTIALS origin_of",
    "mcp_tef.model.answers": "ActualCall Answer CallingMode ConfidenceSource RankedTool ToolChoiceMode",
    "mcp_tef.model.cancellation": "CancellableWork EndingSignals StoppedError",
    "mcp_tef.model.cases": (
        "NO_TOOL CaseDraft CaseOrigin EarlierMessage Expectation ExpectedCall Speaker TestCase "
        "expectation_from_json expectation_to_json messages_from_json messages_to_json"
    ),
    "mcp_tef.model.clients": "PLAIN_API CaseVisibility ChangeKind ClientCase ClientCheck ClientFact ClientProfile",
    "mcp_tef.model.comparison": (
        "BatchComparison CasePair CaseSide Claim ClaimVerdict ClientResult ComparedRuns DefinitionChange Drift "
        "HeldCase PairChange PairedBy PassCounts PassCriterion RateDifference RejudgeReport RunComparison "
        "ShareChange ToolChange ToolDrift ValueChange VerdictChange"
    ),
    "mcp_tef.model.config": "PORT TOKEN VARIABLES Config",
    "mcp_tef.model.crowds": (
        "CrowdKind CrowdLoss CrowdPoint CrowdRequest CrowdResult CrowdSource OrderEffect RetrievalPoint "
        "SilencePoint StealRequest StealResult StolenPair StolenTool StrangerPick"
    ),
    "mcp_tef.model.definitions": (
        "BUILT_IN LONGEST_PROMPT_NAME DefinitionKind PromptKind PromptTemplate require_prompt_name"
    ),
    "mcp_tef.model.draft_edits": "ParameterEdit RebasedDraft TextConflict ToolEdit edited_draft",
    "mcp_tef.model.drafted_cases": "CaseAction CaseDoubt CaseFinding DraftKind DraftedCase DraftedCases RefusedDraft",
    "mcp_tef.model.drafts": "INSTRUCTIONS Draft ToolKey ToolRevision require_draft_name",
    "mcp_tef.model.health": "ContactKind HealthState ServerContact ServerHealth percentile",
    "mcp_tef.model.ids": "BatchId CaseId DraftId LibraryToolId RunId ServerId SnapshotId",
    "mcp_tef.model.improvements": (
        "CandidateRound HopelessCase ImprovementEnd ImprovementPlan ImprovementRequest ImprovementResult "
        "ImprovementStep TextCandidate"
    ),
    "mcp_tef.model.installation": "VERSION how_to_install missing_library",
    "mcp_tef.model.json": "Json JsonObject KeyTwiceError canonical deeper_than fingerprint loads_bounded loads_unique",
    "mcp_tef.model.library": (
        "NEXT_STATUSES Execution ExecutionFigures ExecutionStatus ExecutorKind LibraryTool ToolCategory "
        "ToolDesign ToolStatus ToolVersion design_from_json design_to_json"
    ),
    "mcp_tef.model.limits": "CALL_SECONDS LARGEST_FILE_BYTES",
    "mcp_tef.model.metrics": (
        "CalibrationBin CalibrationReport ConfusionMatrix FilterChoices GroupMetrics Metrics MetricsOverview "
        "ModelMetrics PassAllRate Rate RepeatStatistics RepeatedCase SourceCalibration ThresholdCheck ToolMetrics "
        "TrendPoint"
    ),
    "mcp_tef.model.model_catalogue": (
        "TARGET_PROVIDERS CheckState CheckStep LocalServer ModelCheck ModelInfo parse_model"
    ),
    "mcp_tef.model.model_groups": "Deployment GroupAbilities ModelGroup parse_deployment",
    "mcp_tef.model.model_routers": "ModelRoute ModelRouter RouteDecision RouteScore",
    "mcp_tef.model.prediction": "DirectionRecord Neighbour Prediction RankedCase ScopeReason ToolPrediction TrialScope",
    "mcp_tef.model.quality": (
        "GradedQuality LintFinding LintRule ModelReview QualityReport ServerTokenCount Severity Suppression ToolQuality"
    ),
    "mcp_tef.model.rates": "decimal_text interval_text outcome_text percent_text priced_text share_text",
    "mcp_tef.model.run_fields": (
        "CONCURRENCY MAX_TOKENS REPEATS RETRIES RUN_FIELDS SEED TEMPERATURE TIMEOUT WRITING_TIMEOUT_S RunField "
        "parse_number parse_prices"
    ),
    "mcp_tef.model.run_filter": "RunFilter RunOrder",
    "mcp_tef.model.runs": (
        "CUT_OFF_CODE NOT_OFFERED_CODE Arm Baseline Batch BatchRequest BatchStatus Estimate FailureInfo "
        "ModelSettings RunDetail RunStatus RunSummary is_baseline"
    ),
    "mcp_tef.model.search": "SearchHit SearchHitKind did_you_mean",
    "mcp_tef.model.secrets": (
        "RedactingFormatter Secret SessionSecrets keys_by_name require_no_credentials secrets_in without_keys"
    ),
    "mcp_tef.model.servers": (
        "REST_CALLER SIGNING_ALGORITHMS AuthType OAuthClient Server ServerSpec ServerStatus Transport"
    ),
    "mcp_tef.model.similarity": (
        "ClusterMerge Clusters ComparedTool DifferentiationIssue EmbedderChoice EmbedderKind FlagRule IssueType "
        "MatrixKind OverlapWeights PairAdvice PairExplanation PairObservation PairStatus Priority Recommendation "
        "ScoreExplanation SharedParameter SourceKind ToolGroup ToolPair ToolSet ToolSource UnreachableSource "
        "WorkItem confusability_level parse_embedder"
    ),
    "mcp_tef.model.times": "local_time_text",
    "mcp_tef.model.tool_calls": "ToolCall ToolCallStatus ToolReply",
    "mcp_tef.model.tools": (
        "INVENTED_TOOL_LABEL NO_TOOL_LABEL LabelKind Listing OfferedTool Snapshot Tool ToolLabel ToolProblem"
    ),
    "mcp_tef.model.transfer": (
        "CASE_FILE_SUFFIXES CaseFileFormat CaseImportPreview DefinitionWithoutSecrets DetectedConfig DetectedFile "
        "ExportReport FieldChange FileKind ImportStatus ImportedCase ImportedItem ImportedServer NewServer "
        "PlainTextSecret ReportFormat ServerFileFormat ServerImportPreview"
    ),
    "mcp_tef.model.trials": "CaseOutcome GuardOutcome TrialClaims TrialEnd TrialGoal TrialRequest TrialResult",
    "mcp_tef.model.variables": "Variable foreign_note number",
    "mcp_tef.model.verdicts": (
        "CallMatch Classification ConfidenceCategory FindingReason ParameterFinding PastVerdict RejudgeReason "
        "RunMark Verdict VerdictKind"
    ),
    "mcp_tef.model.web_search": (
        "USUAL_RESULTS Freshness SearchAnswer SearchProvider SearchRequest SearchResult SearchTool "
        "parse_search_provider search_answer_to_json search_request search_tool_to_json"
    ),
    "mcp_tef.options": "OPTIONS SOURCE_USES ProjectUse VerbOption",
    "mcp_tef.ports.calling": "AgentOperations CallingAgent",
    "mcp_tef.prompts.templates": (
        "BUILT_IN_VARIABLES SELECTING_KINDS asked_with filled prompt_fault selection_values template_pieces "
        "unknown_variables variables_in word_changes"
    ),
    "mcp_tef.reports.analysis_reports": "AnalysisReports require_ending",
    "mcp_tef.reports.crowds": "crowd_html steal_html",
    "mcp_tef.reports.drafts": (
        "DraftFormat draft_format draft_html draft_text left_out_of_override trials_evidence write_draft"
    ),
    "mcp_tef.reports.results": "Results",
    "mcp_tef.reports.run_reports": "RunReports write_results",
    "mcp_tef.reports.similarity_html": "SimilarityResults",
    "mcp_tef.reports.similarity_tables": "matrix_file overlap_json similarity_json",
    "mcp_tef.rest.service": "RestOptions serve_rest",
    "mcp_tef.scoring.command_risks.risks": "launch_risks",
    "mcp_tef.scoring.differentiation.patches": "joint_changes",
    "mcp_tef.scoring.similarity.analysis": "Similarity",
    "mcp_tef.scoring.similarity.overlap": "Overlap OverlappingPair",
    "mcp_tef.servers.agent_server": "serve_agents",
    "mcp_tef.servers.bounded_protocol": "bounded_by",
    "mcp_tef.servers.programs": "kill_process_groups",
    "mcp_tef.statistics.confusion_patterns": "cluster_confusions",
    "mcp_tef.statistics.improvement_text": "improvement_sentences",
    "mcp_tef.statistics.intervals": "wilson",
    "mcp_tef.statistics.route_comparison": "RouteArm RouteComparison ThresholdPoint",
    "mcp_tef.statistics.trial_text": (
        "drafts_tried_text joint_sentence joint_verdict left_out_text trial_explanation trial_sentences"
    ),
    "mcp_tef.storage.workspace_backups": "adopt_workspace back_up_workspace restore_workspace",
    "mcp_tef.storage.workspace_copies": "copy_workspace rename_workspace renamed_path",
    "mcp_tef.storage.workspace_file": "default_workspace require_workspace",
    "mcp_tef.trust.addresses": "Reach UnexpectedAddressError callers_reach",
    "mcp_tef.trust.bounds": "HeldBodies LARGEST_PAGE page_within",
    "mcp_tef.trust.consents": "Consent ConsentError ConsentKind ConsentRequest",
    "mcp_tef.trust.field_changes": "changed_fields merged_fields",
    "mcp_tef.trust.files": (
        "append_text bounded_lines make_private_folder open_inside open_private open_regular_file rename tighten "
        "unlink write_failed write_file write_lines write_private"
    ),
    "mcp_tef.trust.git_objects": "GitObjects git_objects",
    "mcp_tef.trust.isolation": "protect_process",
    "mcp_tef.trust.listeners": "bears new_token strong_token",
    "mcp_tef.trust.name_keys": "name_key",
    "mcp_tef.trust.names": "shown_address shown_host visible",
    "mcp_tef.trust.outputs": "document_text json_text terminal_line",
    "mcp_tef.trust.project_files": "path_inside read_inside result_path write_result",
    "mcp_tef.workflows.batch_results": "tally_of",
    "mcp_tef.workflows.case_drafting": "DraftingPlan",
    "mcp_tef.workflows.cases": "free_suite_name",
    "mcp_tef.workflows.crowd_plan": "repeat_text",
    "mcp_tef.workflows.draft_repairs": "RepairedDraft put_in_repair",
    "mcp_tef.workflows.file_detection": "detect_files",
    "mcp_tef.workflows.health": "HealthOverview",
    "mcp_tef.workflows.library_imports": "TakenTools",
    "mcp_tef.workflows.run_parts": "part_name part_of",
    "mcp_tef.workflows.sample_program": "READING_ROOM SAMPLE_SERVER SampleName",
    "mcp_tef.workflows.source_edits": "CopyOnlyText SourceEdit undo_source_edit write_source_edit",
    "mcp_tef.workflows.transfer": "ImportReport",
    "mcp_tef.workflows.trial_plan": "newest_trials trials_by_step",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = list(_MODULES)


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
