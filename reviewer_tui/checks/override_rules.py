"""Settings that change what a model computes, and those that do not, as data.

Source: the verifier's check on the model's architecture (same computation faster is fine, lower precision is fine,
computing less is not) and the fields of Hugging Face model configs that the repository's overrides name.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, get_args

import msgspec

from reviewer_tui.launch.arguments import Engine, flags_of

Effect = Literal["reduces", "unclear", "none"]
"""`reduces`: less is computed than the model's own config asks for, unless it ships so. `none`: the same is."""


class FieldRule(msgspec.Struct, frozen=True):
    """What overriding a field of a model's config does; `fields` matches the field's name in lower case with `_`."""

    fields: re.Pattern[str]
    effect: Effect
    reason: str


def _fields(*patterns: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(patterns)})\Z")


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
        _fields("index_topk_freq", "(?:use_)?index_cache"),
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
_OF_THE_INDEXER = re.compile(r"index-topk(?:-pattern)?|sparse-disable-index-value")
UNKNOWN_FIELD = FieldRule(re.compile(""), "unclear", "what it changes is not known to this program")

OVERRIDE_OPTIONS = (
    *("hf-overrides", "hf-override", "json-model-override-args", "model-override-args", "model-overrides"),
    *("model-override", "config-overrides", "config-override", "override-config", "override-neuron-config"),
    *("text-config-overrides", "text-config-override"),
)
"""Options that take fields of a model's config."""

OVERRIDE_KEYS = ("model-kwargs", "pretrained-config-overrides")
"""Keys of recipes that do so too."""

OTHER_OPTIONS = {
    "hf-config-path": "it puts another config in the place of the model's own",
    "decrypted-config-file": "it puts another config in the place of the model's own",
    "model-class-overrides": "another class may compute something else",
    "model-impl": "another implementation of the model may compute something else",
    "config-format": "it reads another config than the model's own",
    "revision": "it names a revision of the checkpoint, whose config may be another one",
    "code-revision": "it names a revision of the model's code, which may compute something else",
}
"""Options that put another model in the place of the entry's, as a whole or in part."""

_SPARSE = "it leaves parts of the attention out, unless the model ships so"
SPARSE_OPTIONS = {
    **dict.fromkeys(
        ("enable-double-sparsity", "enable-hisparse", "hisparse-config", "ds-sparse-decode-threshold"), _SPARSE
    ),
    **dict.fromkeys(
        ("ds-heavy-token-num", "ds-heavy-channel-num", "hierarchical-sparse-attention-extra-config"), _SPARSE
    ),
    "kt-max-deferred-experts-per-token": "it puts off experts, whose results then come too late for their layer",
    "dllm-algorithm": "it decodes in another way than the model's own",
    "video-pruning-rate": "it leaves tokens out",
}
"""Options of engines that compute less than a dense model asks for."""

LOAD_FORMAT = "load-format"
_NO_WEIGHTS = "dummy"
NO_WEIGHTS = "its weights are made up, so it is not the checkpoint that is measured"

MODEL_CONFIG = re.compile(r"(?<![\w.-])config\.json(?![\w-])")
"""The file in which a checkpoint keeps its config."""

# Names of fields that variables of engines carry behind a prefix of their own (`VLLM_NUM_LAYERS`).
_IN_VARIABLES = re.compile(
    r"num_(?:hidden_)?layers|skip_layers?|layers?_skip|index_topk(?:_\w+)?|(?:use_)?index_cache|num_experts_per_tok\w*"
    r"|skip_(?:experts?|indexer|attention|attn|mlp|moe)(?:_\w+)?|prune_\w*(?:layer|expert|head)s?|dummy_weights?"
    r"|num_(?:attention|key_value|kv)_heads|num_(?:local_|routed_)?experts|n_routed_experts|moe_top_?k|early_exit\w*"
)
PARTS = ("LAYER", "TOPK", "TOP_K", "EXPERT", "HEADS", "INDEX_CACHE", "EARLY_EXIT", "SKIP_", "DUMMY_WEIGHT")
ENVIRONMENT = re.compile(rf"(?<!\w)[A-Z][A-Z0-9_]*(?:{'|'.join(PARTS)})[A-Z0-9_]*(?!\w)")
"""What looks like a variable that names a part of a model; `names_a_part` tells whether it does."""

TEXT_ONLY = re.compile(r"(?<![\w-])(?:--)?language[-_]model[-_]only(?![\w-])")
"""A published option that leaves out the towers for pictures and sound, which a text benchmark never uses."""

_SHORTEST_START = 6
_SWITCHES = ("enable-", "use-")


class Option(msgspec.Struct, frozen=True):
    """An option or key that touches a model: its full name without dashes, what it takes (`fields` of a config, one
    `field` itself, `weights`, or something `other`), and the rule that holds for it."""

    name: str
    takes: Literal["fields", "field", "weights", "other"]
    rule: FieldRule


@lru_cache(maxsize=8192)
def option_of(name: str) -> Option | None:
    """The option that a name without dashes stands for, spelled with `-` or `_`, or begun so far that a parser of
    arguments completes it; None where it touches no model."""
    said = name.lower().replace("_", "-")
    if said in OVERRIDE_OPTIONS or said in OVERRIDE_KEYS:
        return Option(said, "fields", UNKNOWN_FIELD)
    if reason := OTHER_OPTIONS.get(said) or SPARSE_OPTIONS.get(said):
        return Option(said, "other", FieldRule(UNKNOWN_FIELD.fields, "unclear", reason))
    if said == LOAD_FORMAT:
        return Option(said, "weights", FieldRule(UNKNOWN_FIELD.fields, "unclear", NO_WEIGHTS))
    if any(f"--{said}" in flags_of(engine) for engine in (*get_args(Engine), "dynamo")):
        return None
    if len(said) >= _SHORTEST_START and "-" in said:
        begun = (*OVERRIDE_OPTIONS, *OTHER_OPTIONS, *SPARSE_OPTIONS, LOAD_FORMAT)
        if whole := next((option for option in begun if option.startswith(said)), None):
            return option_of(whole)
    return _field_option(said)


def _field_option(said: str) -> Option | None:
    """An option that is named after a field itself (`--num-hidden-layers`)."""
    for switch in ("", *(switch for switch in _SWITCHES if said.startswith(switch))):
        rule = field_rule((said.removeprefix(switch),))
        if rule.effect == "reduces" or _OF_THE_INDEXER.fullmatch(said.removeprefix(switch)):
            return Option(said, "field", rule)
    return None


@lru_cache(maxsize=8192)
def names_a_part(variable: str) -> bool:
    """Whether a variable carries the name of a field of a model's config behind a prefix of its own."""
    parts = variable.lower().split("_")
    return any(_IN_VARIABLES.fullmatch("_".join(parts[at:])) for at in range(1, len(parts)))


def loads_nothing(value: str) -> bool:
    """Whether a load format makes weights up instead of loading them."""
    return value.strip("\"'").lower() == _NO_WEIGHTS


# A setting that a policy may forbid to switch off, in its spellings.
EVENTS = "publish_events_and_metrics"
_EVENTS = r"publish[-_]events[-_]and[-_]metrics"
EVENTS_SET = re.compile(
    rf"(?<![\w-])(--no-)?(?:--)?(?:[A-Z]+_)*{_EVENTS}(?![\w-])[\"']?\s*[:=]?\s*[\"']?([A-Za-z0-9]*)", re.I
)
FALSE = frozenset({"false", "no", "off", "0", "f", "n", "disabled", "none", "null"})
TRUE = frozenset({"true", "yes", "on", "1", "t", "y", "enabled"})


def field_rule(path: tuple[str, ...]) -> FieldRule:
    """The rule for a field by its path in the model's config (`("text_config", "index_topk_freq")`)."""
    names = [name.lower().replace("-", "_") for name in path]
    for pattern, reason in WITHIN:
        if any(pattern.fullmatch(name) for name in names):
            return FieldRule(pattern, "none", reason)
    return next((rule for rule in FIELDS if names and rule.fields.match(names[-1])), UNKNOWN_FIELD)
