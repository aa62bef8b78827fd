"""Writes tiny random Maple checkpoints in the published Hugging Face form, tokenizer and chat template included."""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

# Words whose letters the tiny tokenizer joins, so that tokens of many lengths exist. The emoji is joined up to
# its third byte of four and the euro sign up to its second of three: tokens then end inside a character.
_JOINED = [b" the", b" world", b"Hello", b"ing", b" name", b"arguments", b"\n\n", "é".encode(), "🍁".encode()[:3]]
_JOINED += ["€".encode()[:2]]

_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

# As in Qwen's tokenizers: the control tokens are special, the markers are not.
CONTROL_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
MARKER_TOKENS = ("<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>")

VOCAB_SIZE = 352  # rows of the embedding; the tokenizer has fewer ids, as the published one

CHAT_TEMPLATE = r"""
{%- if tools %}
    {{- '<|im_start|>system\n' }}
    {%- if messages[0].role == 'system' %}
        {{- messages[0].content + '\n\n' }}
    {%- endif %}
    {{- '# Tools\n\nYou may call one or more functions. Their signatures:\n<tools>' }}
    {%- for tool in tools %}
        {{- '\n' + (tool | tojson) }}
    {%- endfor %}
    {{- '\n</tools>\n\nFor each call, return a json object within <tool_call></tool_call> tags:\n' }}
    {{- '<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call><|im_end|>\n' }}
{%- elif messages[0].role == 'system' %}
    {{- '<|im_start|>system\n' + messages[0].content + '<|im_end|>\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == 'user' or (message.role == 'system' and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}
    {%- elif message.role == 'assistant' %}
        {{- '<|im_start|>assistant\n' }}
        {%- if message.reasoning_content and loop.last %}
            {{- '<think>\n' + message.reasoning_content.strip('\n') + '\n</think>\n\n' }}
        {%- endif %}
        {{- message.content or '' }}
        {%- for call in message.tool_calls or [] %}
            {%- if not loop.first or message.content %}
                {{- '\n' }}
            {%- endif %}
            {{- '<tool_call>\n{"name": "' + call.function.name + '", "arguments": ' }}
            {%- if call.function.arguments is string %}
                {{- call.function.arguments }}
            {%- else %}
                {{- call.function.arguments | tojson }}
            {%- endif %}
            {{- '}\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\n' }}
    {%- elif message.role == 'tool' %}
        {%- if loop.first or loop.previtem.role != 'tool' %}
            {{- '<|im_start|>user' }}
        {%- endif %}
        {{- '\n<tool_response>\n' + message.content + '\n</tool_response>' }}
        {%- if loop.last or loop.nextitem.role != 'tool' %}
            {{- '<|im_end|>\n' }}
        {%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n<think>\n' }}
{%- endif %}
""".lstrip("\n")


def published_config(without: tuple[str, ...] = (), **changes) -> dict:
    """config.json as the published one is written, dead keys included, with tiny sizes that all differ."""
    ids = token_ids()
    config = {
        "architectures": ["MapleForCausalLM"],
        "auto_map": {  # the published repository's own code, which is never to run
            "AutoConfig": "configuration_maple.MapleConfig",
            "AutoModelForCausalLM": "modeling_maple.MapleForCausalLM",
        },
        "bos_token_id": ids["<|endoftext|>"],
        "eos_token_id": ids["<|im_end|>"],
        "head_dim": 16,
        "hidden_act": "silu",
        "hidden_size": 48,
        "intermediate_size": 4096,
        "max_position_embeddings": 4096,
        "model_type": "maple",
        "moe_intermediate_size": 32,
        "nope_on_global_attention": True,
        "num_attention_heads": 4,
        "num_experts": 8,
        "num_experts_per_tok": 3,
        "num_hidden_layers": 5,
        "num_key_value_heads": 2,
        "pad_token_id": ids["<|endoftext|>"],
        "partial_rotary_factor": 0.5,
        "preaffine": False,
        "quantize": True,
        "rms_norm_eps": 1e-6,
        "rope_scaling": None,
        "rope_theta": 10000,
        "sliding_window": 8,
        "tie_word_embeddings": False,
        "torch_dtype": "bfloat16",
        "use_cache": True,
        "vocab_size": VOCAB_SIZE,
    }
    layers = changes.get("num_hidden_layers", config["num_hidden_layers"])
    config["layer_types"] = ["full_attention" if i % 4 == 3 else "sliding_attention" for i in range(layers)]
    config |= changes
    return {key: value for key, value in config.items() if key not in without}


def published_shapes(config: dict) -> dict[str, tuple[int, ...]]:
    """Every tensor of the published form; the matrices [out, in]."""
    hidden, width, head = config["hidden_size"], config["moe_intermediate_size"], config["head_dim"]
    query, key = config["num_attention_heads"] * head, config["num_key_value_heads"] * head
    shapes = {"model.word_embeddings.weight": (config["vocab_size"], hidden)}
    for layer in range(config["num_hidden_layers"]):
        prefix = f"model.layers.{layer}"
        shapes[f"{prefix}.input_layernorm.weight"] = (hidden,)
        shapes[f"{prefix}.self_attn.q_proj.weight"] = (query, hidden)
        shapes[f"{prefix}.self_attn.k_proj.weight"] = (key, hidden)
        shapes[f"{prefix}.self_attn.v_proj.weight"] = (key, hidden)
        shapes[f"{prefix}.self_attn.o_proj.weight"] = (hidden, query)
        shapes[f"{prefix}.self_attn.q_norm.weight"] = (head,)
        shapes[f"{prefix}.self_attn.k_norm.weight"] = (head,)
        shapes[f"{prefix}.post_attention_layernorm.weight"] = (hidden,)
        shapes[f"{prefix}.mlp.gate.weight"] = (config["num_experts"], hidden)
        for expert in range(config["num_experts"]):
            shapes[f"{prefix}.mlp.experts.{expert}.gate_proj.weight"] = (width, hidden)
            shapes[f"{prefix}.mlp.experts.{expert}.up_proj.weight"] = (width, hidden)
            shapes[f"{prefix}.mlp.experts.{expert}.down_proj.weight"] = (hidden, width)
    shapes["model.norm.weight"] = (hidden,)
    shapes["lm_head.weight"] = (config["vocab_size"], hidden)
    return shapes


def is_ternary_name(name: str) -> bool:
    return "_proj." in name


def random_tensors(config: dict, seed: int = 0) -> dict[str, torch.Tensor]:
    """bf16 tensors by published name, large enough that clamps, router and softmax are all at work."""
    generator = torch.Generator().manual_seed(seed)
    return {name: _random_tensor(name, shape, generator) for name, shape in published_shapes(config).items()}


def _random_tensor(name: str, shape: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    if is_ternary_name(name):
        return random_ternary(shape, generator, 0.1, 0.5 if ".down_proj." in name else 2.0)
    if "norm." in name:
        return (0.5 + torch.rand(shape, generator=generator)).bfloat16()
    std = {"model.word_embeddings.weight": 0.02, "lm_head.weight": 0.2}.get(name, 0.15)  # 0.15: routers
    return (std * torch.randn(shape, generator=generator)).bfloat16()


def random_ternary(shape: tuple[int, ...], generator: torch.Generator, low: float, high: float) -> torch.Tensor:
    """A bf16 matrix of rows {-a, 0, +a}, low <= a <= high, about 61 % not zero; some of the zeros are -0.0."""
    scales = low + (high - low) * torch.rand(shape[0], 1, generator=generator)
    chance = torch.rand(shape, generator=generator)
    signs = torch.where(chance < 0.305, -1.0, torch.where(chance < 0.61, 1.0, torch.where(chance < 0.8, -0.0, 0.0)))
    return scales.bfloat16() * signs.bfloat16()


def write_weights(directory: Path, tensors: dict[str, torch.Tensor], num_shards: int = 1) -> None:
    """One model.safetensors, or shards with an index in the published manner."""
    if num_shards == 1:
        save_file(tensors, directory / "model.safetensors", metadata={"format": "pt"})
        return
    weight_map = {}
    for shard in range(num_shards):
        file_name = f"model-{shard + 1:05d}-of-{num_shards:05d}.safetensors"
        names = sorted(tensors)[shard::num_shards]  # neighbours lie in different files
        save_file({name: tensors[name] for name in names}, directory / file_name, metadata={"format": "pt"})
        weight_map |= dict.fromkeys(names, file_name)
    total = sum(tensor.nbytes for tensor in tensors.values())
    write_json(
        directory / "model.safetensors.index.json", {"metadata": {"total_size": total}, "weight_map": weight_map}
    )


def tiny_tokenizer() -> Tokenizer:
    """A byte-level BPE tokenizer as Qwen's, with the bytes, a few longer tokens, and the control tokens."""
    spelling = _byte_characters()
    vocab = {character: i for i, character in enumerate(sorted(spelling.values()))}
    merges = []
    for word in _JOINED:
        joined, *rest = (spelling[byte] for byte in word)
        for character in rest:
            if joined + character not in vocab:
                merges.append((joined, character))
                vocab[joined + character] = len(vocab)
            joined += character
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_SPLIT), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in CONTROL_TOKENS])
    tokenizer.add_tokens([AddedToken(token, special=False, normalized=False) for token in MARKER_TOKENS])
    return tokenizer


def _byte_characters() -> dict[int, str]:
    """GPT-2's spelling of bytes: printable ones stand for themselves, the others for characters from 256 on."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return {byte: chr(byte) for byte in printable} | {byte: chr(256 + i) for i, byte in enumerate(others)}


def token_ids() -> dict[str, int]:
    """The ids of the control and marker tokens."""
    tokenizer = tiny_tokenizer()
    return {token: tokenizer.token_to_id(token) for token in (*CONTROL_TOKENS, *MARKER_TOKENS)}


def write_tokenizer(directory: Path) -> None:
    """tokenizer.json, tokenizer_config.json and chat_template.jinja."""
    tiny_tokenizer().save(str(directory / "tokenizer.json"))
    write_json(
        directory / "tokenizer_config.json",
        {
            "add_prefix_space": False,
            "bos_token": None,
            "clean_up_tokenization_spaces": False,
            "eos_token": "<|im_end|>",
            "model_max_length": 131072,
            "pad_token": "<|endoftext|>",
            "tokenizer_class": "Qwen2Tokenizer",
            "unk_token": None,
        },
    )
    (directory / "chat_template.jinja").write_text(CHAT_TEMPLATE, encoding="utf-8")


def write_json(path: Path, value) -> None:
    path.write_text(json.dumps(value, indent=2), encoding="utf-8")


def write_checkpoint(
    directory: Path, config: dict | None = None, tensors: dict | None = None, num_shards: int = 1
) -> Path:
    """A whole checkpoint: config.json, weights, tokenizer and template. Returns the directory, made if need be."""
    directory.mkdir(parents=True, exist_ok=True)
    config = published_config() if config is None else config
    write_json(directory / "config.json", config)
    write_weights(directory, random_tensors(config) if tensors is None else tensors, num_shards)
    write_tokenizer(directory)
    return directory
