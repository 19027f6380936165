# `make demo` and `make test` do all of their own set-up: a virtual environment in .venv, installed once.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PYTEST_FLAGS ?= -n 2

.PHONY: demo test lint clean

$(READY): pyproject.toml constraints.txt
	@echo "installing into $(VENV) (once; a few minutes)"
	@$(PYTHON) -m venv $(VENV)
	@PIP_CONSTRAINT=constraints.txt $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[plot,trace,tune,ray,slurm,log,large,dev]"
	@touch $(READY)

demo: $(READY)
	@$(BIN)/python -m mhaug.experiments.demo --out demo

test: lint
	@$(BIN)/python -m pytest $(PYTEST_FLAGS)

lint: $(READY)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

clean:
	rm -rf $(VENV) demo .pytest_cache .mypy_cache .ruff_cache
