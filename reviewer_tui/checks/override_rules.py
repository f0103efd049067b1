"""Settings that change what a model computes, and those that do not, as data.

Source: the verifier's check on the model's architecture (same computation faster is fine, lower precision is fine,
computing less is not) and the fields of Hugging Face model configs that the repository's overrides name.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

Effect = Literal["reduces", "unclear", "none"]
"""`reduces`: less is computed than the model's own config asks for, unless it ships so. `none`: the same is."""


class FieldRule(msgspec.Struct, frozen=True):
    """What overriding a field of a model's config does; `fields` matches the field's name in lower case with `_`."""

    fields: re.Pattern[str]
    effect: Effect
    reason: str


def _fields(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns) + r"\Z")


WITHIN = (
    (re.compile(r"rope_(?:scaling|parameters)"), "it sets positions, not how much is computed"),
    (re.compile(r"quantization_config|compression_config"), "it sets the precision, which may be lower"),
    (re.compile(r"generation_config"), "it sets sampling"),
)
"""Groups of fields in which nothing changes how much is computed."""

FIELDS = (
    FieldRule(
        _fields(r"num_(?:hidden_)?layers", "n_layers?", "num_decoder_layers", "max_window_layers"),
        "reduces",
        "it sets how many layers are computed",
    ),
    FieldRule(
        _fields(
            *(r"n_(?:routed|shared)_experts", r"num_(?:local_|routed_|shared_)?experts", r"num_experts_per_tok(?:en)?"),
            *(r"moe_top_?k", r"top_?k_experts", r"num_selected_experts", r"experts_per_token"),
        ),
        "reduces",
        "it sets how many experts are computed",
    ),
    FieldRule(
        _fields(r"num_(?:attention|key_value|kv)_heads", r"n_heads?", r"index_n_heads"),
        "reduces",
        "it sets how many heads are computed",
    ),
    FieldRule(
        _fields(r"(?:moe_)?intermediate_size", r"hidden_size", r"(?:index_)?head_dim", r"ffn_hidden_size"),
        "reduces",
        "it sets the width of layers",
    ),
    FieldRule(
        _fields(r"skip_\w*(?:layers?|indexer|experts?)", r"layers?_skip\w*", r"early_exit\w*", r"exit_layer"),
        "reduces",
        "it skips layers",
    ),
    FieldRule(
        _fields("index_topk_freq", "use_index_cache"),
        "reduces",
        "it skips the indexer on some layers",
    ),
    FieldRule(
        _fields(
            *("index_topk", "index_topk_pattern", "indexer_types", r"\w*sliding_window\w*", r"\w*attention_window\w*"),
            *("layer_types", "attention_chunk_size", "n_group", "topk_group", "first_k_dense_replace"),
            *("sparse_disable_index_value", r"\w*sparse_topk\w*", "num_nextn_predict_layers"),
        ),
        "unclear",
        "whether less is computed depends on the model's own config",
    ),
    FieldRule(
        _fields("architectures?", "model_type", "auto_map"),
        "unclear",
        "another class may compute something else",
    ),
    FieldRule(
        _fields(
            *(r"rope_\w+", r"\w*max_position_embeddings", "max_model_len", "model_max_length", "partial_rotary_factor"),
            r"max_seq(?:uence)?_len(?:gth)?",
        ),
        "none",
        "it sets positions and length, not how much is computed",
    ),
    FieldRule(
        _fields(r"(?:torch_)?dtype", r"\w+_dtype", r"quant\w*"),
        "none",
        "it sets the precision, which may be lower",
    ),
    FieldRule(
        _fields(
            *(r"\w*_token_ids?", r"(?:enable_)?thinking\w*", "chat_template", "use_cache", "temperature", r"top_[pk]"),
            *(
                "repetition_penalty",
                "tie_word_embeddings",
                r"attn_implementation",
                "do_sample",
                "min_p",
                "max_new_tokens",
            ),
        ),
        "none",
        "it sets tokens, templates or sampling",
    ),
)
UNKNOWN_FIELD = FieldRule(re.compile(""), "unclear", "what it changes is not known to this program")

OVERRIDES = re.compile(
    r"(?<![\w-])(?:--)?(hf[-_]overrides?|json[-_]model[-_]override[-_]args|model[-_]override[-_]args"
    r"|(?:model|config)[-_]overrides?|override[-_](?:neuron[-_])?config|text[-_]config[-_]overrides?)(?![\w-])"
)
"""Options that take fields of a model's config."""

OVERRIDE_KEY = re.compile(OVERRIDES.pattern.replace(r"(?:--)?", "") + r"|model_kwargs|pretrained_config_overrides")
"""The same as keys of a recipe."""

OTHER_CONFIG = re.compile(r"(?<![\w-])--hf[-_]config[-_]path(?![\w-])")
"""Options that put another config in the place of the model's own."""

DIRECT = re.compile(
    r"(?<![\w-])--(num[-_]hidden[-_]layers|skip[-_]\w*layers?|layers?[-_]skip\w*|early[-_]exit[\w-]*|num[-_]experts[-_]per[-_]tok)"
    r"(?:[= ]+(\S+))?"
)
"""Server arguments that cut a model themselves."""

ENVIRONMENT = re.compile(
    r"\b([A-Z][A-Z0-9_]*(?:NUM_(?:HIDDEN_)?LAYERS|SKIP_LAYERS?|INDEX_TOPK(?:_FREQ)?|NUM_EXPERTS_PER_TOK|LAYER_SKIP)[A-Z0-9_]*)="
)

TEXT_ONLY = re.compile(r"(?<![\w-])(?:--)?language[-_]model[-_]only(?![\w-])")
"""A published option that leaves out the towers for pictures and sound, which a text benchmark never uses."""

TELLTALES = (
    *(
        "hf-overrid",
        "hf_overrid",
        "model-overrid",
        "model_overrid",
        "config-overrid",
        "config_overrid",
        "override-args",
    ),
    *("override_args", "override-config", "override_config", "override-neuron", "override_neuron", "hf-config-path"),
    *(
        "hf_config_path",
        "config.json",
        "num-hidden-layers",
        "num_hidden_layers",
        "skip-layer",
        "skip_layer",
        "layer-skip",
    ),
    *("layer_skip", "layers-skip", "layers_skip", "index_topk", "index_cache", "_LAYERS", "_TOPK", "LAYER_SKIP"),
    *("experts_per_tok", "experts-per-tok", "early-exit", "early_exit", "sparse_disable"),
    "model_kwargs",
)
"""A text without any of these holds no setting that this program could find; the last one is a key of recipes only."""

# A setting that a policy may forbid to switch off, in its spellings.
EVENTS = "publish_events_and_metrics"
_EVENTS = r"publish[-_]events[-_]and[-_]metrics"
EVENTS_SET = re.compile(rf"(?<![\w-])(--no-)?(?:--)?{_EVENTS}(?![\w-])[\"']?\s*[:=]?\s*[\"']?([A-Za-z0-9]*)", re.I)
FALSE = frozenset({"false", "no", "off", "0", "f", "n", "disabled", "none", "null"})
TRUE = frozenset({"true", "yes", "on", "1", "t", "y", "enabled"})


def field_rule(path: tuple[str, ...]) -> FieldRule:
    """The rule for a field by its path in the model's config (`("text_config", "index_topk_freq")`)."""
    names = [name.lower().replace("-", "_") for name in path]
    for pattern, reason in WITHIN:
        if any(pattern.fullmatch(name) for name in names):
            return FieldRule(pattern, "none", reason)
    return next((rule for rule in FIELDS if names and rule.fields.match(names[-1])), UNKNOWN_FIELD)
