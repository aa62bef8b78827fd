"""The tensor names of the Hugging Face form and the shapes a configuration gives them."""

from torch import nn

from maple.kernels.layers import ExpertLinear
from maple.model import MapleConfig

# Copies of the model may hold these; the network has no use for them.
IGNORED_SUFFIXES = (".mlp.gate.expert_bias", "rotary_emb.inv_freq")


def is_ignored(name: str) -> bool:
    return name.endswith(IGNORED_SUFFIXES)


def published_shapes(config: MapleConfig) -> dict[str, tuple[int, ...]]:
    """Every tensor the published form has, with its shape."""
    hidden, width = config.hidden_size, config.moe_intermediate_size
    query, key = (n * config.head_dim for n in (config.num_attention_heads, config.num_key_value_heads))
    layer = {
        "input_layernorm": (hidden,),
        "post_attention_layernorm": (hidden,),
        "self_attn.q_proj": (query, hidden),
        "self_attn.k_proj": (key, hidden),
        "self_attn.v_proj": (key, hidden),
        "self_attn.o_proj": (hidden, query),
        "self_attn.q_norm": (config.head_dim,),
        "self_attn.k_norm": (config.head_dim,),
        "mlp.gate": (config.num_experts, hidden),
    }
    for expert in range(config.num_experts):
        layer[f"mlp.experts.{expert}.gate_proj"] = (width, hidden)
        layer[f"mlp.experts.{expert}.up_proj"] = (width, hidden)
        layer[f"mlp.experts.{expert}.down_proj"] = (hidden, width)
    shapes = {
        "model.word_embeddings.weight": (config.vocab_size, hidden),
        "model.norm.weight": (hidden,),
        "lm_head.weight": (config.vocab_size, hidden),
    }
    for index in range(config.num_hidden_layers):
        shapes |= {f"model.layers.{index}.{name}.weight": shape for name, shape in layer.items()}
    return shapes


def published_names(path: str, module: nn.Module) -> list[str]:
    """The published tensors that make a module's weight: one an expert for ExpertLinear, else one."""
    if not isinstance(module, ExpertLinear):
        return [f"{path}.weight"]
    experts, _, projection = path.rpartition(".")
    return [f"{experts}.{expert}.{projection}.weight" for expert in range(module.num_experts)]
