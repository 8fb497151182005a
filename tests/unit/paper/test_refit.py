"""Refitted counters are the ridge solution on the one-hot bucket indicators, and no worse than the paper's."""

import numpy as np
import pytest
import scipy.sparse as sp

from repsketch import KernelModel, Sketch, build_sketch, lsh
from repsketch.errors import InputError
from repsketch.paper.refit import STRENGTHS

STRENGTH = 0.01


def data(n=120, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 3)).astype(np.float32)
    return X, np.stack([np.sin(X[:, 0]) + 10, X[:, 1] * X[:, 2]], axis=1)


def sketch_of(n_rows, n_buckets, *, linear=False, fold="universal", n_concat=1, n_outputs=2) -> Sketch:
    rng = np.random.default_rng(1)
    draw = lambda *shape: rng.normal(size=shape).astype(np.float32)  # noqa: E731
    kernel = KernelModel(
        projection=draw(3, 2),
        points=draw(10, 2),
        weights=draw(10, n_outputs),
        bias=draw(n_outputs),
        family=lsh.L2(2.0),
        n_concat=n_concat,
        linear=draw(2, n_outputs) if linear else None,
    )
    return build_sketch(kernel, n_rows=n_rows, n_buckets=n_buckets, fold=fold, random_state=3)


def indicators(sketch: Sketch, X) -> np.ndarray:
    """The design matrix: row i has a one in column l * R + bucket for each row l of the sketch."""
    design = np.zeros((len(X), sketch.n_rows * sketch.n_buckets))
    for i, buckets in enumerate(sketch.buckets(X)):
        for row, bucket in enumerate(buckets):
            design[i, row * sketch.n_buckets + bucket] = 1.0
    return design


def linear_term(sketch: Sketch, X) -> np.ndarray:
    return 0.0 if sketch.linear is None else (X.astype(float) @ sketch.projection) @ sketch.linear


def direct_solution(sketch: Sketch, X, targets, strength) -> np.ndarray:
    """Counters by the normal equations; the mean is not penalised, each row carries it."""
    wanted = targets - linear_term(sketch, X)
    design, middle = indicators(sketch, X), wanted.mean(axis=0)
    system = design.T @ design + strength * len(X) * np.eye(design.shape[1])
    counters = np.linalg.solve(system, design.T @ (wanted - middle))
    return counters * sketch.n_rows + middle


REGIMES = {  # L, R: below and above the 120 rows of data
    "fewer buckets than rows": (6, 8),
    "as many": (12, 10),
    "more buckets than rows": (20, 16),
}
every_regime = pytest.mark.parametrize("sizes", REGIMES.values(), ids=REGIMES)


@every_regime
@pytest.mark.parametrize("strength", [1e-4, 1.0])
@pytest.mark.parametrize("kind", [{}, {"linear": True}, {"n_concat": 2}], ids=["plain", "linear", "K=2"])
def test_ridge(sizes, strength, kind):
    X, targets = data()
    sketch = sketch_of(*sizes, **kind)
    fitted = sketch.refit(X, targets, strengths=[strength])
    expected = direct_solution(sketch, X, targets, strength)
    np.testing.assert_allclose(fitted.counters.reshape(-1, 2), expected, rtol=1e-4, atol=1e-4)
    predicted = indicators(sketch, X) @ expected / sketch.n_rows + linear_term(sketch, X)
    np.testing.assert_allclose(fitted.outputs(X), predicted, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(fitted.buckets(X), sketch.buckets(X))


def objective(sketch: Sketch, counters: np.ndarray, X, targets, strength) -> np.ndarray:
    """What ridge minimises, an output at a time."""
    wanted = targets - linear_term(sketch, X)
    flat = counters.reshape(-1, counters.shape[-1]).astype(float)
    residual = indicators(sketch, X) @ flat / sketch.n_rows - wanted
    penalty = ((flat - wanted.mean(axis=0)) / sketch.n_rows) ** 2
    return (residual**2).sum(axis=0) + strength * len(X) * penalty.sum(axis=0)


@every_regime
@pytest.mark.parametrize("fold", ["universal", "direct"])
@pytest.mark.parametrize("linear", [False, True])
def test_no_worse_than_the_papers_counters(sizes, fold, linear):
    n_rows, n_buckets = sizes
    X, _ = data()
    sketch = sketch_of(n_rows, n_buckets, fold=fold, linear=linear)
    rng = np.random.default_rng(2)
    # The sketch's own outputs: the targets for which the paper's counters are at their best.
    for targets in (sketch.outputs(X).astype(float), sketch.outputs(X) + rng.normal(size=(len(X), 2)), data()[1]):
        fitted = sketch.refit(X, targets, strengths=[STRENGTH])
        papers = sketch.gain * sketch.counters + sketch.offset
        ours = objective(sketch, fitted.counters, X, targets, STRENGTH)
        assert (ours <= objective(sketch, papers, X, targets, STRENGTH) + 1e-6).all()


def test_the_objective_has_its_minimum_there():
    X, targets = data()
    sketch = sketch_of(6, 8)
    counters = sketch.refit(X, targets, strengths=[STRENGTH]).counters
    best = objective(sketch, counters, X, targets, STRENGTH)
    for seed in range(5):
        moved = counters + 0.05 * np.random.default_rng(seed).normal(size=counters.shape)
        assert (objective(sketch, moved, X, targets, STRENGTH) > best).all()


def chosen_strength(sketch: Sketch, X, targets) -> float:
    """The strength that refit took, found by its counters."""
    counters = sketch.refit(X, targets).counters.tobytes()
    (strength,) = [s for s in STRENGTHS if sketch.refit(X, targets, strengths=[s]).counters.tobytes() == counters]
    return strength


@every_regime
def test_noise_gets_a_larger_strength(sizes):
    X, _ = data()
    sketch = sketch_of(*sizes, n_outputs=1)
    truth = np.random.default_rng(7).normal(size=(sketch.n_rows * sketch.n_buckets, 1))
    clean = indicators(sketch, X) @ truth
    noise = np.random.default_rng(8).normal(size=(len(X), 1)) * clean.std()
    strengths = [chosen_strength(sketch, X, targets) for targets in (clean, 0.2 * clean + noise)]
    assert strengths[0] < strengths[1]


def test_validation_rows_choose_the_best():
    """The choice is the strength with the least error on the validation rows, which the trials have not seen."""
    X, targets = data()
    sketch = sketch_of(20, 16)
    validation = np.random.default_rng([5, 3]).permutation(len(X))[: len(X) // 4]
    train = np.setdiff1d(np.arange(len(X)), validation)
    errors = []
    for strength in STRENGTHS:
        counters = direct_solution(sketch, X[train], targets[train], strength)
        predicted = indicators(sketch, X[validation]) @ counters / sketch.n_rows
        errors.append(((predicted - targets[validation]) ** 2).mean())
    best = STRENGTHS[int(np.argmin(errors))]
    fitted = sketch.refit(X, targets, validation_fraction=0.25, random_state=5)
    assert fitted.counters.tobytes() == sketch.refit(X, targets, strengths=[best]).counters.tobytes()


@every_regime
def test_the_counters_absorb_the_mean(sizes):
    X, targets = data()
    sketch = sketch_of(*sizes)
    far = sketch.refit(X, targets + 1_000, strengths=[STRENGTH])
    near = sketch.refit(X, targets, strengths=[STRENGTH])
    np.testing.assert_allclose(far.outputs(X) - 1_000, near.outputs(X), atol=2e-3)
    np.testing.assert_array_equal(near.gain, 1.0)
    np.testing.assert_array_equal(near.offset, 0.0)
    constant = sketch.refit(X, np.full((len(X), 2), 42.0), strengths=[1.0])
    np.testing.assert_allclose(constant.outputs(X), 42.0, rtol=1e-6)
    # A bucket that no row of X fell into holds the mean: the best guess where nothing is known.
    unseen = indicators(sketch, X).sum(axis=0) == 0
    if unseen.any():
        means = near.counters.reshape(-1, 2)[unseen]
        np.testing.assert_allclose(means, np.tile(targets.mean(axis=0), (len(means), 1)), rtol=1e-6)


def test_there_are_unseen_buckets():
    X, _ = data()
    assert (indicators(sketch_of(20, 16), X).sum(axis=0) == 0).any()


@every_regime
def test_many_outputs_share_the_hashes(sizes):
    X, targets = data()
    sketch = sketch_of(*sizes)
    fitted = sketch.refit(X, targets, strengths=[STRENGTH])
    for c in range(2):
        alone = sketch_of(*sizes, n_outputs=1).refit(X, targets[:, c], strengths=[STRENGTH])
        assert alone.hashes == fitted.hashes
        np.testing.assert_allclose(alone.counters[..., 0], fitted.counters[..., c], rtol=1e-5, atol=1e-5)


def test_the_linear_term_stays_and_has_room():
    X, _ = data()
    sketch = sketch_of(6, 8, linear=True, n_outputs=1)
    targets = linear_term(sketch, X) + 3.0
    fitted = sketch.refit(X, targets)
    assert fitted.linear.tobytes() == sketch.linear.tobytes()
    np.testing.assert_allclose(fitted.outputs(X), targets, atol=1e-4)
    np.testing.assert_allclose(fitted.counters, 3.0, atol=1e-3)


def test_the_result_averages_its_rows():
    X, targets = data()
    rng = np.random.default_rng(1)
    blank = Sketch.empty(lsh.L2(2.0), 10, 8, 3, n_outputs=2, aggregate="median_of_means", n_groups=5)
    fitted = blank.add(rng.normal(size=(5, 3)), rng.normal(size=(5, 2))).refit(X, targets)
    assert fitted.n_groups == 1
    assert fitted.sums is None


def test_the_start_does_not_matter():
    """Only hashes stay: earlier counters, scale and bias do not matter."""
    X, targets = data()
    sketch = sketch_of(6, 8)
    again = [sketch.calibrate(X, targets), sketch.add(np.ones((3, 2)), np.ones((3, 2))), sketch.refit(X, -targets)]
    expected = sketch.refit(X, targets).outputs(X).tobytes()
    assert [other.refit(X, targets).outputs(X).tobytes() for other in again] == [expected] * 3


def test_sparse_is_dense():
    X, targets = data()
    X = np.where(X > 0, X, 0)
    sketch = sketch_of(6, 8)
    assert sketch.refit(sp.csr_matrix(X), targets).counters.tobytes() == sketch.refit(X, targets).counters.tobytes()


@pytest.mark.parametrize("n", [1, 2, 4, 20])
def test_few_rows(n):
    """Below 25 rows there would be fewer than five validation rows: a strength of 0.01 is taken."""
    X, targets = data(n)
    sketch = sketch_of(4, 4)
    fitted = sketch.refit(X, targets)
    expected = direct_solution(sketch, X, targets, 0.01)
    np.testing.assert_allclose(fitted.counters.reshape(-1, 2), expected, rtol=1e-4, atol=1e-4)
    others = sketch.refit(X, targets, strengths=(0.2, 0.4, 0.3))  # the middle one of three, in any order
    assert others.counters.tobytes() == sketch.refit(X, targets, strengths=[0.3]).counters.tobytes()


def test_strengths_may_be_an_array():
    X, targets = data()
    sketch = sketch_of(6, 8)
    array = sketch.refit(X, targets, strengths=np.array(STRENGTHS))
    assert array.counters.tobytes() == sketch.refit(X, targets).counters.tobytes()


def test_seeds():
    X, targets = data()
    sketch = sketch_of(20, 16)
    one, same = (sketch.refit(X, targets, random_state=4).counters.tobytes() for _ in range(2))
    assert one == same
    generator = sketch.refit(X, targets, random_state=np.random.default_rng(0))
    assert np.isfinite(generator.counters).all()


def test_what_is_lost():
    X, targets = data()
    fitted = sketch_of(6, 8).refit(X, targets)
    assert fitted.nbytes == sketch_of(6, 8).nbytes
    assert fitted.cost() == sketch_of(6, 8).cost()
    with pytest.raises(InputError, match="solves for 16385 unknowns; allowed are 16384"):
        sketch_of(20, 1_000).refit(np.zeros((16_385, 3), np.float32), np.zeros((16_385, 2)))


def test_the_strength_is_chosen_on_rows_that_are_not_fitted_to(monkeypatch):
    """Noise: validation rows ask for the strongest regularisation, rows that are fitted to for the weakest."""
    from repsketch.paper import refit as refitting

    tried, ridge = [], refitting._ridge

    def listen(cells, wanted, strengths, *others):
        tried.append((len(cells), list(strengths)))
        return ridge(cells, wanted, strengths, *others)

    monkeypatch.setattr(refitting, "_ridge", listen)
    rng = np.random.default_rng(0)
    X, noise = rng.normal(size=(200, 2)), rng.normal(size=200)
    blank = Sketch.empty(lsh.L2(bandwidth=0.5), n_rows=60, n_buckets=8, n_features=2)
    blank.refit(X, noise, strengths=(1e-5, 1e-2, 1.0), progress=False)
    assert tried == [(160, [1.0, 1e-2, 1e-5]), (200, [1.0])]
