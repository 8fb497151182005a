"""Adam: gradient descent with a step for every number by the size of its recent gradients.

Takes gradients from ``student``; changes its parameters in place.
"""

import numpy as np

_MEMORY, _SQUARE_MEMORY = 0.9, 0.999  # shares of the averages that a step keeps
_LEAST_SIZE = 1e-8  # added to the size of gradients, which may be zero


class Adam:
    """State of Adam (Kingma and Ba, 2015) for arrays that are known by name.

    >>> weights = np.array([1.0, -1.0])
    >>> Adam({"weights": weights}).step({"weights": np.array([0.5, -3.0])}, learning_rate=0.1)
    >>> weights.round(6).tolist()
    [0.9, -0.9]
    """

    def __init__(self, parameters: dict[str, np.ndarray]) -> None:
        self.parameters = parameters
        self.n_steps = 0
        self.means = {name: np.zeros_like(value) for name, value in parameters.items()}
        self.squares = {name: np.zeros_like(value) for name, value in parameters.items()}

    def step(self, gradients: dict[str, np.ndarray], learning_rate: float) -> None:
        """Move every parameter that has a gradient against it, in place."""
        self.n_steps += 1
        # Both averages start from zero: they are divided by the share of real gradients in them.
        rate = learning_rate / (1.0 - _MEMORY**self.n_steps)
        correction = (1.0 - _SQUARE_MEMORY**self.n_steps) ** 0.5
        for name, gradient in gradients.items():
            mean, square = self.means[name], self.squares[name]
            mean *= _MEMORY
            mean += (1.0 - _MEMORY) * gradient
            square *= _SQUARE_MEMORY
            square += (1.0 - _SQUARE_MEMORY) * np.square(gradient)
            size = np.sqrt(square)
            size /= correction
            size += _LEAST_SIZE
            self.parameters[name] -= rate * (mean / size)
