"""Steps that are read off their code, with problems, parameters and states on which they run."""

from __future__ import annotations

from itertools import islice

import numpy as np

from fedtheory import algorithms, claims
from verify.conformance import scenarios
from verify.search import hunting

#: Algorithms of which every step is read, and the parameters that are told as numbers, since loops run to them.
READ = {
    "gradient-descent": (),
    "sgd": (),
    "sag": (),
    "saga": (),
    "svrg": (),
    "loopless-svrg": (),
    "feddcd": (),
    "accfeddcd": (),
    "rbcd": (),
    "accelerated-rbcd": (),
    "locodl": (),
    "minibatch-sgd": (),
    "fedprox": ("epochs",),
    "scaffold": ("epochs",),
    "diana": (),
    "ef21": (),
    "adiana": (),
    "scaffnew": (),
    "fedcomgate": ("K",),
    "fedalt": ("k0",),
    "fedsim": ("k0",),
}


def instances(name):
    """Problems and parameters of an algorithm, in fractions where claims have them, with states and draws."""
    algorithm, rng = algorithms.get(name), np.random.default_rng(0)
    posed = [claim for claim in claims.all() if getattr(claim.setting, "algorithm", None) is algorithm][:3]
    for claim in posed:
        for recipe in islice(claim.instances.recipes(hunting.generator(claim, 0)), 30):
            try:
                instance = claim.instances.build(recipe, True)
            except ValueError:
                continue
            if instance.problem is not None and 1 not in (instance.problem.n, instance.problem.d):
                theta = np.array([[int(k) for k in rng.integers(-5, 6, instance.dimension)]])
                problem, state = instance.at(theta)
                yield problem, instance.params, state
    if not posed:
        for problem, params in scenarios.examples(name, rng, ()):
            state = algorithm.init(problem, params)
            yield problem, params, type(state)(*(rng.integers(-5, 6, np.shape(part)) + part for part in state))


def fitting(name):
    """Those instances whose n and d differ."""
    return [(problem, *rest) for problem, *rest in instances(name) if 1 not in (problem.n, problem.d)]
