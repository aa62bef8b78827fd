"""Maple for Transformers, registered with its Auto classes; no remote code is ever run."""

from transformers import AutoConfig, AutoModelForCausalLM
from transformers.conversion_mapping import register_checkpoint_conversion_mapping
from transformers.core_model_loading import MergeModulelist, WeightConverter

from maple.model.configuration import MapleConfig
from maple.model.modeling import MapleForCausalLM, MapleModel

AutoConfig.register("maple", MapleConfig, exist_ok=True)
AutoModelForCausalLM.register(MapleConfig, MapleForCausalLM, exist_ok=True)
register_checkpoint_conversion_mapping(
    "maple",
    [  # published files hold one tensor an expert, the network one for all
        WeightConverter(
            source_patterns=f"mlp.experts.*.{name}.weight",
            target_patterns=f"mlp.experts.{name}.weight",
            operations=[MergeModulelist(dim=0)],
        )
        for name in ("gate_proj", "up_proj", "down_proj")
    ],
    overwrite=True,
)

__all__ = ["MapleConfig", "MapleForCausalLM", "MapleModel"]
