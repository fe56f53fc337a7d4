# python3, or that of the system where python3 is a plain build (pyenv's, for one): with what systems bring, built with
# optimizations, tests take about a tenth less processor time. Debian has ensurepip in a package of its own.
PYTHON ?= $(shell if python3 -c "$(FAST)" 2>/dev/null || ! /usr/bin/python3 -c "$(SUITS)" 2>/dev/null; then echo python3; else echo /usr/bin/python3; fi)
FAST := import sys, sysconfig; sys.exit('--enable-optimizations' not in sysconfig.get_config_var('CONFIG_ARGS'))
SUITS := import ensurepip, sys; sys.exit(sys.version_info < (3, 11))
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
# Tests run on all cores at once: threads of numerical libraries would spin for each other, many times their work.
# Four for two cores: those that use a running service wait for it much of their time.
# Large pages of memory (decision 0155): what computes within a test takes half the processor time on a virtual machine.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONMALLOC=malloc GLIBC_TUNABLES=glibc.malloc.hugetlb=1 $(BIN)/python -m pytest --dist loadgroup --no-loadscope-reorder
# Forks of one Python that has collected all tests: each would import the same for ten seconds of the processor. They
# need /proc, which Linux has.
FORKED := $(if $(wildcard /proc/self/fd),--tx "4*popen//python=$(BIN)/python tests/forked_worker.py",-n 4)
RUNS := .venv/.ready
DEVELOPS := .venv/.ready-dev

# Compiled bytecode halves the start of commands and processes; some containers switch it off.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: install develop system-packages run test test-all test-pretrained test-networks test-boosting test-s3 test-ray test-quick test-floor checks lint prove coverage \
	docs docs-site wheel lock clean

install: $(RUNS)

# What runs easeml, and nothing else.
$(RUNS): requirements.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(call install,-r requirements.lock)
	touch $(RUNS)

# What lock files name, and easeml itself. Bytecode is made on all cores; some examples in packages do not compile.
define install
	$(PIP) $(1)
	$(BIN)/python -m compileall -qq -j 0 -x '/tests/' .venv/lib || true
	$(PIP) --no-deps --no-build-isolation --editable .
endef

# Beside that what tests and tools need. No package is in both files, so they are installed side by side: pip unpacks on one
# core. What only this system needs, and no file names, comes afterwards.
develop: $(DEVELOPS)

$(DEVELOPS): requirements-dev.lock requirements.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) --no-deps -r requirements.lock & runs=$$!; $(PIP) --no-deps -r requirements-dev.lock && wait $$runs
	$(call install,-r requirements.lock -r requirements-dev.lock)
	touch $(RUNS) $(DEVELOPS)

run: install
	$(BIN)/easeml up --demo

# What CI runs. Many tests wait for a service; what else is checked takes the processor meanwhile. What failed is told at the
# end of what is printed.
test:
	$(MAKE) --jobs --output-sync=target develop system-packages
	$(MAKE) --jobs checks test-all

# Programs of the system that some tests need.
system-packages:
	./scripts/system-packages

# What needs no tests, some of it in CI only; what each prints stays together.
checks:
	$(MAKE) --jobs --output-sync=target lint $(if $(CI),test-s3 wheel)

# Their order is that of tests/conftest.py. Long ones are part of `make prove`.
test-all: develop
	$(PYTEST) $(FORKED) -m "not long"

# Pre-trained models, and models of libraries that easeml does not bring (CatBoost and XGBoost): they install a gigabyte,
# so `make prove` runs them, and CI does not.
test-pretrained: develop
	./scripts/test-with requirements-pretrained.lock tests/lifecycle/feasibility/test_pretrained.py

# Networks for pictures and series: PyTorch is a large library.
test-networks: develop
	./scripts/test-with requirements-pretrained.lock tests/zoo/test_networks.py

test-boosting: develop
	./scripts/test-with requirements-boosting.lock tests/zoo/test_models.py tests/zoo/test_monotonic.py -k "catboost or xgboost"

# Artefacts and data in a bucket, with a server that speaks S3.
test-s3: develop
	./scripts/test-with requirements-s3.lock tests/store/test_bucket.py tests/fetching/test_bucket_origins.py

# Tasks on a Ray cluster, which the tests start on loopback. Not part of CI: its programs take long to start.
test-ray: develop
	./scripts/test-with requirements-ray.lock tests/engine/test_clusters.py -k ray

test-quick: develop
	$(PYTEST) $(FORKED) -m "not faults and not service and not long"

# One room: make test-floor FLOOR=search
test-floor: develop
	test -n "$(FLOOR)" || { echo "Name a folder of tests: make test-floor FLOOR=search"; exit 1; }
	$(PYTEST) -n 4 tests/$(FLOOR)
	$(BIN)/lint-imports

lint: develop
	$(BIN)/ruff check src tests benchmarks scripts
	$(BIN)/ruff format --check src tests benchmarks scripts
	$(BIN)/basedpyright
	$(BIN)/lint-imports

# The long claims; what has a result for these sources is skipped. One of them: make prove ONLY=kill_processes
prove: develop
	$(BIN)/python scripts/prove.py $(if $(ONLY),--only $(ONLY))

coverage: develop
	$(PYTEST) -n 4 -m "not faults and not service and not long" --cov=easeml --cov-report=term:skip-covered

docs: develop
	$(BIN)/python scripts/reference.py

# To read and search it: python3 -m http.server --directory build/site
docs-site: develop
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# The wheel in an environment of its own, started as a stranger would.
wheel: develop
	./scripts/test-wheel

lock: develop
	$(BIN)/python scripts/lock.py

clean:
	rm -rf .venv
