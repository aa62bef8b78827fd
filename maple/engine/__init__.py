"""The engine of this process: one model, one sequence at a time, a bounded queue in front of it."""

from maple.engine.engine import Engine, EngineStatus
from maple.engine.generation import Generation
from maple.engine.requests import GenerationRequest, SamplingParams

engine = Engine()

__all__ = ["Engine", "EngineStatus", "Generation", "GenerationRequest", "SamplingParams", "engine"]
