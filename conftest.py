"""Settings of every test process, made before NumPy, SciPy and torch are imported."""

import os

# Without it scikit-learn skips one of its estimator checks.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# One thread a process: pytest-xdist already fills the cores, and OpenMP's waiting threads would fight.
if "PYTEST_XDIST_WORKER" in os.environ:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
