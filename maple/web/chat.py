"""POST /v1/chat/completions."""

from flask import Blueprint, Response

from maple.chat.prompt import render_chat
from maple.web.body import read_object
from maple.web.chat_reply import ChatReply
from maple.web.defaults import generation_request
from maple.web.delivery import deliver
from maple.web.models import check_model
from maple.web.services import services
from schemas.chat import ChatSchema

bp = Blueprint("chat", __name__)


@bp.post("/v1/chat/completions")
def create_chat_completion() -> Response:
    settings, engine = services().settings, services().engine
    chat = ChatSchema().parse(read_object())
    check_model(chat.model, settings)
    tokenizer = engine.require_ready().tokenizer
    thinks = settings.enable_thinking if chat.enable_thinking is None else chat.enable_thinking
    prompt = render_chat(tokenizer, chat.messages, chat.tools, thinks, chat.template_kwargs)
    shows_reasoning = settings.include_reasoning if chat.include_reasoning is None else chat.include_reasoning
    reply = ChatReply(
        model=settings.model_id if chat.model is None else chat.model,
        in_reasoning=prompt.in_reasoning,
        allows_tools=bool(chat.tools),
        include_reasoning=shows_reasoning,
    )
    generation = engine.submit(generation_request(chat, prompt.ids, settings), prompt_field="messages")
    return deliver(reply, generation, chat, settings)
