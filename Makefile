# `make help` lists the targets. Each installs what it needs on first use, into .venv and build/, and is quick after that.
# Another Python has an environment and a build folder of its own: make test PYTHON=python3.13 VENV=.venv313

# System packages, in one place: a package counts as there when Debian has it installed or a command has its name.
PACKAGES := g++ pkg-config libavcodec-dev libavformat-dev libavutil-dev libcurl4-openssl-dev libdeflate-dev libffmpeg-nvenc-dev libhwy-dev libjpeg62-turbo-dev liblz4-dev \
  libogg-dev libopenjp2-7-dev libpng-dev libsimdjson-dev libsndfile1-dev libssl-dev libtiff-dev libvorbis-dev libwebp-dev \
  libzstd-dev zlib1g-dev
WHEEL_PACKAGES := dpkg-dev libdav1d-dev nasm  # and these to build the FFmpeg of wheels

PYTHON ?= python3
VENV ?= .venv
SERVERS := build/servers
TORCHVISION := build/torchvision
BUILD := build/dev$(VENV:.venv%=%)
BIN := $(VENV)/bin
PY := $(BIN)/python
CXX_SOURCES = $(shell find native -name '*.h' -o -name '*.cpp')
PYTEST = $(PY) -m pytest -n 2
FUZZ_TESTS = $(wildcard tests/*/test_fuzz*.py)

# The requirements of some extras in pyproject.toml, without building the project itself.
install = $(PY) tools/requirements.py $(1) | $(PY) -m pip install -qq -r /dev/stdin

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.PHONY: help packages setup build demo bench docs test torchvision stores gpu-test check format operator generate tables wheel asan fuzz interrupts kills clean
.DEFAULT_GOAL := help

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

packages: build/packages.stamp  ## Install the libraries that avida is compiled with, through apt-get

setup: $(VENV)/dev.stamp $(VENV)/test.stamp $(VENV)/parity.stamp $(VENV)/check.stamp  ## Install all that developers need

build: $(VENV)/dev.stamp $(BUILD)/build.ninja  ## Compile the core into src/avida; only what changed. Vectors for this machine; VECTORS=all for all
	@$(if $(VECTORS),$(BIN)/cmake -DAVIDA_VECTORS=$(VECTORS) $(BUILD) >/dev/null)
	@$(BIN)/cmake --build $(BUILD)

demo: build $(VENV)/demo.stamp  ## Turn images into training batches: speed of each stage, a contact sheet; DATA=DIR for your own
	@$(PY) -m avida demo $(DATA) -o build/demo.png

bench: build $(VENV)/bench.stamp $(VENV)/parity.stamp  ## Compare with other libraries on the JPEG files in DATA=DIR; BENCH=operators; ARGS="--rounds 3"
	@test -n "$(DATA)" || { echo "make bench needs DATA=DIR, a folder of JPEG files"; exit 2; }
	@$(PY) benchmarks/$(or $(BENCH),classification).py --data "$(DATA)" $(ARGS)

test: build $(VENV)/test.stamp $(VENV)/parity.stamp $(VENV)/check.stamp $(SERVERS)/moto.stamp $(TORCHVISION)/stamp  ## Run the tests; ARGS="tests/ops -k flip" for some of them
	@$(PYTEST) $(ARGS)
	@$(if $(ARGS),,AVIDA_FAKE_GPU=2 $(PYTEST) tests/gpu)

docs: build $(VENV)/docs.stamp  ## Build the site, with the reference, into build/site/html, and check its links, headings and pictures
	@$(PY) tools/site/build.py

torchvision: $(TORCHVISION)/stamp  ## Install torchvision into build/torchvision, for the tests of avida.torchvision and its benchmark

stores: build $(VENV)/test.stamp $(SERVERS)/all.stamp  ## Try stores against moto, nginx, azurite and Google's emulator; WORKERS=100 rounds of each DataLoader, long faults
	@FAIL_WITHOUT_SERVERS=1 AVIDA_SECONDS_AWAY=10 AVIDA_WORKERS=$(or $(WORKERS),100) $(PYTEST) tests/storage $(ARGS)

gpu-test:  ## Run the suites of the GPU on a machine that has one, with an avida that PYTHON imports; builds nothing
	FAIL_WITHOUT_GPU=1 $(PYTHON) -m pytest -q -p no:cacheprovider tests/gpu $(ARGS)

check: build $(VENV)/test.stamp $(VENV)/parity.stamp $(VENV)/check.stamp  ## Lint, types, formatting, layers, lines, generated files
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright --pythonpath $(PY)
	$(BIN)/mypy
	@echo clang-format --dry-run native
	@$(BIN)/clang-format --dry-run --Werror $(CXX_SOURCES)
	$(PY) tools/check_layers.py
	$(PY) tools/count_lines.py
	$(PY) tools/file_tables.py --check
	$(PY) tools/generate.py --check

format: $(VENV)/check.stamp  ## Format all sources
	$(BIN)/ruff check --fix --exit-zero
	$(BIN)/ruff format
	@echo clang-format -i native
	@$(BIN)/clang-format -i $(CXX_SOURCES)

operator: $(VENV)/check.stamp  ## Write a new image operator and its test; NAME=my_operator, IN=native/ops/color, MODULE=noise
	@$(PY) tools/new_operator.py "$(NAME)" --folder "$(or $(IN),native/ops/image)" --module "$(MODULE)"

generate: build tables $(VENV)/check.stamp $(VENV)/demo.stamp  ## Write Python functions, tables of files and gallery from the sources
	$(PY) tools/generate.py
	$(PY) tools/gallery.py

tables: $(VENV)/pyvenv.cfg  ## Write the tables of files in the READMEs of folders
	$(PY) tools/file_tables.py

wheel:  ## Build and try a self-contained wheel into dist/; PYTHON=3.12 or a path chooses the interpreter
	@tools/build_wheel.sh "$(PYTHON)" $(PACKAGES) $(WHEEL_PACKAGES)

asan: $(VENV)/test.stamp  ## Run the native-heavy tests under AddressSanitizer and UBSan
	@tools/run_asan.sh $(BIN) $(if $(ARGS),$(ARGS),tests/ops tests/runtime tests/every_op tests/api tests/codecs tests/readers)

fuzz: build $(VENV)/test.stamp  ## Read broken files, FILES=5000 of each format: with limits on memory and time, then under the sanitizers
	@AVIDA_FUZZ_FILES=$(or $(FILES),5000) $(PYTEST) $(FUZZ_TESTS)
	@AVIDA_FUZZ_FILES=$(or $(FILES),5000) tools/run_asan.sh $(BIN) $(FUZZ_TESTS)

interrupts: build $(VENV)/test.stamp  ## Fire signals at random microseconds into readers, sources, blocks and checkpoints, for SECONDS=3600
	@AVIDA_INTERRUPT_SECONDS=$(or $(SECONDS),3600) $(PY) -m pytest -q tests/runtime/test_interrupts.py

kills: build $(VENV)/test.stamp  ## Kill readers, and workers of Ray Train and torchrun, at random moments and resume them, KILLS=200 times (workers: half as often)
	@AVIDA_KILLS=$(or $(KILLS),200) $(PY) -m pytest -q tests/readers/test_resume.py tests/storage/test_cache.py -k "random_kills or killed_processes"
	@AVIDA_KILLS=$$(( $(or $(KILLS),200) / 2 )) $(PY) -m pytest -q tests/clusters/test_kills.py tests/clusters/test_lightning_on_ray.py

clean:  ## Remove what was built; .venv stays
	rm -rf build dist src/avida/_core.*.so .mypy_cache .pytest_cache .ruff_cache .hypothesis
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

$(VENV)/docs.stamp: $(VENV)/dev.stamp
	@echo "Installing Sphinx into $(VENV)"
	@$(call install,docs)
	@touch $@

$(VENV)/check.stamp: $(VENV)/dev.stamp
	@echo "Installing the linters into $(VENV)"
	@$(call install,check)
	@touch $@

# Servers have an environment of their own: what botocore finds must not change what the tests do.
$(SERVERS)/moto.stamp: pyproject.toml $(VENV)/pyvenv.cfg
	@echo "Installing an S3 server for the tests into $(SERVERS)"
	@test -e $(SERVERS)/bin/python || $(PYTHON) -m venv $(SERVERS)
	@$(PY) tools/requirements.py servers | $(SERVERS)/bin/python -m pip install -qq -r /dev/stdin
	@touch $@

# Not into the environment: without the PyTorch that it is compiled for, nothing but the tests can import it.
$(TORCHVISION)/stamp: pyproject.toml $(VENV)/pyvenv.cfg
	@echo "Installing torchvision into $(TORCHVISION)"
	@$(PY) tools/requirements.py torchvision | $(PY) -m pip install -qq --no-deps --upgrade --target $(TORCHVISION) -r /dev/stdin
	@touch $@

$(SERVERS)/all.stamp: $(SERVERS)/moto.stamp
	@echo "Installing more servers into $(SERVERS), and nginx"
	@$(PY) tools/requirements.py more-servers | $(SERVERS)/bin/python -m pip install -qq -r /dev/stdin
	@npm install --silent --no-audit --no-fund --prefix $(SERVERS) azurite@3
	@tools/install_packages.sh "$(PYTHON)" nginx-light libnginx-mod-http-echo
	@touch $@

$(BUILD)/build.ninja: $(VENV)/pyvenv.cfg | $(VENV)/dev.stamp
	@tools/configure.sh $(BIN) $(BUILD) -DAVIDA_VECTORS=$(or $(VECTORS),native) -DCMAKE_LIBRARY_OUTPUT_DIRECTORY=$(CURDIR)/src/avida
