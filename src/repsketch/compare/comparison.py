"""The result of a comparison with peers: ``summary`` of a compressed sketch, and how a file's metadata store it."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

SKETCH = "sketch"
TRAINING, VALIDATION = "training", "validation"  # the rows that models are scored on
_MAX_ROWS, _MAX_CHARACTERS = 16, 1_000  # read from a file: rows of the table, characters of a text


@dataclass(frozen=True)
class Comparison:
    """The sketch and its peers, scored on the same rows.

    Attributes
    ----------
    metric : name of the score: "accuracy", "R2", "MAE", "pinball loss" or a scorer of scikit-learn
    rows : one for each model, the sketch first: "name", "nbytes", "score" (of the metric) and "loss"
    conclusion : which peers are better, or as good and smaller, in one line; None if none is
    scored_on : "validation" rows, which no model was fitted to, or "training" rows where there were too few rows
    n_rows : number of rows scored on
    left_out : peers that could not be fitted, by name, and why
    quantile : level of the pinball loss; None for other metrics

    >>> print(Comparison("accuracy", ({"name": "sketch", "nbytes": 500, "score": 0.9, "loss": 0.3},), None))
    model   accuracy  bytes
    sketch    0.9000    500
    """

    metric: str
    rows: tuple[dict[str, Any], ...]
    conclusion: str | None
    scored_on: str = VALIDATION
    n_rows: int = 0
    left_out: Mapping[str, str] | None = None
    quantile: float | None = None

    def __str__(self) -> str:
        width = max(len("model"), *(len(row["name"]) for row in self.rows))
        score_width = max(8, len(self.metric))
        lines = [f"{'model':<{width}}  {self.metric:>{score_width}}  {'bytes':>5}"]
        lines += [f"{row['name']:<{width}}  {row['score']:>{score_width}.4f}  {row['nbytes']:>5}" for row in self.rows]
        if self.scored_on == TRAINING:
            lines.append("scored on the training rows: there were too few for a validation set")
        lines += [f"without {name}: {reason}" for name, reason in (self.left_out or {}).items()]
        return "\n".join([*lines, *([self.conclusion] if self.conclusion else [])])

    def to_dict(self) -> dict[str, Any]:
        """The comparison as JSON in a file's metadata; there the key of the conclusion is "verdict"."""
        content = {"verdict" if key == "conclusion" else key: value for key, value in asdict(self).items()}
        content |= {"rows": list(self.rows), "left_out": dict(self.left_out or {})}
        return {key: value for key, value in content.items() if key != "quantile" or value is not None}

    @classmethod
    def from_dict(cls, content: Any) -> "Comparison | None":
        """The comparison in a file's metadata; None where the content is not one.

        >>> Comparison.from_dict({"metric": "accuracy", "rows": []}) is None
        True
        """
        if not isinstance(content, dict):
            return None
        metric, conclusion, scored_on = (content.get(key) for key in ("metric", "verdict", "scored_on"))
        rows, n_rows, left_out = (content.get(key) for key in ("rows", "n_rows", "left_out"))
        quantile = content.get("quantile")  # older files have none
        texts = [metric, scored_on, *([] if conclusion is None else [conclusion])]
        if not (isinstance(rows, list) and 1 <= len(rows) <= _MAX_ROWS and isinstance(left_out, dict)):
            return None
        if not (_are_texts([*texts, *left_out, *left_out.values()]) and _is_count(n_rows)):
            return None
        found = tuple({key: row.get(key) for key in _FIELDS} if isinstance(row, dict) else {} for row in rows)
        if not (all(row and _is_row(row) for row in found) and _is_level(quantile)):
            return None
        return cls(metric, found, conclusion, scored_on, n_rows, left_out, quantile)  # type: ignore[arg-type]


_FIELDS = ("name", "nbytes", "score", "loss")


def _is_row(row: dict[str, Any]) -> bool:
    return _are_texts([row["name"]]) and _is_count(row["nbytes"]) and all(_is_number(row[k]) for k in ("score", "loss"))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_level(value: Any) -> bool:
    return value is None or (_is_number(value) and 0.0 < value < 1.0)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _are_texts(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) and len(value) <= _MAX_CHARACTERS for value in values)
