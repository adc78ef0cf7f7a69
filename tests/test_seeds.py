"""docs/seeds.md names a test for everything that the seed documents fix; every one of them is there."""

import re
from functools import cache
from pathlib import Path

import pytest

from tests.agents.loop.test_events import PAYLOADS

ROOT = Path(__file__).parent.parent
HELD, _, LEFT_OUT = (ROOT / "docs" / "seeds.md").read_text().partition("\n## Excluded")


# What reading C with `jarvis c2rust` takes over from the seeds.
READING_C = (
    *("collect", "--out", "--cc-root", "graph", "order", "symbols", "--path", "roots.txt", "symbols_raw.jsonl"),
    *("symbols.jsonl", "translation_order.jsonl", "ids", "items", "id", "key", "category", "kind", "name"),
    *("qualified_name", "signature", "return_type", "params", "ref", "calls", "language", "file", "start_line"),
    *("start_col", "end_line", "end_col", "compile_args_hash", "JARVIS_C2RUST_DELAY_ENTRY_SYMBOLS"),
    *("JARVIS_C2RUST_DELAY_ENTRIES", "C2RUST_DELAY_ENTRIES", "compute_translation_order_jsonl", "generate_dot_from_db"),
    *("export_root_subgraphs_to_dir", "collect_function_names", "find_compile_commands", "load_compile_commands"),
    *("iter_source_files", "scan_file", "scan_directory", "find_root_function_ids", "compile_commands.json"),
    *("run_scan", "scan", "--dot", "--only-dot", "--subgraphs-dir", "--only-subgraphs", "--png", "--no-png"),
    *("--compile-commands", "--configure", "--build", "--allow-errors", "jarvis-c2rust", "jc2r"),
)
# What moving a C project to Rust takes over.
MOVING_TO_RUST = (
    *("lib-replace", "prepare", "transpile", "optimize", "run", "skeleton", "check", "fast", "cc", "roadmap"),
    *("--root-list-file", "--root-list-syms", "--disabled-libs", "--library", "--max-funcs", "--resume", "--no-resume"),
    *("--crate-dir", "--only", "--max-retries", "--unsafe", "--structure", "--visibility", "--doc", "--max-checks"),
    *("--include", "--exclude", "--max-files", "--reset-progress", "--build-fix-retries", "--git-guard"),
    *("--no-git-guard", "--files", "--test", "--proof", "--no-replace", "--no-optimize", "--notes", "--escalate"),
    *("--interface", "--sec-before", "--sec-after", "symbol_map.jsonl", "progress.json", "library_replacements.jsonl"),
    *("symbols_library_pruned.jsonl", "symbols_prune.jsonl", "translation_order_prune.jsonl"),
    *("library_replacer_checkpoint.json", "optimize_progress.json", "optimize_report.json", "lib_replacement"),
    *("replaceable", "libraries", "library", "apis", "api", "confidence", "notes", "mode", "updated_at"),
    *("eval_counter", "processed_roots", "pruned_dynamic", "selected_roots", "timestamp", "key", "processed"),
    *("db_path", "library_name", "llm_group", "candidates", "out_symbols_path", "out_mapping_path", "max_funcs"),
    *("disabled_libraries", "resume", "checkpoint_interval", "clear_checkpoint_on_done"),
    *("files_scanned", "unsafe_removed", "unsafe_annotated", "duplicates_tagged", "visibility_downgraded"),
    *("docs_added", "cargo_checks", "errors", "c_name", "c_qname", "c_file", "module", "rust_symbol"),
    *("rust_signature", "state", "proof", "current", "span", "signature_hint", "metrics", "build_attempts"),
    *("impl_verified", "last_build_error", "converted", "missing_import", "type_mismatch", "visibility"),
    *("borrow_checker", "dependency_missing", "module_not_found", "other", "todo", "unimplemented"),
    *("apply_library_replacement", "run_transpile", "optimize_project", "execute_llm_plan", "plan_crate_yaml_text"),
    *("apply_project_structure_from_yaml", "c2rust.plan_max_retries", "score_sum", "top_risk_files"),
)
# What the assistant around the runtime takes over.
ASSISTANT = (
    *("system_prompt", "name", "description", "model_group", "summary_prompt", "auto_complete", "use_tools"),
    *("execute_tool_confirm", "need_summary", "auto_summary_rounds", "tool_reminder_rounds", "max_token_count"),
    *("use_methodology", "use_analysis", "force_save_memory", "disable_file_edit", "files", "non_interactive"),
    *("in_multi_agent", "plan", "plan_max_depth", "plan_depth", "agent_type", "JARVIS_NON_INTERACTIVE"),
    *("JARVIS_TOOL_GROUP", "JARVIS_TOOL_REMINDER_ROUNDS", "JARVIS_AFTER_TOOL_CALL_CB_DIRS", "JARVIS_MCP"),
    *("builtin", "shell", "can_handle", "prompt", "handle", "need_return", "tool_prompt", "INTERRUPT_TRIGGERED"),
    *("current_response", "user_input", "skip_turn", "continue", "complete", "normalize_next_action"),
    *("run_input_handlers_next_turn", "__executed_tools__", "__last_executed_tool__", "addon_prompt"),
    *("conversation_length", "user_data", "output_handler", "multiline_inputer", "print_on_empty", "confirm_callback"),
    *("saved_session", "USER.md", "SOUL.md", "AGENT.md", "routine", "Skills", "Direct", "NeedClarification"),
    *("SKILL.md", "readonly", "supervised", "full", "PATCH", "REWRITE", "SEARCH", "REPLACE", "SEARCH_START"),
    *("SEARCH_END", "RANGE", "stdio", "sse", "streamable", "command", "base_url", "tool_call"),
    *("get_resource_list", "get_resource", "uri", "save_memory", "retrieve_memory", "clear_memory", "memories"),
    *("memory_type", "memory_types", "tags", "content", "limit", "ids", "short_term", "project_long_term"),
    *("global_long_term", "id", "type", "created_at", "updated_at", "merged_from", "__memory_save_prompted__"),
    *("--type", "--min-overlap", "--dry-run", "merged_memory", "export", "import", "--tag", "--overwrite"),
    *("PLAN", "DONT_NEED", "SUB_TASK_RESULTS", "RESULT_SUMMARY", "save_methodology", "__task_analysis_done__"),
    *("methodologies", "central_repo", "share-methodology", "share-tool", "sub_agent", "sub_code_agent", "ask_user"),
    *("search_web", "--llm-group", "--tool-group", "--config", "--requirement", "--append-tools", "--restore-session"),
    *("--prefix", "--suffix", "--non-interactive", "--plan", "--no-plan", "rules", "git_check", "static_analysis"),
    *("code_modifications", "SEND_MESSAGE", "to", "agents", "agents_config", "main_agent_name"),
    *("common_system_prompt", "original_question", "summary_on_send", "clear_after_send_message", "from"),
    *("summary_of_sender_work", "multi_agent", "roles", "--disable-methodology-analysis", "--interactive-config"),
    *("--edit", "jarvis-agent", "jvs", "jarvis-code-agent", "jca", "jarvis-multi-agent", "jarvis-memory-organizer"),
    *("BasePlatform", "chat", "chat_until_success", "set_system_prompt", "set_model_name", "set_model_group", "reset"),
    *("upload_files", "platform_name", "save", "restore"),
)


def rows(table: str) -> list[list[str]]:
    """Return the cells of a table, without its head."""
    lines = [line for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_tables_have_rows_of_three_cells() -> None:
    assert len(rows(HELD)) > 90
    assert all(len(cells) == 3 and all(cells) for cells in rows(HELD) + rows(LEFT_OUT))


def names_a_test(cells: list[str]) -> bool:
    file, _, test = cells[-1].partition("::")
    return re.search(rf"^(async )?def {re.escape(test)}\(", text_of(file), re.MULTILINE) is not None


@cache
def text_of(file: str) -> str:
    return (ROOT / file).read_text()


def test_the_test_of_a_name_is_there() -> None:
    assert [cells for cells in rows(HELD) if not names_a_test(cells)] == []


def test_a_name_says_in_which_seed_it_stands() -> None:
    assert [cells for cells in rows(HELD) + rows(LEFT_OUT) if not re.match(r"00[0-4] (`#|§)", cells[1])] == []


def test_every_event_of_an_agent_stands_in_the_tables() -> None:
    named = {word for cells in rows(HELD) + rows(LEFT_OUT) for word in re.findall(r"[A-Z_]+", cells[0])}

    assert set(PAYLOADS) <= named


@pytest.mark.parametrize("names", [READING_C, MOVING_TO_RUST, ASSISTANT], ids=["read C", "to Rust", "assistant"])
def test_every_name_stands_in_the_tables(names: tuple[str, ...]) -> None:
    words = {word for cells in rows(HELD) + rows(LEFT_OUT) for word in re.findall(r"[-\w.]+", cells[0])}

    assert [name for name in names if name not in words] == []
