"""The Maple network. Formulas: the published reference, with its inclusive window and clamped SwiGLU."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import GenerationMixin, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutputWithPast, CausalLMOutputWithPast

from maple.kernels.layers import ExpertLinear
from maple.model.cache import MapleCache, visible_keys
from maple.model.configuration import MapleConfig


class MapleRMSNorm(nn.Module):
    """Root mean square norm, computed and weighted in float32."""

    def __init__(self, size: int, eps: float):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x.float(), self.weight.shape, self.weight.float(), self.eps).to(x.dtype)


def rotary_angles(config: MapleConfig, positions: Tensor) -> tuple[Tensor, Tensor]:
    """positions [batch, new] -> cos and sin [batch, 1, new, rotary_dim / 2], float32."""
    exponents = torch.arange(0, config.rotary_dim, 2, device=positions.device).float() / config.rotary_dim
    angles = positions[:, None, :, None].float() * config.rope_theta**-exponents
    return angles.cos(), angles.sin()


def apply_rotary(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turns the leading dimensions of each head, i paired with i + rotary_dim / 2; x: [batch, heads, new, head_dim]."""
    half = cos.shape[-1]
    first, second, rest = x[..., :half], x[..., half : 2 * half], x[..., 2 * half :]
    cos, sin = cos.to(x.dtype), sin.to(x.dtype)
    return torch.cat((first * cos - second * sin, second * cos + first * sin, rest), dim=-1)


class MapleAttention(nn.Module):
    def __init__(self, config: MapleConfig, layer: int):
        super().__init__()
        self.layer = layer
        self.head_dim = config.head_dim
        self.is_sliding = config.layer_types[layer] == "sliding_attention"
        self.has_rope = self.is_sliding or not config.nope_on_global_attention
        width, kv_width = (n * config.head_dim for n in (config.num_attention_heads, config.num_key_value_heads))
        self.q_proj = nn.Linear(config.hidden_size, width, bias=False)
        self.k_proj = nn.Linear(config.hidden_size, kv_width, bias=False)
        self.v_proj = nn.Linear(config.hidden_size, kv_width, bias=False)
        self.o_proj = nn.Linear(width, config.hidden_size, bias=False)
        self.q_norm = MapleRMSNorm(config.head_dim, config.rms_norm_eps)
        self.k_norm = MapleRMSNorm(config.head_dim, config.rms_norm_eps)

    def forward(self, x: Tensor, rotary: tuple[Tensor, Tensor], visible: Tensor | None, cache) -> Tensor:
        """x: [batch, new, hidden]"""
        q, k, v = (
            projection(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2)
            for projection in (self.q_proj, self.k_proj, self.v_proj)
        )
        q, k = self.q_norm(q), self.k_norm(k)
        if self.has_rope:
            q, k = apply_rotary(q, *rotary), apply_rotary(k, *rotary)
        if cache is not None:
            k, v = cache.update(k, v, self.layer)
        attended = F.scaled_dot_product_attention(q, k, v, attn_mask=visible, enable_gqa=True)
        return self.o_proj(attended.transpose(1, 2).flatten(-2))


class MapleRouter(nn.Module):
    """Chooses each token's experts, in float32."""

    def __init__(self, config: MapleConfig):
        super().__init__()
        self.top_k = config.num_experts_per_tok
        self.weight = nn.Parameter(torch.empty(config.num_experts, config.hidden_size))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """x: [tokens, hidden] -> weights [tokens, k], experts [tokens, k]"""
        logits = F.linear(x.float(), self.weight.float())
        weights, experts = logits.softmax(dim=-1).topk(self.top_k, dim=-1)
        return weights / (weights.sum(dim=-1, keepdim=True) + 1e-20), experts


class MapleExperts(nn.Module):
    def __init__(self, config: MapleConfig):
        super().__init__()
        self.limit = config.swiglu_limit
        shape = config.num_experts, config.hidden_size, config.moe_intermediate_size
        self.gate_proj = ExpertLinear(*shape)
        self.up_proj = ExpertLinear(*shape)
        self.down_proj = ExpertLinear(shape[0], shape[2], shape[1])

    def forward(self, x: Tensor, weights: Tensor, experts: Tensor) -> Tensor:
        """Runs each expert once, on the tokens routed to it. x: [tokens, hidden]; sums in float32."""
        combined = torch.zeros(x.shape, dtype=torch.float32, device=x.device)
        chosen, order = experts.flatten().sort(stable=True)
        present, counts = chosen.unique_consecutive(return_counts=True)
        for expert, slots in zip(present.tolist(), order.split(counts.tolist()), strict=True):
            tokens = slots // experts.shape[-1]
            output = self._expert(x[tokens], expert).float() * weights.flatten()[slots, None]
            combined.index_add_(0, tokens, output)
        return combined.to(x.dtype)

    def _expert(self, x: Tensor, expert: int) -> Tensor:
        gate = self.gate_proj(x, expert).clamp(max=self.limit)
        up = self.up_proj(x, expert).clamp(-self.limit, self.limit)
        return self.down_proj(F.silu(gate) * up, expert)


class MapleMoE(nn.Module):
    def __init__(self, config: MapleConfig):
        super().__init__()
        self.gate = MapleRouter(config)
        self.experts = MapleExperts(config)

    def forward(self, x: Tensor) -> Tensor:
        """x: [batch, new, hidden]"""
        tokens = x.flatten(0, 1)
        return self.experts(tokens, *self.gate(tokens)).view_as(x)


class MapleLayer(nn.Module):
    def __init__(self, config: MapleConfig, layer: int):
        super().__init__()
        self.input_layernorm = MapleRMSNorm(config.hidden_size, config.rms_norm_eps)
        self.self_attn = MapleAttention(config, layer)
        self.post_attention_layernorm = MapleRMSNorm(config.hidden_size, config.rms_norm_eps)
        self.mlp = MapleMoE(config)

    def forward(self, x: Tensor, rotary: tuple[Tensor, Tensor], visible: Tensor | None, cache) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), rotary, visible, cache)
        return x + self.mlp(self.post_attention_layernorm(x))


class MaplePreTrainedModel(PreTrainedModel):
    config_class = MapleConfig
    base_model_prefix = "model"
    _no_split_modules = ("MapleLayer",)
    _supports_sdpa = True

    @torch.no_grad()
    def _init_weights(self, module):
        super()._init_weights(module)
        if isinstance(module, (MapleRouter, ExpertLinear)):
            nn.init.normal_(module.weight, std=self.config.initializer_range)


class MapleModel(MaplePreTrainedModel):
    """Embedding, layers and final norm."""

    def __init__(self, config: MapleConfig):
        super().__init__(config)
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(MapleLayer(config, layer) for layer in range(config.num_hidden_layers))
        self.norm = MapleRMSNorm(config.hidden_size, config.rms_norm_eps)
        self.post_init()

    def get_input_embeddings(self):
        return self.word_embeddings

    def set_input_embeddings(self, value):
        self.word_embeddings = value

    def forward(
        self,
        input_ids: Tensor,
        attention_mask=None,
        position_ids=None,
        past_key_values=None,
        use_cache=None,
        **_,
    ) -> BaseModelOutputWithPast:
        """input_ids: [batch, new]; attention_mask: [batch, past + new]; the cache is updated in place."""
        if use_cache and past_key_values is None:
            past_key_values = MapleCache(self.config)
        num_past = 0 if past_key_values is None else past_key_values.get_seq_length()
        num_new, device = input_ids.shape[1], input_ids.device
        if attention_mask is not None and bool(attention_mask.all()):
            attention_mask = None
        if position_ids is None:
            position_ids = torch.arange(num_past, num_past + num_new, device=device).unsqueeze(0)
        rotary = rotary_angles(self.config, position_ids)
        visible = {
            is_sliding: visible_keys(self.config, is_sliding, num_past, num_new, attention_mask, device)
            for is_sliding in (True, False)
        }
        hidden = self.word_embeddings(input_ids)
        for layer in self.layers:
            hidden = layer(hidden, rotary, visible[layer.self_attn.is_sliding], past_key_values)
        return BaseModelOutputWithPast(last_hidden_state=self.norm(hidden), past_key_values=past_key_values)


class MapleForCausalLM(MaplePreTrainedModel, GenerationMixin):
    """The network with its head, as Transformers' generate() and this server's engine use it."""

    def __init__(self, config: MapleConfig):
        super().__init__(config)
        self.model = MapleModel(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.post_init()

    def forward(self, input_ids: Tensor, logits_to_keep: int = 0, labels=None, **inputs) -> CausalLMOutputWithPast:
        """Logits [batch, kept, vocab] of the last logits_to_keep tokens, 0 meaning all; see MapleModel.forward."""
        outputs = self.model(input_ids, **inputs)
        logits = self.lm_head(outputs.last_hidden_state[:, -logits_to_keep:])
        loss = None
        if labels is not None:
            loss = self.loss_function(logits=logits, labels=labels, vocab_size=self.config.vocab_size)
        return CausalLMOutputWithPast(loss=loss, logits=logits, past_key_values=outputs.past_key_values)

    def _prepare_cache_for_generation(self, generation_config, model_kwargs, *args, **kwargs):
        # Transformers would build its own cache from the config, whose window is one position short.
        if generation_config.use_cache is not False and model_kwargs.get("past_key_values") is None:
            model_kwargs["past_key_values"] = MapleCache(self.config)
