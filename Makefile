# `make demo` and `make test` do all set-up by themselves; everything else is for working on the code.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
LIGHT  := $(VENV)/.light
STAMP  := $(VENV)/.installed

.PHONY: demo test check lint types layers docs site wheel dist bundle torture supply clean help

help: ## this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Lineage needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)

$(LIGHT): $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $(LIGHT)

$(STAMP): $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(STAMP)

demo: $(LIGHT) ## set up, build the demonstration lineage offline and answer three questions
	$(BIN)/lineage demo

test: $(STAMP) ## set up and run the tests
	$(BIN)/python -m pytest -n 2 --dist worksteal

check: lint types layers docs site wheel test ## all that .ci/run checks

lint: $(STAMP) ## style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check lineage indexer retrieval api tests benchmarks integrations

types: $(STAMP) ## static types
	$(BIN)/mypy

layers: $(STAMP) ## import rules
	$(BIN)/lint-imports

docs: $(STAMP) ## is the generated documentation what the code says?
	$(BIN)/python -m docs.generate --check
	$(BIN)/python -m integrations.plugins --check

site: $(STAMP) ## the documentation as a site, into site/
	$(BIN)/mkdocs build --strict --quiet

wheel: $(STAMP) ## build the wheel and test it in a clean, light environment
	.ci/wheel $(CURDIR)/$(BIN)/python

dist: $(STAMP) ## wheel and source archive into dist/, built twice with the same bytes, as twine wants them
	$(BIN)/python -m pip install --quiet --disable-pip-version-check twine || true
	.ci/dist $(CURDIR)/$(BIN)/python

bundle: $(STAMP) ## what MCP clients and registries install: bundle, manifest, skill, into dist/
	$(BIN)/python -m integrations.bundle --out dist

torture: $(STAMP) ## flip bits, inject faults and read hostile files for a long while; figures as JSON
	nice -n 5 $(BIN)/python -m benchmarks.torture

supply: $(STAMP) ## known vulnerabilities in what is installed (asks the advisory database)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check pip-audit
	$(BIN)/python -m pip_audit --skip-editable

clean: ## remove what the commands above made
	rm -rf $(VENV) site .demo .mypy_cache .ruff_cache .pytest_cache
