"""How the application is wired."""

import pytest

from maple.settings import SettingsError
from maple.web import factory
from tests.application import CHAT, COMPLETIONS, HI, error_of


class FakeEngine:
    def start(self, settings):
        self.settings = settings


def test_without_arguments_it_is_the_environments_settings_and_the_engine_of_the_process(monkeypatch):
    engine = FakeEngine()
    monkeypatch.setattr(factory, "engine_of_this_process", engine)
    monkeypatch.setenv("MAPLE_MODEL_ID", "mine")
    services = factory.create_app().extensions["maple"]
    assert services.engine is engine
    assert services.settings is engine.settings
    assert services.settings.model_id == "mine"


def test_a_bad_setting_starts_nothing(monkeypatch):
    engine = FakeEngine()
    monkeypatch.setenv("MAPLE_TOP_K", "many")
    with pytest.raises(SettingsError, match="MAPLE_TOP_K"):
        factory.create_app(engine=engine)
    assert not hasattr(engine, "settings")


def test_a_body_over_the_limit(serve):
    server = serve(max_body_mb=0.001)
    body = b'{"messages": [{"role": "user", "content": "hi"}]}'
    assert server.client.post(CHAT, data=body.ljust(1048)).status_code == 200
    error_of(server.client.post(CHAT, data=body.ljust(1049)), 413)


@pytest.mark.parametrize(
    ("path", "status"),
    [(CHAT + "/", 200), (COMPLETIONS + "/", 200), ("/v1//chat/completions", 404), (CHAT + "//", 404)],
)
def test_odd_slashes_are_never_a_redirect(serve, path, status):
    assert serve().client.post(path, json=HI | {"prompt": "hi"}).status_code == status


def test_no_files_are_served(serve):
    error_of(serve().client.post("/static/x"), 404)  # with Flask's own route for files a 405


def test_browsers_may_read_what_errors_say_in_headers(serve):
    response = serve(api_key="k").client.get("/v1/models", headers={"Origin": "https://app.example"})
    assert response.status_code == 401
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert response.headers["Access-Control-Expose-Headers"] == "Retry-After, WWW-Authenticate"
