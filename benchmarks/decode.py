"""Measures bare generation, without HTTP: `python benchmarks/decode.py [MODEL_PATH] [--runs N] [--tokens N]`."""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from maple.checkpoints.loader import load
from maple.engine.decoding import decode
from maple.engine.requests import GenerationRequest, SamplingParams
from maple.engine.streamer import TokenStreamer
from maple.settings import Settings

PROMPT = "<|im_start|>user\nWhat is 17 * 23?<|im_end|>\n<|im_start|>assistant\n<think>\n"
GREEDY = SamplingParams(temperature=0, top_p=1, top_k=0, repetition_penalty=1, seed=None)


def main():
    """Prints the tokens generated a second, run by run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model_path", nargs="?", default="tiny")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=100)
    options = parser.parse_args()
    checkpoint = load(Settings(model_path=options.model_path), on_progress=lambda fraction: None)
    request = GenerationRequest(tuple(checkpoint.tokenizer.encode(PROMPT)), options.tokens, GREEDY)
    for _ in range(options.runs):
        streamer = TokenStreamer(checkpoint.tokenizer)
        started = time.perf_counter()
        decode(checkpoint, request, streamer, is_cancelled=lambda: False)
        print(f"{streamer.num_tokens / (time.perf_counter() - started):.0f} tokens/s")


if __name__ == "__main__":
    main()
