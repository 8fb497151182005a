"""Good files, made once: one of each precision, the paper's sketch with its sums, one with stages."""

import pytest

from support.rsk.build import float_file, integer_file, intervals_file, kernel_file
from support.rsk.stages import stages_file


@pytest.fixture(scope="session")
def content():
    return integer_file()


@pytest.fixture(scope="session")
def floating():
    return float_file()


@pytest.fixture(scope="session")
def kernel():
    return kernel_file()


@pytest.fixture(scope="session")
def intervals():
    return intervals_file()


@pytest.fixture(scope="session")
def stages():
    return stages_file()
