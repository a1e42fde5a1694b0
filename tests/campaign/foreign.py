"""A question that Leadline does not know: which of two numbers does a panel of people like more?

Points are pairs, and values arrays: an answer of each person.
"""

import numpy as np

from leadline.boundary import InvalidData
from leadline.questions import Asked, Question, frame_of


class Pairs:
    """Pairs of numbers from 0 to 1."""

    names, columns = ("left", "right"), 2

    def encode(self, points):
        return np.array([[float(a), float(b)] for a, b in points])

    def decode(self, rows):
        return [(float(a), float(b)) for a, b in rows]

    def as_dict(self, point):
        return dict(zip(self.names, point, strict=True))

    def from_dict(self, parts):
        return parts["left"], parts["right"]

    def describe(self):
        return {"pairs": "0 to 1"}


class Panel(Question):
    """The pair that a panel of people is most of one mind about."""

    verb = "panel"

    def __init__(self, people=3, seed=0):
        super().__init__(Pairs(), seed)
        self.people = people

    @classmethod
    def from_settings(cls, settings):
        return cls(settings["people"], settings["seed"])

    def settings(self):
        domain = self.space.describe()
        return {"verb": self.verb, "domain": domain, "people": self.people, "seed": self.seed}

    def propose(self):
        told = sum(float(np.sum(t.value)) for t in self.trials if t.value is not None)
        rng = np.random.default_rng([self.seed, len(self.trials), int(1e6 * abs(told))])
        return Asked(len(self.trials), tuple(rng.random(2).tolist()))

    def check(self, value):
        answers = np.asarray(value, float)
        if answers.shape != (self.people,) or np.isnan(answers).any():
            raise InvalidData(f"A value is an answer of each of {self.people} people.")
        return answers

    def answer(self):
        return frame_of(self, self.trials)


def ask_panel(pair):
    """What a panel says; it dislikes a pair now and then."""
    left, right = pair
    return (left - right) * np.array([1.0, 2.0, 3.0]) if left < 0.6 else np.nan


if __name__ == "__main__":
    import os
    import sys

    from leadline.campaign import CampaignOptions, run

    def dying(pair):
        """Like `ask_panel`, and the end of the process at the seventh call."""
        dying.calls += 1
        if dying.calls == 7:
            os._exit(9)
        return ask_panel(pair)

    dying.calls = 0
    run(Panel(), dying, CampaignOptions(12, journal=sys.argv[1], progress=False))
