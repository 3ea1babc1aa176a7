# Two commands do everything: `make audit` and `make test`. Each sets up its own virtual environment first.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
SHELL := /bin/bash

# Programs that a solver decides, tested also with the kernels that OpenBLAS has for other x86-64 processors: those of
# the oldest, and those with AVX2. Elsewhere the names change nothing. The noise that stands for other processors in the
# tests is left out there.
CORES := Nehalem Haswell
SENSITIVE := tests/verify/pep/test_far.py tests/verify/pep/test_last_digits.py

# Whatever the machine says: modules are compiled once, and not in each of the processes that tests and audits start.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
EXPERIMENTS ?= ../shared/data

.PHONY: help audit golden results experiments test test-slow prove fuzz bench docs notebooks format clean

help:
	@echo "make audit      set up, audit every claim by what is carried, run two methods on real data (in build/audit)"
	@echo "make golden     audit every claim anew, and fail where verdicts, margins or notes are not as carried"
	@echo "make results    audit every claim anew, and make what was found the results that the package carries"
	@echo "make experiments  run all figures on the data in EXPERIMENTS (../shared/data), carry what is seen; resumable"
	@echo "make test       set up, lint, type-check and test"
	@echo "make test-slow  the long sweeps behind the fast subset, which run once a week"
	@echo "make prove      write all proofs for Rocq and have it check them (needs coqc; under half an hour)"
	@echo "make fuzz       10,000 bad inputs for each reader of files and arguments, within limits of time and memory"
	@echo "make bench      measure: rounds, worst cases, the audit, against their limits (build/bench.json)"
	@echo "make docs       the site of the documentation (in build/docs)"
	@echo "make notebooks  execute the notebooks and store their outputs"
	@echo "make format     format and fix what can be fixed"
	@echo "make clean      remove the environment and everything built"

# The stamp is newer than the environment's inputs exactly when the environment is up to date.
$(VENV)/.ready: pyproject.toml constraints.txt
	@echo "setting up $(VENV): pip installs packages of 1 GB or so, which takes some minutes"
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

audit: $(VENV)/.ready
	$(BIN)/fedtheory audit --out build/audit

results: $(VENV)/.ready
	$(BIN)/fedtheory audit --from-scratch --no-cache --out build/results
	$(BIN)/python -m verify.cli.carry build/results/audit.json

# Its clocks run 50 times faster: no verdict may know the time.
golden: $(VENV)/.ready
	PYTHONPATH=tests/helpers/fast_clocks $(BIN)/fedtheory audit --from-scratch --no-cache --out build/golden
	$(BIN)/python -m verify.audit.golden build/golden/audit.json

# What is done is in build/experiments, and the same command goes on from there.
experiments: $(VENV)/.ready
	$(BIN)/fedtheory experiment all --data $(EXPERIMENTS) --out build/experiments --carry
	$(BIN)/fedtheory experiment --markdown > docs/experiments.md

test: $(VENV)/.ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy & typed=$$!; $(BIN)/python -m pytest -n 2 -m 'not slow'; tested=$$?; wait $$typed && exit $$tested
	failed=; pids=; for core in $(CORES); do OPENBLAS_CORETYPE=$$core $(BIN)/python -m pytest -m 'not slow' -k 'not noise' $(SENSITIVE) & pids="$$pids $$!"; done; \
	for pid in $$pids; do wait $$pid || failed=1; done; test -z "$$failed"

test-slow: $(VENV)/.ready
	$(BIN)/python -m pytest -n 2 -m slow

# Needs Rocq (Coq 8.16), as Debian's package coq has it.
prove: $(VENV)/.ready
	@command -v coqc > /dev/null || { echo "make prove needs coqc, of Debian's package coq"; exit 2; }
	rm -rf build/rocq
	mkdir -p build
	$(BIN)/fedtheory export --all --format rocq --out build/rocq > build/rocq.log
	$(BIN)/python -m verify.export.prove build/rocq

fuzz: $(VENV)/.ready
	FUZZ=10000 $(BIN)/python -m pytest -n 2 tests/verify/hostile

bench: $(VENV)/.ready
	$(BIN)/python -m benchmarks.bench --out build/bench.json

# What the site takes is installed for the site only.
$(VENV)/.docs: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	@touch $@

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "the site is in build/docs: open build/docs/index.html"

notebooks: $(VENV)/.ready
	$(BIN)/python notebooks/store.py

format: $(VENV)/.ready
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .hypothesis
