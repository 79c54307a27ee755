# On a fresh machine, make demo and make test set up everything they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-slow fuzz soak wheel test-wheel test-engines dist lint format bench quality reproduction pictures docs docs-check clean

demo: $(VENV)/.demo
	$(BIN)/keeptree demo

# Compile first, on all cores; otherwise each test process would compile everything itself.
test: $(VENV)/.test
	$(BIN)/python -m keeptree._compiled
	$(BIN)/python -m pytest -n 2

# Tests that take minutes, because they compile everything again for an old processor.
test-slow: $(VENV)/.test
	$(BIN)/python -m pytest -m slow tests

# Try random files, tables and command lines for FUZZ_MINUTES; make test includes a short run.
FUZZ_MINUTES ?= 10
fuzz: $(VENV)/.test
	$(BIN)/python -m tools.fuzz --minutes $(FUZZ_MINUTES) $(ARGS)

# Make mixed calls in threads and processes for SOAK_MINUTES; check results and memory.
SOAK_MINUTES ?= 10
soak: $(VENV)/.test
	$(BIN)/python -m tools.soak --minutes $(SOAK_MINUTES) $(ARGS)

# Test the engines on real clusters on this machine, including Ray and Spark (730 MB, and Java).
test-engines: $(VENV)/.engines
	$(BIN)/python -m keeptree._compiled
	$(BIN)/python -m pytest tests/engines
	$(BIN)/python -m tools.kill_worker ray spark

# Build a wheel with machine code. This needs a C compiler; using the wheel needs neither that nor
# numba.
wheel: $(BIN)/python
	KEEPTREE_NATIVE=1 $(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

# Run the tests against the wheel, in an environment without numba.
test-wheel: wheel
	$(PYTHON) -m venv --clear .venv-wheel
	.venv-wheel/bin/python -m pip install --quiet --upgrade pip
	.venv-wheel/bin/python -m pip install --quiet "$$(ls -t dist/keeptree-*.whl | head -n 1)[test-wheel]"
	.venv-wheel/bin/python -m pytest -n 2 tests

# Build and check the sdist and the wheel, install the wheel in a clean environment and try it
# there.
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

# Measure the machine code that a wheel contains; building it takes minutes, once.
bench: $(VENV)/.bench
	$(BIN)/python tools/build_native.py
	NUMBA_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks

# make quality ARGS=--quick runs eight small sets and does not update the docs.
quality: ARGS ?= --docs
quality: $(VENV)/.quality
	$(BIN)/python -m benchmarks.quality $(ARGS)
	$(BIN)/python -m benchmarks.quality.distances grid --splits 2
	$(BIN)/python -m benchmarks.quality.distances position --splits 1

# This takes hours; finished parts are stored in build. ARGS="--samples 20" is faster.
REPRODUCE = $(BIN)/python -m reproduction
reproduction: $(VENV)/.reproduction
	$(REPRODUCE) alvarez-2007 $(ARGS)
	$(REPRODUCE) alvarez-2005 $(ARGS)
	$(REPRODUCE) alvarez-2007 --protocol plain $(ARGS)
	$(REPRODUCE) choices $(ARGS)
	$(REPRODUCE) katz-2012 $(ARGS)
	$(BIN)/python -m docs.results build/reproduction

# Redraw the pictures of the README and the guide; this needs Chromium.
pictures: $(VENV)/.test
	$(BIN)/python -m docs.images

# Build the site in build/site; unchanged examples are not run again. Compile first, so that no
# example prints that it compiles, and remove the pages of names that no longer exist.
docs: $(VENV)/.docs
	$(BIN)/python -m keeptree._compiled
	rm -rf docs/api/generated
	$(BIN)/sphinx-build --fail-on-warning --keep-going -d build/doctrees docs build/site
	@echo "Open build/site/index.html"

# Check every internal link, anchor and picture of the built site.
docs-check: docs
	$(BIN)/python -m tools.site.check build/site

clean:
	rm -rf $(VENV) .venv-wheel build dist docs/api/backreferences docs/api/generated docs/gallery src/keeptree/_compiled/native*.so src/keeptree/_compiled/native.json .pytest_cache .ruff_cache .mypy_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

# One stamp file per set of extras; a change to pyproject.toml reinstalls them.
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
	@echo "Installing the extras $(EXTRAS) into $(VENV); this takes a minute or more without output"
	$(BIN)/python -m pip install --quiet --editable ".[$(EXTRAS)]"
	@touch $@
