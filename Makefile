PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: install run test test-quick lint bench docs lock clean

install: $(READY)

$(READY): requirements.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $(READY)

run: install
	$(BIN)/easeml up --demo

test: install
	./scripts/system-packages
	$(MAKE) lint
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not faults and not service"
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "faults or service"

test-quick: install
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not faults and not service"

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
