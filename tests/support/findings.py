"""Hand-made results of the frontier."""


def result_of(scores: dict[str, dict[int, list[float]]], metric: str = "accuracy", is_set_aside: bool = False) -> dict:
    """A result file's content with these scores by method, budget and seed."""
    found: dict = {}
    for method, by_budget in scores.items():
        for budget, values in by_budget.items():
            for seed, value in enumerate(values):
                found.setdefault(method, {}).setdefault(str(seed), {})[str(budget)] = {"score": value}
    settings = {"n_screened": 12, "n_final": 3, "screening_rows": 6000, "most_rows": 60000}
    environment = {"cpu": "a processor", "libraries": {"numpy": "2"}}
    return {"metric": metric, "note": "", "is_set_aside": is_set_aside, "found": found, "jobs": {"a job": 60.0},
            "settings": settings, "environment": environment}  # fmt: skip
