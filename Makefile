# `make help` lists the targets. Each installs what it needs on first use, into .venv and build/, and is quick after that.

# System packages, in one place: a package counts as there when Debian has it installed or a command has its name.
PACKAGES := g++ pkg-config libjpeg62-turbo-dev liblmdb-dev libopenjp2-7-dev libpng-dev libsimdjson-dev \
  libsndfile1-dev libtiff-dev libwebp-dev zlib1g-dev

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
CXX_SOURCES = $(shell find native -name '*.h' -o -name '*.cpp')
PYTEST = $(PY) -m pytest -n 2

# The requirements of some extras in pyproject.toml, without building the project itself.
install = $(PY) tools/requirements.py $(1) | $(PY) -m pip install -qq -r /dev/stdin

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.PHONY: help setup build demo bench test gpu-test check format generate gallery wheel asan fuzz clean
.DEFAULT_GOAL := help

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(VENV)/dev.stamp $(VENV)/test.stamp $(VENV)/parity.stamp $(VENV)/check.stamp  ## Install all that developers need

build: $(VENV)/dev.stamp build/dev/build.ninja  ## Compile the core into src/avida; only what changed
	@$(BIN)/cmake --build build/dev

demo: build $(VENV)/demo.stamp  ## Turn images into training batches: speed of each stage, a contact sheet; DATA=DIR for your own
	@$(PY) -m avida demo $(DATA) -o build/demo.png

bench: build $(VENV)/bench.stamp $(VENV)/parity.stamp  ## Compare with other libraries on the JPEG files in DATA=DIR; BENCH=operators; ARGS="--rounds 3"
	@test -n "$(DATA)" || { echo "make bench needs DATA=DIR, a folder of JPEG files"; exit 2; }
	@$(PY) benchmarks/$(or $(BENCH),classification).py --data "$(DATA)" $(ARGS)

test: build $(VENV)/test.stamp $(VENV)/parity.stamp  ## Run the tests; ARGS="tests/ops -k flip" for some of them
	@$(PYTEST) $(ARGS)
	@$(if $(ARGS),,AVIDA_FAKE_GPU=2 $(PYTEST) tests/gpu)

gpu-test:  ## Run the suites of the GPU on a machine that has one, with an avida that PYTHON imports; builds nothing
	FAIL_WITHOUT_GPU=1 $(PYTHON) -m pytest -q -p no:cacheprovider tests/gpu $(ARGS)

check: build $(VENV)/test.stamp $(VENV)/check.stamp  ## Lint, types, formatting, layers, generated files
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright --pythonpath $(PY)
	@echo clang-format --dry-run native
	@$(BIN)/clang-format --dry-run --Werror $(CXX_SOURCES)
	$(PY) tools/check_layers.py
	$(PY) tools/generate.py --check

format: $(VENV)/check.stamp  ## Format all sources
	$(BIN)/ruff check --fix --exit-zero
	$(BIN)/ruff format
	@echo clang-format -i native
	@$(BIN)/clang-format -i $(CXX_SOURCES)

generate: build $(VENV)/check.stamp  ## Write the Python functions of all operators from their declarations
	$(PY) tools/generate.py

gallery: build $(VENV)/demo.stamp  ## Write docs/gallery.md and its pictures: what the image operators do
	$(PY) tools/gallery.py

wheel:  ## Build and try a self-contained wheel into dist/; PYTHON=3.12 or a path chooses the interpreter
	@tools/build_wheel.sh "$(PYTHON)"

asan: $(VENV)/test.stamp  ## Run the native-heavy tests under AddressSanitizer and UBSan
	@tools/run_asan.sh $(BIN) $(if $(ARGS),$(ARGS),tests/ops tests/runtime tests/every_op tests/api tests/codecs tests/readers)

fuzz: $(VENV)/test.stamp  ## Decode broken files under the sanitizers; FILES=5000 of each format
	@AVIDA_FUZZ_FILES=$(or $(FILES),5000) tools/run_asan.sh $(BIN) tests/codecs/test_fuzz.py

clean:  ## Remove what was built; .venv stays
	rm -rf build dist src/avida/_core.*.so .pytest_cache .ruff_cache .hypothesis
	find src tests tools examples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# --- set-up, once ---

build/packages.stamp: Makefile tools/install_packages.sh
	@tools/install_packages.sh "$(PYTHON)" $(PACKAGES)
	@mkdir -p build && touch $@

$(VENV)/pyvenv.cfg: | build/packages.stamp
	@echo "Creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)

# The package is imported from src through a .pth file, and CMake writes the compiled module there: no import hooks, so
# that pyright, debuggers and pytest's workers see ordinary files, and nothing is reinstalled after a change.
$(VENV)/dev.stamp: pyproject.toml $(VENV)/pyvenv.cfg | build/packages.stamp
	@echo "Installing the build tools into $(VENV)"
	@$(call install,dependencies dev)
	@echo "$(CURDIR)/src" > "$$($(PY) -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/avida.pth"
	@touch $@

$(VENV)/test.stamp: $(VENV)/dev.stamp
	@echo "Installing the test tools and PyTorch into $(VENV)"
	@$(call install,test torch)
	@touch $@

$(VENV)/demo.stamp: $(VENV)/dev.stamp
	@echo "Installing what writes JPEG files into $(VENV)"
	@$(call install,demo)
	@touch $@

$(VENV)/bench.stamp: $(VENV)/dev.stamp
	@echo "Installing the libraries that the benchmarks compare with into $(VENV)"
	@$(call install,bench)
	@touch $@

$(VENV)/parity.stamp: $(VENV)/dev.stamp
	@echo "Installing the library that the parity tests compare with (large) into $(VENV)"
	@$(call install,parity)
	@touch $@

$(VENV)/check.stamp: $(VENV)/dev.stamp
	@echo "Installing the linters into $(VENV)"
	@$(call install,check)
	@touch $@

build/dev/build.ninja: $(VENV)/pyvenv.cfg | $(VENV)/dev.stamp
	@tools/configure.sh $(BIN) build/dev -DCMAKE_LIBRARY_OUTPUT_DIRECTORY=$(CURDIR)/src/avida
