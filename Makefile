PYTHON ?= python3
BIN := .venv/bin
# Tests run on all cores at once: threads of numerical libraries would spin for each other, many times their work.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --dist loadgroup --no-loadscope-reorder
READY := .venv/.ready

# Compiled bytecode halves the start of commands and processes; some containers switch it off.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: install run test test-all test-pretrained test-quick lint bench docs lock clean

install: $(READY)

$(READY): requirements.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -r requirements.lock
	$(BIN)/python -m compileall -qq -j 0 -x '/tests/' .venv/lib || true  # on all cores; some examples in packages do not compile
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $(READY)

run: install
	$(BIN)/easeml up --demo

# What CI runs: the three at the same time, the third in CI only; it fails when one of them has failed.
test: install
	./scripts/system-packages
	$(MAKE) --jobs lint test-all $(if $(CI),test-pretrained)

# Tests with a service come last, since a browser leaves an event loop. Their order is that of tests/conftest.py.
test-all: install
	$(PYTEST) -n 2 -m "not faults and not service"
	$(PYTEST) -n 2 -m "faults or service"

test-pretrained: install
	./scripts/test-pretrained

test-quick: install
	$(PYTEST) -n 2 -m "not faults and not service"

lint: install
	$(BIN)/ruff check src tests benchmarks scripts
	$(BIN)/ruff format --check src tests benchmarks scripts
	$(BIN)/basedpyright
	$(BIN)/lint-imports

bench: install
	for script in benchmarks/*.py; do $(BIN)/python $$script || exit 1; done

docs: install
	$(BIN)/python scripts/reference.py

lock: install
	echo "# Versions that CI tests; 'make install' uses them. Renew: make lock." > requirements.lock
	$(BIN)/python -m pip freeze --exclude-editable --exclude pip --exclude setuptools >> requirements.lock

clean:
	rm -rf .venv
