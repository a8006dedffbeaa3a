# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test nightly docs check format clean

demo: .venv/core  ## ask documents, rank sentences
	@$(BIN)/cascada ask "Which chemist made enough liquid oxygen to study it?" examples/documents --top 1
	@$(BIN)/cascada ask "Why was Polonia relegated in 2013?" examples/documents --top 1
	@$(BIN)/cascada ask "What is the capital of Australia?" examples/documents --top 1
	@$(BIN)/cascada rank "How many people ascended the Eiffel Tower in 2011?" examples/eiffel.txt --top 3 --explain

test: check  ## lint, types, tests
	$(BIN)/pytest -n 3 --dist worksteal -q

nightly: .venv/dev  ## every table and figure of the papers, on small data
	$(BIN)/cascada reproduce all --quick

docs: .venv/dev  ## the site, into site/; a broken link is an error
	$(BIN)/mkdocs build --strict

check: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: .venv/dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The core install has no torch: it takes seconds, and is all that ranking needs.
.venv/core: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) -e .
	touch $@

# torch by its exact version first, so that the build on offer for this machine is taken.
.venv/dev: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) "$$(grep '^torch==' constraints.txt)"
	$(PIP) -e ".[dev]"
	touch $@ .venv/core

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
