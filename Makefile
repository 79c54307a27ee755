# make demo and make test do all the set-up on a fresh machine.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint format bench quality reproduction pictures clean

demo: $(VENV)/.demo
	$(BIN)/keeptree demo

test: $(VENV)/.test
	$(BIN)/python -m pytest -n 2

lint: $(VENV)/.lint
	$(BIN)/ruff check src tests reproduction benchmarks tools docs
	$(BIN)/ruff format --check src tests reproduction benchmarks tools docs

format: $(VENV)/.lint
	$(BIN)/ruff check --fix src tests reproduction benchmarks tools docs
	$(BIN)/ruff format src tests reproduction benchmarks tools docs

bench: $(VENV)/.bench
	NUMBA_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks

# make quality ARGS=--quick tries eight small sets and leaves the docs alone.
quality: ARGS ?= --docs
quality: $(VENV)/.quality
	$(BIN)/python -m benchmarks.quality $(ARGS)

# make reproduction DATA=folder-with-the-papers-files: hours; what is finished is kept in build.
REPRODUCE = $(BIN)/python -m reproduction $(if $(DATA),--data-dir $(DATA)) --out build/papers
reproduction: $(VENV)/.papers
	$(REPRODUCE) alvarez-2007
	$(REPRODUCE) alvarez-2005
	$(REPRODUCE) katz-2012 --samples 3
	$(REPRODUCE)-plain alvarez-2007 --protocol plain
	$(BIN)/python -m docs.reproduction build/papers build/papers-plain

# Those of the README and the guide; needs Chromium.
pictures: $(VENV)/.test
	$(BIN)/python -m docs.images

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

# One stamp per set of extras: a change of pyproject.toml installs again.
$(VENV)/.demo: EXTRAS := report,files
$(VENV)/.test: EXTRAS := test
$(VENV)/.lint: EXTRAS := lint
$(VENV)/.bench: EXTRAS := test,bench
$(VENV)/.quality: EXTRAS := quality
$(VENV)/.papers: EXTRAS := papers
$(VENV)/.demo $(VENV)/.test $(VENV)/.lint $(VENV)/.bench $(VENV)/.quality $(VENV)/.papers: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[$(EXTRAS)]"
	@touch $@
