# `make lab` opens the notebooks; `make test` proves them. Both set up all they need in .venv.
VENV ?= .venv
PY := $(VENV)/bin/python
NOTEBOOKS := $(wildcard notebooks)
START := $(wildcard notebooks/ten-minutes.ipynb)
RECORD := .checklist.json
PYTEST = $(PY) -m pytest
# One more than a small machine has cores: the browser's worker mostly waits.
WORKERS ?= 3
# In their order: sorted by the number of tests, files of few but long tests would come last, on one core.
SPREAD = --dist loadfile --no-loadscope-reorder
# COV=--coverage prints the lines that no test reached; to watch them takes a fifth of the time.
COV ?=
# Some forty processes read the package and the tests: whatever the environment says, one compiles for all.
export PYTHONDONTWRITEBYTECODE :=

# JupyterLab refuses root unless told; without a screen it only prints its address.
ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)
SCREEN := $(DISPLAY)$(WAYLAND_DISPLAY)$(filter Darwin,$(shell uname))
QUIET := $(if $(SCREEN),,--no-browser)

.PHONY: help lab test test-long bench performance checklist notebooks site lint browser clean

help:
	@echo 'make lab        JupyterLab on the first notebook (PORT=8899, ARGS=--no-browser)'
	@echo 'make test       lint, types, and every test with a summary as its last line'
	@echo 'make test-long  the larger explorations and the long random runs'
	@echo 'make bench      the figures of speed and memory on this machine'
	@echo 'make performance  the same, stored in docs/performance.md'
	@echo 'make checklist  which of the documents'"'"' 305 items the tests prove'
	@echo 'make notebooks  run the notebooks and store what they show'
	@echo 'make site       the book: lessons, pages and reference as HTML in build/site'

$(VENV)/.lab: pyproject.toml .ci/environment
	@.ci/environment python $(VENV) lab
	@touch $@

$(VENV)/.test: pyproject.toml .ci/environment
	@.ci/environment python $(VENV) lab,test
	@.ci/environment kubectl $(VENV)
	@touch $(VENV)/.lab $@

browser:
	@.ci/environment browser

lab: $(VENV)/.lab
	@echo 'kvolsched: JupyterLab prints its address below; Ctrl-C twice ends it'
	@exec $(PY) -m jupyterlab $(ROOT) $(QUIET) --ServerApp.root_dir='$(CURDIR)' \
	    --LabApp.default_url=/lab$(addprefix /tree/,$(START)) $(if $(PORT),--ServerApp.port=$(PORT)) $(ARGS)

lint: $(VENV)/.test
	$(PYTEST) tests/test_lint.py -q

test: export KVOLSCHED_CHECKLIST = $(RECORD)
# Cells of the documents' notebooks run in tests/documents, in the test's process, with the checklist's marks: not twice.
test: $(VENV)/.test browser
	@rm -f $(RECORD)
	@$(PY) -m compileall -q -j 0 kvolsched
	$(PYTEST) tests $(NOTEBOOKS) --ignore notebooks/documents --nbval --nbval-current-env -n $(WORKERS) $(SPREAD) $(COV)

# Some take longer than the time after which a hanging test's stack is printed: that ends a process that is profiled.
test-long: $(VENV)/.test
	@.ci/environment python $(VENV) lab,test,clients
	HYPOTHESIS_PROFILE=long $(PYTEST) tests -m long -o faulthandler_timeout=0

# ARGS=--gate fails where a ratio falls short.
BENCH = --aims --pods 200 --fit 100 --limit 2 --runs 1 $(ARGS)
bench: $(VENV)/.lab
	$(PY) -m kvolsched bench $(BENCH)

performance: $(VENV)/.lab
	$(PY) tests/store_performance.py $(BENCH)

# After `make test` this only counts; otherwise the tests that prove an item are run first.
checklist: $(RECORD)
	@$(PY) tests/checklist.py $(RECORD)

$(RECORD): export KVOLSCHED_CHECKLIST = $(RECORD)
$(RECORD): $(shell find kvolsched tests $(NOTEBOOKS) -type f -not -path '*/__pycache__/*' -not -path '*/artefacts/*' -not -path '*/.*' 2>/dev/null) | $(VENV)/.test
	@rm -f $@
	-$(PYTEST) tests -m "checklist and not long" -n $(WORKERS) --dist loadfile -q
	@test -f $@ || echo '{}' >$@

notebooks: $(VENV)/.test
	$(PY) tests/run_notebooks.py $(NOTEBOOKS)
	$(PY) tests/document_notebook.py run all

# A warning is an error: a dead link or a missing reference fails. Each lesson's panel is saved as a page of its own first.
site: $(VENV)/.test
	$(PY) docs/run_pages.py build/site/run
	$(PY) -m sphinx -q -W --keep-going -b html -c docs . build/site
	@echo 'open build/site/index.html'

clean:
	rm -rf $(VENV) build dist *.egg-info .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache $(RECORD) tests/artefacts
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
