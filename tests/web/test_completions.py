"""The raw route, over a scripted network."""

from tests.application import COMPLETIONS, events_of


def test_no_text_at_all(serve):
    server = serve([])
    assert server.client.post(COMPLETIONS, json={"prompt": "hi"}).json["choices"][0]["text"] == ""
    (chunk,) = events_of(server.client.post(COMPLETIONS, json={"prompt": "hi", "stream": True}))
    assert (chunk["choices"][0]["text"], chunk["choices"][0]["finish_reason"]) == ("", "stop")
