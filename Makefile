# From a fresh clone, with Python >= 3.11, a C++ compiler and make: `make demo`, `make test`.

PYTHON ?= python3
VENV := .venv
PEERS := .venv-peers
TORCH := .venv-torch
DEVICE := .venv-device
ORACLE := .venv-oracle
ORACLES_WITH_TORCH := cellpose exacta nnunet torchmetrics
ORACLES := $(ORACLES_WITH_TORCH) panoptic-parts stardist
CORE := .venv-core
COMPILED := build/compiled
BIN := $(VENV)/bin
SOURCES := pyproject.toml CMakeLists.txt $(shell find src -type f -not -name '*.pyc')

.PHONY: browser demo test test-core test-torch test-device compat lint docs images sanitize faults bench bench-ccmetrics oracles scale load study studies notebooks clean

demo: $(VENV)/installed
	$(BIN)/panmatch demo

test: browser $(VENV)/installed $(VENV)/installed-test $(PEERS)/installed-peers
	$(BIN)/python -m pytest -n auto --dist worksteal

# An installation without any extra, as a training loop has it.
test-core: $(CORE)/installed-core
	$(CORE)/bin/python tests/core_only.py

# torch takes gigabytes, so its tests have an environment of their own. A build without CUDA is
# enough, where the package index has one.
test-torch: $(TORCH)/installed-torch
	$(TORCH)/bin/python -m pytest -n auto tests/torch tests/test_docstrings.py tests/test_pages.py -k "torch or training"

# For a machine with a CUDA device: make test-device CUPY=cupy-cuda13x
CUPY ?= cupy-cuda12x
test-device: $(DEVICE)/installed-device
	$(DEVICE)/bin/python -m pytest tests/overlap/test_device.py tests/torch/test_on_device.py tests/torch/test_evaluate.py
	$(DEVICE)/bin/python -m benchmarks.device

# panoptica's own examples and tests with our names in place of its: make compat PANOPTICA=folder
compat: $(VENV)/installed $(VENV)/installed-test
	@test -n "$(PANOPTICA)" || { echo "Name a copy of panoptica's repository: make compat PANOPTICA=folder"; exit 1; }
	$(BIN)/python tests/compat/run_their_tests.py $(PANOPTICA)

# Pages are tested in a real browser; without one those tests are skipped, and say so.
browser:
	@command -v chromium chromium-browser google-chrome > /dev/null || \
		{ apt-get update -qq && apt-get install -y -qq chromium; } > /dev/null 2>&1 || \
		echo "No Chromium, and it cannot be installed from here: tests of pages will be skipped."

# The native loops under the address and undefined-behaviour sanitizers, with GCC.
SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=undefined
SANITIZED := tests/overlap/test_odd_arrays.py tests/overlap/test_counting.py tests/matching \
	tests/labels/test_exact_ties.py tests/labels/test_voronoi.py tests/labels/test_components.py \
	tests/labels/test_distance.py tests/scoring/test_surface_metrics.py
sanitize: $(VENV)/installed $(VENV)/installed-test
	rm -rf build/sanitized
	CXXFLAGS="$(SANITIZERS) -fno-omit-frame-pointer -O1" LDFLAGS="$(SANITIZERS)" \
		$(BIN)/pip install -q --no-deps --target build/sanitized .
	ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD=$$(g++ -print-file-name=libasan.so) \
		PYTHONPATH=build/sanitized $(BIN)/python -m pytest -q -p no:cacheprovider $(SANITIZED)

lint: $(VENV)/installed $(VENV)/installed-test $(VENV)/installed-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Pages that are written from the package, and the site in docs/_build/html.
docs: $(VENV)/installed $(VENV)/installed-docs
	$(BIN)/python -m docs.writers
	rm -rf docs/_build docs/reference/api/generated
	$(BIN)/sphinx-build -q -W --keep-going docs docs/_build/html
	@echo "The site: docs/_build/html/index.html"

# The pictures of the README and the pages, drawn again.
images: browser $(VENV)/installed $(VENV)/installed-test
	$(BIN)/python -m docs.writers.images

faults: browser $(VENV)/installed $(VENV)/installed-test
	$(BIN)/python -m faults

bench: $(VENV)/installed $(VENV)/installed-test $(PEERS)/installed-peers
	$(BIN)/python -m benchmarks

bench-ccmetrics: .venv-ccmetrics/installed-ccmetrics bench

# Other people's programs on our scenes, each in its own environment: writes tests/data/protocols.
# Two challenges have no package; name the files of their authors to write those numbers as well:
# make oracles AUTOPET=val_script.py ISLES=eval_utils.py
ORACLE_SCRIPTS := tests.peers.protocols.run
oracles: $(ORACLES:%=$(ORACLE)-%/installed) .venv-ccmetrics/installed-ccmetrics $(PEERS)/installed-peers
	$(ORACLE)-cellpose/bin/python -m $(ORACLE_SCRIPTS)_cellpose
	$(ORACLE)-exacta/bin/python -m $(ORACLE_SCRIPTS)_exacta
	$(ORACLE)-nnunet/bin/python -m $(ORACLE_SCRIPTS)_nnunet
	$(ORACLE)-panoptic-parts/bin/python -m $(ORACLE_SCRIPTS)_panoptic_parts
	$(ORACLE)-stardist/bin/python -m $(ORACLE_SCRIPTS)_stardist
	$(ORACLE)-torchmetrics/bin/python -m $(ORACLE_SCRIPTS)_torchmetrics
	.venv-ccmetrics/bin/python -m $(ORACLE_SCRIPTS)_ccmetrics
	$(PEERS)/bin/python -m $(ORACLE_SCRIPTS)_cityscapes
	$(PEERS)/bin/python -m $(ORACLE_SCRIPTS)_panoptica_default
	$(if $(AUTOPET),$(PEERS)/bin/python -m $(ORACLE_SCRIPTS)_autopet $(AUTOPET))
	$(if $(ISLES),$(PEERS)/bin/python -m $(ORACLE_SCRIPTS)_isles $(ISLES))

scale: $(VENV)/installed $(VENV)/installed-test
	$(BIN)/python -m benchmarks.scale

load: browser $(VENV)/installed $(VENV)/installed-test
	$(BIN)/python -m benchmarks.load

study: $(VENV)/installed
	$(BIN)/python -m benchmarks.optimality

studies: $(VENV)/installed
	$(BIN)/python -m studies

notebooks: $(VENV)/installed $(VENV)/installed-test
	$(BIN)/python notebooks/run.py

clean:
	rm -rf $(VENV) $(PEERS) $(TORCH) $(DEVICE) $(CORE) $(ORACLE)-* .venv-ccmetrics build docs/_build

%/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "panmatch needs Python >= 3.11; name one with: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $*
	$*/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	touch $@

# One compilation for all environments. A wheel replaces one of the same version only when forced.
$(COMPILED)/done: $(VENV)/created $(SOURCES)
	rm -rf $(COMPILED)
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir $(COMPILED) .
	touch $@

comma := ,
define install_compiled
$(1)/bin/python -m pip install --quiet --no-deps --force-reinstall $(COMPILED)/*.whl
$(1)/bin/python -m pip install --quiet "$$(echo $(COMPILED)/*.whl)$(2)" $(3)
endef

$(VENV)/installed: $(VENV)/created $(COMPILED)/done
	$(call install_compiled,$(VENV),[all])
	touch $@

$(VENV)/installed-%: $(VENV)/created pyproject.toml
	$(BIN)/python -m pip install --quiet --group $*
	touch $@

$(PEERS)/installed-peers: $(PEERS)/created pyproject.toml
	$(PEERS)/bin/python -m pip install --quiet --group peers
	touch $@

.venv-ccmetrics/installed-ccmetrics: .venv-ccmetrics/created pyproject.toml
	.venv-ccmetrics/bin/python -m pip install --quiet --group ccmetrics
	touch $@

$(ORACLES:%=$(ORACLE)-%/installed): $(ORACLE)-%/installed: $(ORACLE)-%/created pyproject.toml
	$(if $(filter $*,$(ORACLES_WITH_TORCH)),$(ORACLE)-$*/bin/python -m pip install --quiet "torch==2.13.0+cpu" 2> /dev/null || true)
	$(ORACLE)-$*/bin/python -m pip install --quiet --group oracle-$*
	touch $@

$(CORE)/installed-core: $(CORE)/created $(COMPILED)/done
	$(call install_compiled,$(CORE))
	touch $@

$(TORCH)/installed-torch: $(TORCH)/created $(COMPILED)/done
	$(TORCH)/bin/python -m pip install --quiet "torch==2.13.0+cpu" 2> /dev/null || true
	$(call install_compiled,$(TORCH),[cli$(comma)torch],pytest pytest-xdist hypothesis)
	touch $@

$(DEVICE)/installed-device: $(DEVICE)/created $(COMPILED)/done
	$(call install_compiled,$(DEVICE),[cli$(comma)torch],$(CUPY) pytest hypothesis)
	touch $@
