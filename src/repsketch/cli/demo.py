"""``repsketch demo``: all stages on scikit-learn's digits, with a table of what each costs."""


def demo() -> None:
    """Train a teacher on handwritten digits, distil it, sketch it, compress it, and print what each stage costs."""
    from ..errors import require

    datasets = require("sklearn.datasets", "train")
    networks = require("sklearn.neural_network", "train")
    selection = require("sklearn.model_selection", "train")
    from rich.console import Console
    from rich.table import Table

    from .. import build_sketch, compress
    from ..paper.distill import distill
    from ..teacher import as_teacher
    from ..theory import Cost

    X, y = datasets.load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = selection.train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
    screen = Console()
    screen.print(f"Handwritten digits: {len(X_train)} images of 8 x 8 to learn from, {len(X_test)} to test on.")
    network = networks.MLPClassifier((256, 128), max_iter=300, random_state=0).fit(X_train, y_train)
    labels = as_teacher(network).label(X_train)
    kernel = distill(labels, X_train, n_points=256, n_components=16)
    sketch = build_sketch(kernel, n_rows=200, n_buckets=4)
    small = compress(network, X_train, y_train, budget="2KB", random_state=0)

    cost = Cost.of_mlp([len(layer) for layer in network.coefs_] + [network.n_outputs_])
    # A query of the kernel model: the projection, then a distance and a weight vector for every point.
    n_points, p = kernel.points.shape
    kernel_flops = 2 * kernel.n_features * p + n_points * (3 * p + 2 * kernel.n_outputs)
    predicted_labels = as_teacher(network).label(X_test).values.argmax(axis=1)
    stages = [
        ("teacher: network 256/128", predicted_labels, cost.nbytes(32), cost.paper_flops),
        ("kernel: 256 points", kernel.predict(X_test), 4 * kernel.n_parameters, kernel_flops),
        ("sketch: 200 x 4 counters", sketch.predict(X_test), sketch.nbytes, sketch.cost().paper_flops),
        ("compressed to 2KB", small.predict(X_test), small.nbytes, small.cost().paper_flops),
    ]
    caption = "bytes as stored; FLOPs as the paper counts them"
    table = Table(title="From a network to counters", caption=caption)
    table.add_column("stage", no_wrap=True)
    for name in ("accuracy", "bytes", "saved", "FLOPs", "saved"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, predicted, nbytes, flops in stages:
        accuracy = f"{(predicted == y_test).mean():.3f}"
        smaller, cheaper = cost.nbytes(32) / nbytes, cost.paper_flops / flops
        table.add_row(name, accuracy, f"{nbytes:,}", f"{smaller:.1f}x", f"{flops:,.0f}", f"{cheaper:.1f}x")
    screen.print(table)
