"""Who else could do it: a boosted tree, an int8 network and a linear model of the same bytes, tuned in seconds."""

from contextlib import suppress

from ...errors import MissingExtraError
from ...tune.problem import Problem
from .boosted import Boosted
from .linear import Linear
from .model import Budgeted
from .network import Network
from .tuning import tune_each

KINDS = (Boosted, Network, Linear)


def fit_company(problem: Problem, nbytes: int, *, seed: int = 0) -> list[Budgeted]:
    """The best of each kind within ``nbytes`` bytes, of those that are so small; taught by the teacher if there is one.

    Each has a ``loss`` on the rows held out, to be compared with ours on the same rows. A kind whose library is not
    installed keeps no company.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(400, 3)).astype(np.float32)
    >>> problem = Problem.of(X, np.float64(X[:, :1] > 0), None, "classification")
    >>> [model.name for model in fit_company(problem, 256) if model.nbytes <= 256]
    ['boosted trees', 'int8 network', 'linear']
    """
    found = []
    for kind in KINDS:
        with suppress(MissingExtraError):
            options = {"seed": seed, "is_distilled": problem.answers is not None, "is_quick": True}
            found.append(tune_each(kind, problem, [nbytes], **options)[nbytes])
    return [model for model in found if model is not None]
