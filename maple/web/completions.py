"""POST /v1/completions."""

from flask import Blueprint, Response

from maple.web.body import read_object
from maple.web.defaults import generation_request
from maple.web.delivery import deliver
from maple.web.models import check_model
from maple.web.services import services
from maple.web.text_reply import TextReply
from schemas.completions import CompletionSchema

bp = Blueprint("completions", __name__)


@bp.post("/v1/completions")
def create_completion() -> Response:
    settings, engine = services().settings, services().engine
    completion = CompletionSchema().parse(read_object())
    check_model(completion.model, settings)
    tokenizer = engine.require_ready().tokenizer
    prompt = completion.prompt
    prompt_ids = tuple(tokenizer.encode(prompt)) if isinstance(prompt, str) else prompt
    reply = TextReply(model=settings.model_id if completion.model is None else completion.model)
    generation = engine.submit(generation_request(completion, prompt_ids, settings))
    return deliver(reply, generation, completion, settings)
