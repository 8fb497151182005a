"""Settings out of range or of the wrong kind: the message names the setting, its value and what is allowed."""

from repsketch import build_sketch, distill, lsh
from repsketch.errors import InputError, MergeError
from support.cases import case
from support.spoiled import QUICK, built, check, empty, good_table, good_targets, kernel_model, teacher


def distil(**options):
    return lambda: distill(teacher, good_table(), **{**QUICK, **options})


def start(**options):
    return lambda: empty(**options)


def build(**options):
    return lambda: built(**options)


def refitted(**options):
    return lambda: built().refit(good_table(), good_targets(), **options)


def integer(name, value, allowed):
    return rf"^{name}={value}; allowed is an integer from {allowed}"


MILLION = "1 to 1048576"
SETTINGS = {
    # counts
    "distill n_points=0": (distil(n_points=0), integer("n_points", 0, MILLION)),
    "distill n_points=-1": (distil(n_points=-1), integer("n_points", -1, MILLION)),
    "distill n_points=2.0": (distil(n_points=2.0), integer("n_points", 2.0, "1")),
    "distill n_points=True": (distil(n_points=True), integer("n_points", True, "1")),
    "distill n_points=None": (distil(n_points=None), integer("n_points", None, "1")),
    "distill n_components=0": (distil(n_components=0), integer("n_components", 0, MILLION)),
    "distill n_components='2'": (distil(n_components="2"), integer("n_components", "'2'", "1")),
    "distill n_concat=0": (distil(n_concat=0), integer("n_concat", 0, "1 to 4096")),
    "distill n_concat=4097": (distil(n_concat=4097), integer("n_concat", 4097, "1 to 4096")),
    "distill n_epochs=0": (distil(n_epochs=0), integer("n_epochs", 0, "1 to 1000000")),
    "distill n_directions=0": (distil(n_directions=0), integer("n_directions", 0, "1 to 65536")),
    "distill batch_size=0": (distil(batch_size=0), integer("batch_size", 0, MILLION)),
    "empty n_rows=0": (start(n_rows=0), integer("n_rows", 0, "1 to 65536")),
    "empty n_rows=65537": (start(n_rows=65_537), integer("n_rows", 65537, "1 to 65536")),
    "empty n_buckets=0": (start(n_buckets=0), integer("n_buckets", 0, "2 to 65536")),
    "empty n_buckets=1": (start(n_buckets=1), integer("n_buckets", 1, "2 to 65536")),
    "empty n_buckets=65537": (start(n_buckets=65_537), integer("n_buckets", 65537, "2 to 65536")),
    "empty n_buckets=2.5": (start(n_buckets=2.5), integer("n_buckets", 2.5, "2")),
    "empty n_features=0": (start(n_features=0), integer("n_features", 0, MILLION)),
    "empty n_concat=0": (start(n_concat=0), integer("n_concat", 0, "1 to 4096")),
    "empty n_outputs=0": (start(n_outputs=0), integer("n_outputs", 0, "1 to 65536")),
    "empty n_groups > n_rows": (start(aggregate="median_of_means", n_groups=6), integer("n_groups", 6, "1 to 5")),
    "empty n_groups=0": (start(aggregate="median_of_means", n_groups=0), integer("n_groups", 0, "1 to 5")),
    "empty n_groups of a mean": (
        start(n_groups=2),
        "n_groups=2 with aggregate='mean'; use aggregate='median_of_means'",
    ),
    "build n_rows=0": (build(n_rows=0), integer("n_rows", 0, "1 to 65536")),
    "build n_buckets=1": (build(n_buckets=1), integer("n_buckets", 1, "2 to 65536")),
    "build n_buckets=0": (build(n_buckets=0), integer("n_buckets", 0, "2 to 65536")),
    "build n_buckets=65537": (build(n_buckets=65_537), integer("n_buckets", 65537, "2 to 65536")),
    "build n_groups > n_rows": (build(aggregate="median_of_means", n_groups=6), integer("n_groups", 6, "1 to 5")),
    "sample n_rows=0": (lambda: lsh.L2(1.0).sample(3, n_rows=0), integer("n_rows", 0, "1 to 65536")),
    "collision_probability n_concat=0": (
        lambda: lsh.L2(1.0).collision_probability([0.0], [1.0], n_concat=0),
        integer("n_concat", 0, "1 to 4096"),
    ),
    # bandwidths
    **{
        f"{family.__name__} bandwidth={value!r}": (
            lambda family=family, value=value: family(bandwidth=value),
            rf"^bandwidth={value!r}; allowed is a number from 1e-30 to 1e\+30",
        )
        for family in (lsh.L2, lsh.L1)
        for value in (0, 0.0, -1.0, float("nan"), float("inf"), "x", None)
    },
    # a bandwidth whose reciprocal is no float32 makes every coordinate infinite
    "L2 bandwidth=1e-300": (
        lambda: empty(family=lsh.L2(bandwidth=1e-300)).add(good_table()),
        "bandwidth=1e-300; allowed is",
    ),
    "L1 bandwidth=1e-40": (
        lambda: empty(family=lsh.L1(bandwidth=1e-40)).add(good_table()),
        "bandwidth=1e-40; allowed is",
    ),
    # names
    "distill family='x'": (distil(family="x"), "family='x'; allowed are 'l2', 'angular', 'minhash', 'l1'"),
    "distill family=5": (distil(family=5), "family=5; allowed is a family such as"),
    "distill family=None": (distil(family=None), "family=None; allowed is a family such as"),
    "distill family=L2, the class": (distil(family=lsh.L2), "family=.*L2.*; allowed is a family"),
    "empty family='l2'": (start(family="l2"), r"family='l2'; allowed .*lsh\.L2"),
    "empty family=5": (start(family=5), "family=5; allowed"),
    "empty family=L2, the class": (start(family=lsh.L2), "family=.*L2.*; allowed"),
    "L2 directions='x'": (lambda: lsh.L2(1.0, "x"), "directions='x'; allowed are 'ternary', 'gaussian'"),
    "Angular directions='x'": (lambda: lsh.Angular("x"), "directions='x'; allowed are 'ternary', 'gaussian'"),
    "empty fold='x'": (start(fold="x"), "fold='x'; allowed are 'universal', 'direct'"),
    "build fold='x'": (build(fold="x"), "fold='x'; allowed are 'universal', 'direct'"),
    "empty aggregate='x'": (start(aggregate="x"), "aggregate='x'; allowed are 'mean', 'median_of_means'"),
    "build aggregate='x'": (build(aggregate="x"), "aggregate='x'; allowed are 'mean', 'median_of_means'"),
    "distill kernel='x'": (distil(kernel="x"), "kernel='x'; allowed are 'auto', 'as_hashed', 'closed_form'"),
    "distill as_hashed of l1": (
        distil(kernel="as_hashed", family="l1"),
        "kernel='as_hashed' with family 'l1'.*offered for 'l2'.*closed_form",
    ),
    "distill as_hashed of 17 codes": (distil(kernel="as_hashed", n_concat=17), "n_concat=17.* at most 16 codes"),
    "KernelModel kernel='x'": (lambda: kernel_model(kernel="x"), "kernel='x'; allowed are"),
    "direct fold of 5 buckets": (
        start(fold="direct", n_buckets=5, n_concat=2),
        "n_buckets=5 with n_concat=2.*for example 4",
    ),
    "direct fold of sets": (
        start(fold="direct", family=lsh.MinHash()),
        "fold='direct' with family 'minhash'.*universal",
    ),
    # seeds
    **{
        f"{name} random_state={value!r}": (
            call(random_state=value),
            rf"random_state={value!r}; allowed are None, an integer",
        )
        for name, call in (("distill", distil), ("empty", start), ("build", build), ("refit", refitted))
        for value in (-1, "a", 2**32, 1.5)
    },
    # fractions and rates
    **{
        f"distill validation_fraction={value!r}": (
            distil(validation_fraction=value),
            f"validation_fraction={value!r}; allowed is a number between 0 and 1",
        )
        for value in (0.0, 1.0, -0.5, float("nan"), "x")
    },
    **{
        f"refit validation_fraction={value!r}": (
            refitted(validation_fraction=value),
            f"validation_fraction={value!r}; allowed is a number between 0 and 1",
        )
        for value in (0.0, 1.0, float("nan"), "x")
    },
    **{
        f"distill learning_rate={value!r}": (distil(learning_rate=value), f"learning_rate={value!r}.* above 0")
        for value in (0.0, -1.0, float("nan"), float("inf"), "x")
    },
    **{
        f"distill norm_penalty={value!r}": (distil(norm_penalty=value), f"norm_penalty={value!r};.* at least 0")
        for value in (-1.0, float("nan"), float("inf"), "x")
    },
    **{
        f"refit strengths={value!r}": (
            refitted(strengths=value),
            "strengths=.*; allowed is .*finite number",
        )
        for value in ([], [0.0], [-1.0], [float("nan")], [1.0, float("inf")], 1.0, "ab", None)
    },
    **{
        f"empty weight_step={value!r}": (
            start(weight_step=value),
            f"weight_step={value!r}; allowed is a (power of two|number)",
        )
        for value in (0.0, -1.0, 0.3, float("nan"), float("inf"), "x")
    },
    "a weight_step too small to divide by": (
        lambda: empty(weight_step=2.0**-1074).add(good_table()),
        "weight.* larger weight_step|weight_step=.*; allowed",
    ),
    **{
        f"scale by {value!r}": (
            lambda value=value: empty().add(good_table()).scale(value),
            f"factor={value!r}; allowed is a finite number",
        )
        for value in (float("nan"), float("inf"), "x")
    },
    # other things
    "build_sketch of a number": (lambda: build_sketch(5), "takes a KernelModel, not int; call distill first"),
    "build_sketch of a sketch": (
        lambda: build_sketch(built()),
        "takes a KernelModel, not KernelSketch; call distill first",
    ),
    "build_sketch of a function": (lambda: build_sketch(teacher), "takes a KernelModel, not function"),
    "predict_proba of a density": (
        lambda: empty().predict_proba(good_table()),
        "predict_proba on a model with task=None; only classifiers",
    ),
}


def test_setting():
    for name, (call, words) in SETTINGS.items():
        with case(name):
            check(call, InputError, words)


def test_scaling_beyond_64_bits():
    words = "would pass .*what 64 bits hold.* larger weight_step"
    check(lambda: empty().add(good_table()).scale(1e300), MergeError, words)
