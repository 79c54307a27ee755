# make demo and make test do all the set-up on a fresh machine.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-slow fuzz soak wheel test-wheel test-engines dist lint format bench quality reproduction pictures docs docs-check clean

demo: $(VENV)/.demo
	$(BIN)/keeptree demo

# Compiled first, on all cores: otherwise each of the test processes would compile for itself.
test: $(VENV)/.test
	$(BIN)/python -m keeptree._compiled
	$(BIN)/python -m pytest -n 2

# Tests that take minutes: everything compiled again for an old processor.
test-slow: $(VENV)/.test
	$(BIN)/python -m pytest -m slow tests

# Random files, tables and command lines for FUZZ_MINUTES; make test has a short run.
FUZZ_MINUTES ?= 10
fuzz: $(VENV)/.test
	$(BIN)/python -m tools.fuzz --minutes $(FUZZ_MINUTES) $(ARGS)

# Threads and processes of mixed calls for SOAK_MINUTES: the same answers, no growth of memory.
SOAK_MINUTES ?= 10
soak: $(VENV)/.test
	$(BIN)/python -m tools.soak --minutes $(SOAK_MINUTES) $(ARGS)

# The engines on real clusters on this machine, Ray and Spark (730 MB, and Java) included.
test-engines: $(VENV)/.engines
	$(BIN)/python -m keeptree._compiled
	$(BIN)/python -m pytest tests/engines
	$(BIN)/python -m tools.kill_worker ray spark

# A wheel with machine code: needs a C compiler. What uses it needs neither that nor numba.
wheel: $(BIN)/python
	KEEPTREE_NATIVE=1 $(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

# The tests against the wheel, in an environment without numba.
test-wheel: wheel
	$(PYTHON) -m venv --clear .venv-wheel
	.venv-wheel/bin/python -m pip install --quiet --upgrade pip
	.venv-wheel/bin/python -m pip install --quiet "$$(ls -t dist/keeptree-*.whl | head -n 1)[test-wheel]"
	.venv-wheel/bin/python -m pytest -n 2 tests

# What is published: sdist and wheel, checked, installed in a clean place and tried there.
dist: $(VENV)/.dist
	KEEPTREE_NATIVE=1 $(BIN)/python -m tools.release

lint: $(VENV)/.lint
	$(BIN)/ruff check src tests reproduction benchmarks tools docs examples
	$(BIN)/ruff format --check src tests reproduction benchmarks tools docs examples
	$(BIN)/mypy
	$(BIN)/codespell src tests reproduction benchmarks tools docs examples .github *.md pyproject.toml

format: $(VENV)/.lint
	$(BIN)/ruff check --fix src tests reproduction benchmarks tools docs examples
	$(BIN)/ruff format src tests reproduction benchmarks tools docs examples

bench: $(VENV)/.bench
	NUMBA_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks

# make quality ARGS=--quick tries eight small sets and leaves the docs alone.
quality: ARGS ?= --docs
quality: $(VENV)/.quality
	$(BIN)/python -m benchmarks.quality $(ARGS)
	$(BIN)/python -m benchmarks.quality.distances grid --splits 2
	$(BIN)/python -m benchmarks.quality.distances position --splits 1

# Hours; what is finished is kept in build. ARGS="--samples 20" takes less.
REPRODUCE = $(BIN)/python -m reproduction
reproduction: $(VENV)/.reproduction
	$(REPRODUCE) alvarez-2007 $(ARGS)
	$(REPRODUCE) alvarez-2005 $(ARGS)
	$(REPRODUCE) alvarez-2007 --protocol plain $(ARGS)
	$(REPRODUCE) choices $(ARGS)
	$(REPRODUCE) katz-2012 $(ARGS)
	$(BIN)/python -m docs.results build/reproduction

# Those of the README and the guide; needs Chromium.
pictures: $(VENV)/.test
	$(BIN)/python -m docs.images

# The site in build/site; examples that did not change are not run again. Compiled first, so that
# no example prints that it compiles; pages of names that are gone are removed.
docs: $(VENV)/.docs
	$(BIN)/python -m keeptree._compiled
	rm -rf docs/api/generated
	$(BIN)/sphinx-build --fail-on-warning --keep-going -d build/doctrees docs build/site
	@echo "Open build/site/index.html"

# Every internal link, anchor and picture of the built site.
docs-check: docs
	$(BIN)/python -m tools.site.check build/site

clean:
	rm -rf $(VENV) .venv-wheel build dist docs/api/backreferences docs/api/generated docs/gallery src/keeptree/_compiled/native*.so src/keeptree/_compiled/native.json .pytest_cache .ruff_cache .mypy_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

# One stamp per set of extras: a change of pyproject.toml installs again.
$(VENV)/.demo: EXTRAS := jit,report,files
$(VENV)/.test: EXTRAS := test
$(VENV)/.engines: EXTRAS := test,ray,spark
$(VENV)/.lint: EXTRAS := lint
$(VENV)/.dist: EXTRAS := dist
$(VENV)/.docs: EXTRAS := docs
$(VENV)/.bench: EXTRAS := test,bench
$(VENV)/.quality: EXTRAS := quality
$(VENV)/.reproduction: EXTRAS := jit,reproduction
$(VENV)/.demo $(VENV)/.test $(VENV)/.engines $(VENV)/.lint $(VENV)/.dist $(VENV)/.docs $(VENV)/.bench $(VENV)/.quality $(VENV)/.reproduction: pyproject.toml | $(BIN)/python
	@echo "Installing the extras $(EXTRAS) into $(VENV): a minute or more, without output"
	$(BIN)/python -m pip install --quiet --editable ".[$(EXTRAS)]"
	@touch $@
