"""Maple's forward pass in NumPy, written from the published formulas; it shares no code with `maple`."""

import math

import numpy as np


class Reference:
    """Logits of a Maple network given as published tensor names and a plain config dict.

    `seen` gathers what the pass went through, so that a test can show it was not trivial.
    """

    def __init__(self, tensors, config):
        self.config = config
        self.tensors = {name: np.asarray(array, np.float64) for name, array in tensors.items()}
        self.seen = {
            "gates": 0,
            "gates_clamped": 0,
            "ups_clamped_above": 0,
            "ups_clamped_below": 0,
            "experts": [set() for _ in range(config["num_hidden_layers"])],
            "top_k_mass": [],
            "margins": [],  # between the last expert chosen and the first one not
        }

    def logits(self, ids):
        """[tokens, vocabulary] for one sequence of token ids."""
        x = self.tensors["model.word_embeddings.weight"][np.asarray(ids)]
        for layer in range(self.config["num_hidden_layers"]):
            x = x + self._attention(layer, self._norm(x, f"model.layers.{layer}.input_layernorm.weight"))
            x = x + self._experts(layer, self._norm(x, f"model.layers.{layer}.post_attention_layernorm.weight"))
        return self._norm(x, "model.norm.weight") @ self.tensors["lm_head.weight"].T

    def _norm(self, x, name):
        mean_square = (x * x).mean(axis=-1, keepdims=True)
        return x / np.sqrt(mean_square + self.config["rms_norm_eps"]) * self.tensors[name]

    def _attention(self, layer, x):
        prefix = f"model.layers.{layer}.self_attn"
        tokens = len(x)
        query_heads = self.config["num_attention_heads"]
        key_heads = self.config["num_key_value_heads"]
        width = self.config["head_dim"]
        sliding = self._is_sliding(layer)

        q = (x @ self.tensors[f"{prefix}.q_proj.weight"].T).reshape(tokens, query_heads, width)
        k = (x @ self.tensors[f"{prefix}.k_proj.weight"].T).reshape(tokens, key_heads, width)
        v = (x @ self.tensors[f"{prefix}.v_proj.weight"].T).reshape(tokens, key_heads, width)
        q = self._norm(q, f"{prefix}.q_norm.weight")
        k = self._norm(k, f"{prefix}.k_norm.weight")
        if sliding or not self.config["nope_on_global_attention"]:
            q, k = self._rotate(q), self._rotate(k)

        distance = np.arange(tokens)[:, None] - np.arange(tokens)[None, :]
        visible = distance >= 0
        if sliding:
            visible &= distance <= self.config["sliding_window"]

        out = np.empty((tokens, query_heads, width))
        for head in range(query_heads):
            shared = head // (query_heads // key_heads)
            scores = q[:, head] @ k[:, shared].T / math.sqrt(width)
            out[:, head] = _softmax(np.where(visible, scores, -np.inf)) @ v[:, shared]
        return out.reshape(tokens, -1) @ self.tensors[f"{prefix}.o_proj.weight"].T

    def _is_sliding(self, layer):
        kinds = self.config.get("layer_types")
        if kinds is None:
            return layer % 4 != 3
        return kinds[layer] == "sliding_attention"

    def _rotate(self, x):
        rotary = int(self.config["head_dim"] * self.config["partial_rotary_factor"])
        half = rotary // 2
        out = x.copy()
        for position in range(len(x)):
            for i in range(half):
                angle = position * self.config["rope_theta"] ** (-2 * i / rotary)
                c, s = math.cos(angle), math.sin(angle)
                a, b = x[position, :, i], x[position, :, i + half]
                out[position, :, i] = a * c - b * s
                out[position, :, i + half] = b * c + a * s
        return out

    def _experts(self, layer, x):
        prefix = f"model.layers.{layer}.mlp"
        chances = _softmax(x @ self.tensors[f"{prefix}.gate.weight"].T)
        out = np.zeros_like(x)
        for token, chance in enumerate(chances):
            ranked = np.argsort(-chance, kind="stable")
            chosen, refused = np.split(ranked, [self.config["num_experts_per_tok"]])
            self.seen["experts"][layer].update(chosen.tolist())
            self.seen["top_k_mass"].append(float(chance[chosen].sum()))
            self.seen["margins"].append(float(chance[chosen].min() - chance[refused].max()))
            for expert in chosen:
                weight = chance[expert] / (chance[chosen].sum() + 1e-20)
                out[token] += weight * self._expert(f"{prefix}.experts.{expert}", x[token])
        return out

    def _expert(self, prefix, x):
        gate = self.tensors[f"{prefix}.gate_proj.weight"] @ x
        up = self.tensors[f"{prefix}.up_proj.weight"] @ x
        self.seen["gates"] += gate.size
        self.seen["gates_clamped"] += int((gate > 7).sum())
        self.seen["ups_clamped_above"] += int((up > 7).sum())
        self.seen["ups_clamped_below"] += int((up < -7).sum())
        gate = np.minimum(gate, 7)
        hidden = gate / (1 + np.exp(-gate)) * np.clip(up, -7, 7)
        return self.tensors[f"{prefix}.down_proj.weight"] @ hidden


def _softmax(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)
