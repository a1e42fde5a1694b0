# Everything runs from .venv, which is made once and again only when pyproject.toml changes.
#
#   make demo        a first picture in under a minute after the install
#   make setup       .venv with everything the tests need
#   make test        what a contributor runs: lint, types, layers, fast tests
#   make test-slow   the rest of the tests
#   make test-newer  the tests of numerics, models and campaigns on every newer Python that is installed here
#   make bench       side by side with peers -> bench/RESULTS.md    (PEERS=1: measure peers again)
#   make reproduce   tables and figures of the theses -> reproductions/RESULTS.md
#   make docs        the documentation, with every example run -> site/
#   make clean       forget .venv and what was built

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# A process for each core. Each begins with a part of the files, whose tests share programs, and takes
# over tests from others when it has done its own.
PYTEST := $(BIN)/python -m pytest -q -n auto --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-slow test-newer test-some bench reproduce docs clean
.DELETE_ON_ERROR:

help:
	@sed -n 's/^#   //p' Makefile

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# One stamp per set of extras: an install happens when its stamp is missing or older than
# pyproject.toml. The interpreter is order-only: its date says nothing about what is installed.
$(VENV)/.installed-test: pyproject.toml | $(BIN)/python
	$(PIP) -e '.[test]'
	@touch $@

$(VENV)/.installed-docs: pyproject.toml | $(BIN)/python
	$(PIP) -e '.[docs]'
	@touch $@

# The extra `test` contains `plots`, so a .venv that can run the tests can run the demo.
$(VENV)/.installed-plots: pyproject.toml | $(BIN)/python
	@test $(VENV)/.installed-test -nt pyproject.toml || { echo "$(PIP) -e '.[plots]'"; $(PIP) -e '.[plots]'; }
	@touch $@

setup: $(VENV)/.installed-test

demo: $(VENV)/.installed-plots
	$(BIN)/python examples/demo.py

test: setup
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(PYTEST) -m 'not slow'

# pytest's exit code 5 says that no test was selected, which is no failure.
test-slow: setup
	$(PYTEST) -m slow || test $$? -eq 5

# Each in an environment of its own. There pip may choose a newer JAX than in .venv.
test-newer: setup
	@.ci/newer-pythons $(BIN)/python | while read -r version python; do \
		echo "Python $$version"; \
		$(MAKE) --no-print-directory test-some VENV=$(VENV)-$$version PYTHON=$$python || exit 1; \
	done

test-some: setup
	$(PYTEST) -m 'not slow' tests/numerics tests/models tests/campaign

bench: setup
	$(BIN)/python -m bench.run

reproduce: setup
	$(BIN)/python -m reproductions.run

docs: $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

clean:
	rm -rf $(VENV) $(VENV)-3.* site build dist
