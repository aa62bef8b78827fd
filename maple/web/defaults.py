"""Where the settings fill in what a request leaves open."""

from maple.engine import GenerationRequest, SamplingParams
from maple.settings import Settings
from schemas.generation import GenerationOptions


def generation_request(
    options: GenerationOptions, prompt_ids: tuple[int, ...], settings: Settings
) -> GenerationRequest:
    """The engine's request for these options; max_tokens is capped, and a top_k of -1 is off as 0 is."""
    return GenerationRequest(
        prompt_ids=prompt_ids,
        max_new_tokens=min(_given(options.max_tokens, settings.max_new_tokens), settings.max_new_tokens_limit),
        sampling=SamplingParams(
            temperature=_given(options.temperature, settings.temperature),
            top_p=_given(options.top_p, settings.top_p),
            top_k=max(_given(options.top_k, settings.top_k), 0),
            repetition_penalty=_given(options.repetition_penalty, 1.0),
            seed=options.seed,
        ),
        stop=options.stop,
    )


def _given(value, default):
    return default if value is None else value
