"""The configuration of a Maple network, as config.json holds it."""

from huggingface_hub.dataclasses import strict
from transformers import PreTrainedConfig

FULL_ATTENTION_EVERY = 4  # the published pattern: three sliding layers, then a full one

SIZES = (
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "sliding_window",
    "num_experts",
    "num_experts_per_tok",
    "moe_intermediate_size",
    "max_position_embeddings",
)


@strict
class MapleConfig(PreTrainedConfig):
    """Sizes and constants of a Maple network; the defaults are those of deepgrove/maple-preview.

    Raises ValueError for values the network is not defined for.
    """

    model_type = "maple"
    keys_to_ignore_at_inference = ("past_key_values",)

    vocab_size: int = 151936
    hidden_size: int = 2048
    num_hidden_layers: int = 24
    num_attention_heads: int = 16
    num_key_value_heads: int = 4
    head_dim: int = 128
    layer_types: list[str] | None = None
    sliding_window: int = 512
    nope_on_global_attention: bool = True
    rope_theta: float | int = 10000.0
    partial_rotary_factor: float | int = 0.5
    num_experts: int = 256
    num_experts_per_tok: int = 8
    moe_intermediate_size: int = 512
    swiglu_limit: float | int = 7.0
    rms_norm_eps: float = 1e-6
    max_position_embeddings: int = 131072
    hidden_act: str = "silu"
    tie_word_embeddings: bool = False
    initializer_range: float = 0.02
    use_cache: bool = True
    bos_token_id: int | None = 151643
    pad_token_id: int | None = 151643
    eos_token_id: int | list[int] | None = 151645

    def __post_init__(self, **kwargs):
        _refuse_other_networks(kwargs)
        rope = kwargs.pop("rope_parameters", None) or {}
        self.rope_theta = rope.get("rope_theta", self.rope_theta)
        self.partial_rotary_factor = rope.get("partial_rotary_factor", self.partial_rotary_factor)
        if self.layer_types is None:
            self.layer_types = [
                "sliding_attention" if (layer + 1) % FULL_ATTENTION_EVERY else "full_attention"
                for layer in range(self.num_hidden_layers)
            ]
        super().__post_init__(**kwargs)
        self._check()

    @property
    def rotary_dim(self) -> int:
        """How many leading dimensions of each head RoPE turns."""
        return int(self.head_dim * self.partial_rotary_factor)

    @property
    def window_positions(self) -> int:
        """Positions a sliding layer sees, the query's own included.

        The reference's bound is inclusive: keys p - sliding_window .. p, one more than the field says.
        """
        return self.sliding_window + 1

    def _check(self):
        for name in SIZES:
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1")
        problems = {
            "num_attention_heads must be a multiple of num_key_value_heads": (
                self.num_attention_heads % self.num_key_value_heads
            ),
            "num_experts_per_tok must be at most num_experts": self.num_experts_per_tok > self.num_experts,
            "layer_types must name sliding_attention or full_attention for each layer": (
                len(self.layer_types) != self.num_hidden_layers
                or set(self.layer_types) - {"sliding_attention", "full_attention"}
            ),
            "partial_rotary_factor must be above 0, at most 1": not 0 < self.partial_rotary_factor <= 1,
            "head_dim times partial_rotary_factor must be even": self.rotary_dim % 2,
            "rope_theta must be above 0": self.rope_theta <= 0,
            "hidden_act must be silu": self.hidden_act != "silu",
            "tie_word_embeddings must be false": self.tie_word_embeddings,
        }
        for problem, is_wrong in problems.items():
            if is_wrong:
                raise ValueError(problem)


def _refuse_other_networks(fields: dict) -> None:
    """Raises ValueError for fields under which the weights would mean another network."""
    rope = fields.get("rope_parameters") or {}
    scaling = fields.pop("rope_scaling", None) or {}
    if not isinstance(rope, dict) or not isinstance(scaling, dict):
        raise ValueError("rope_parameters and rope_scaling must be objects")
    kinds = {rope.get("rope_type", "default"), scaling.get("rope_type", scaling.get("type", "default"))}
    if kinds != {"default"}:
        raise ValueError("scaled RoPE is not part of the Maple network")
    if any(isinstance(value, dict) for value in rope.values()):
        raise ValueError("rope_parameters for each layer type are not part of the Maple network")
    if fields.get("attention_bias"):
        raise ValueError("attention_bias must be false")
    if fields.get("norm_topk_prob") is False:
        raise ValueError("norm_topk_prob must be true")
