import torch

from maple.model import MapleConfig, MapleForCausalLM
from maple.tiny.export import baked
from maple.tiny.forward import Batch, TrainingForward, attention_biases, loss_of

CONFIG = MapleConfig(
    vocab_size=64,
    hidden_size=64,
    num_hidden_layers=4,
    num_attention_heads=2,
    num_key_value_heads=1,
    head_dim=32,
    num_experts=4,
    num_experts_per_tok=2,
    moe_intermediate_size=64,
    sliding_window=8,
    max_position_embeddings=128,
    bos_token_id=None,
    pad_token_id=None,
    eos_token_id=None,
)


def hidden_states(model, ids, documents):
    forward = TrainingForward(model.config)
    biases = attention_biases(documents, model.config.sliding_window)
    with torch.no_grad():
        return forward(dict(model.named_parameters()), ids, biases)[0]


def tiny_model():
    torch.manual_seed(0)
    return MapleForCausalLM(CONFIG)


def test_it_is_the_network_that_serves(tmp_path):
    model = tiny_model()
    ids = torch.randint(0, 64, (2, 40))

    trained = hidden_states(model, ids, torch.ones_like(ids)).float()
    ready = baked(model, end=1, padding=0).float()
    served = ready.model(ids).last_hidden_state.detach()

    assert torch.cosine_similarity(trained, served, dim=-1).min() > 0.999


def test_packed_conversations_do_not_see_each_other():
    model = tiny_model()
    first, second = torch.randint(0, 64, (1, 12)), torch.randint(0, 64, (1, 20))
    documents = torch.tensor([[1] * 12 + [2] * 20])

    packed = hidden_states(model, torch.cat((first, second), 1), documents)[:, 12:].float()
    alone = hidden_states(model, second, torch.ones_like(second)).float()

    assert torch.cosine_similarity(packed, alone, dim=-1).min() > 0.999


def test_only_the_models_own_tokens_count():
    ids = torch.tensor([[3, 4, 5]])
    batch = Batch(ids, torch.ones_like(ids), torch.tensor([[False, False, True]]))
    hidden = torch.zeros(1, 3, 4, dtype=torch.bfloat16)
    hidden[0, 1, 0] = 1.0
    head = torch.zeros(8, 4)
    head[5, 0] = 20.0

    assert loss_of(hidden, head, batch) < 1e-3
