import numpy as np
import pytest
import torch
from torch import nn

from repsketch.errors import InputError
from repsketch_bench.baselines import prune_gradually, prune_once, pruning
from repsketch_bench.baselines.layers import fold_network, layers_of, network_of
from repsketch_bench.baselines.networks import compare_network

N_WEIGHTS = 4 * 24 + 24 * 12 + 12
QUICK = {"n_epochs": 3, "batch_size": 64, "learning_rates": (3e-3, 1e-2), "progress": False}


@pytest.fixture
def made(monkeypatch):
    """Every network that is handed to ``compare_network``."""
    networks = []

    def remember(name, network, settings):
        networks.append(network)
        return compare_network(name, network, settings)

    monkeypatch.setattr(pruning, "compare_network", remember)
    return networks


def n_nonzero(network):
    layers = layers_of(network)
    return tuple(sum(int((layer[i] != 0).sum()) for layer in layers) for i in (0, 1))


@pytest.mark.parametrize("keep", [1.0, 0.5, 0.1, 0.013])
def test_exactly_the_claimed_weights_are_left(teacher, X, y, task, made, keep):
    pruned = prune_once(teacher, X, y, keep, task=task, **QUICK)
    for network in made:
        n_weights, n_biases = n_nonzero(network)
        assert n_weights == round(keep * N_WEIGHTS)
        assert n_biases <= 24 + 12 + 1
    assert pruned.flops == round(keep * N_WEIGHTS)
    assert pruned.n_numbers in {sum(n_nonzero(network)) for network in made}
    assert pruned.settings["n_tried"] == 2


def test_once_keeps_the_largest_weights_of_the_trained_units(teacher, X, y, task, made):
    """The mask is the largest weights before the inputs' scales are folded in, and tuning moves only those."""
    linear = [layer.weight.detach().numpy() for layer in teacher if isinstance(layer, nn.Linear)]
    sizes = np.concatenate([np.abs(weight).ravel() for weight in linear])
    n_nonzeros = round(0.3 * N_WEIGHTS)
    largest = np.zeros(N_WEIGHTS, bool)
    largest[np.argsort(sizes)[-n_nonzeros:]] = True
    prune_once(teacher, X, y, 0.3, task=task, validation=(X, y), **QUICK)
    left = np.concatenate([(weight != 0).ravel() for weight, _ in layers_of(made[0])])
    # Pruning takes its scales from all of X and y, training from nine tenths: a few weights at the edge may differ.
    assert (left == largest).mean() > 0.98
    before = np.concatenate([weight.ravel() for weight, _ in layers_of(fold_network(teacher))])
    after = np.concatenate([weight.ravel() for weight, _ in layers_of(made[-1])])
    assert (after[left] != before[left]).mean() > 0.5


def test_gradual_masks_are_nested(teacher, X, y, task, made):
    keeps = (0.5, 0.2, 0.05)
    pruned = prune_gradually(teacher, X, y, keeps, task=task, **QUICK)
    assert [model.flops for model in pruned] == [round(keep * N_WEIGHTS) for keep in keeps]
    assert [model.settings["keep"] for model in pruned] == list(keeps)
    chain = [np.concatenate([(weight != 0).ravel() for weight, _ in layers_of(network)]) for network in made[:3]]
    assert not (chain[1] & ~chain[0]).any()
    assert not (chain[2] & ~chain[1]).any()


def loss(outputs, y, task):
    if task == "classification":
        return np.logaddexp(0.0, np.where(y == 1, -outputs, outputs)).mean()
    return np.abs(outputs - y).mean()


def test_tuning_repairs_what_pruning_broke(teacher, X, y, task):
    broken = prune_once(teacher, X, y, 0.3, task=task, **{**QUICK, "learning_rates": (1e-9,), "n_epochs": 1})
    tuned = prune_once(teacher, X, y, 0.3, task=task, **{**QUICK, "n_epochs": 10})
    assert loss(tuned.predict(X), y, task) < 0.7 * loss(broken.predict(X), y, task)


def test_raw_and_folded_teachers_give_the_same(teacher, X, y, task):
    results = [prune_once(net, X, y, 0.3, task=task, **QUICK).predict(X) for net in (teacher, fold_network(teacher))]
    np.testing.assert_array_equal(*results)


def test_the_teacher_stays_as_it_was_and_torchs_generator_too(teacher, X, y, task):
    before = {name: value.clone() for name, value in teacher.state_dict().items()}
    state = torch.random.get_rng_state()
    first, second = (prune_gradually(teacher, X, y, (0.5, 0.1), task=task, **QUICK) for _ in range(2))
    assert all(torch.equal(value, before[name]) for name, value in teacher.state_dict().items())
    assert torch.equal(state, torch.random.get_rng_state())
    for one, other in zip(first, second, strict=True):
        assert one.predict(X).tobytes() == other.predict(X).tobytes()
        assert one.settings == other.settings


def test_biases_of_idle_units_go_and_the_function_stays():
    first = np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]])  # nothing reaches unit 1
    second = np.array([[2.0, 3.0, 0.0]])  # nothing leaves unit 2
    network = network_of([first, second], [np.array([0.5, 2.0, 1.0]), np.array([1.0])])
    lean = pruning._without_idle_biases(network)
    assert layers_of(lean)[0][1].tolist() == [0.5, 0.0, 0.0]
    assert layers_of(lean)[1][1].tolist() == [7.0]
    x = torch.randn(50, 2, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(lean(x), network(x))


def test_units_that_nothing_leaves_are_left_out_of_the_tuning_and_stay():
    first = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    second = np.array([[2.0, 3.0, 0.0], [1.0, 0.0, 4.0]])
    third = np.array([[5.0, 0.0]])  # nothing leaves unit 1 of the second layer, so nothing unit 2 of the first
    network = network_of([first, second, third], [np.ones(3), np.ones(2), np.ones(1)])
    with pruning._joined_units(network) as joined:
        assert [weight.shape for weight, _ in layers_of(joined)] == [(2, 2), (1, 2), (1, 1)]
        x = torch.randn(50, 2, generator=torch.Generator().manual_seed(0))
        torch.testing.assert_close(joined(x), network(x))
        with torch.no_grad():
            for value in joined.parameters():
                value += 1.0
    np.testing.assert_array_equal(layers_of(network)[0][0], [[2.0, 0.0], [0.0, 3.0], [1.0, 1.0]])  # zeros stay zeros
    np.testing.assert_array_equal(layers_of(network)[1][0], [[3.0, 4.0, 0.0], [1.0, 0.0, 4.0]])
    assert [bias.tolist() for _, bias in layers_of(network)] == [[2.0, 2.0, 1.0], [2.0, 1.0], [2.0]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"keeps": (0.1, 0.5)}, "falling numbers above 0"),
        ({"keeps": (0.0,)}, "falling numbers above 0"),
        ({"keeps": ()}, "falling numbers above 0"),
        ({"keeps": (1.5,)}, "each of keeps=1.5; allowed is a number from 0 to 1"),
        ({"n_epochs": 0}, "n_epochs=0; allowed"),
        ({"learning_rates": ()}, "learning_rates=.*at least one"),
        ({"task": "guessing"}, "task='guessing'; allowed are"),
        ({"X": np.ones((900, 3))}, "3 features, but this model takes 4"),
    ],
)
def test_refuses(teacher, X, y, task, changes, message):
    arguments = {"X": X, "y": y, "keeps": (0.5,), "task": task, **QUICK, **changes}
    with pytest.raises(InputError, match=message):
        prune_gradually(teacher, **arguments)
