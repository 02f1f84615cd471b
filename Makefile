# Two commands: `make demo` renders a frame and shows its plan, `make test` runs everything that must hold.
# They need a Rust toolchain and Python 3.11 or later; the rest is installed into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Always into .venv, whatever environment is active.
MATURIN := env -u CONDA_PREFIX VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin
SECONDS_OF_FUZZ ?= 60
# Of the Python tests. Drivers without a GPU have threads of their own.
PROCESSES ?= 2
SEED ?= 1
FEATURES := vulkan wgsl glsl files png parallel reports
FUZZ_TARGETS ?= frame calls graph_file plan_file heap shader
NOT_PLANNER := /rgraph-(check|files|ir|report)/|/rgraph-plan/(tests|src/heap)|/fuzz/
# Optimised, with every overflow check and debug assertion on.
PROFILE ?= checked

# Tests run on lavapipe under the validation layer where both are or can be had, and then must find it; elsewhere they
# skip what needs a device, and say why.
UNDER_LAYERS = if scripts/driver.sh; then exec scripts/with-layers A $(1); else exec $(1); fi

.PHONY: demo test rust python build lint lint-rust lint-python features test-rust test-frames test-python test-matrix driver fuzz fuzz-targets fuzz-coverage bench soak mutants plan-mutants proof proof-short errors docs pictures sheets package wheels clean

# Without a device, and where none can be had, only what needs none: the plan.
demo: $(VENV)/.ready
	$(MATURIN) develop --quiet --release
	@$(BIN)/rgraph doctor >/dev/null 2>&1; [ $$? -ne 3 ] || scripts/driver.sh || true
	@$(BIN)/rgraph demo deferred --report -o out/frame.png || [ $$? -eq 3 ]

test: rust python

rust: lint-rust test-rust test-frames

python: build lint-python test-python

# With the features that the Rust tests have already built its crates with.
build: $(VENV)/.ready
	$(MATURIN) develop --quiet --profile $(PROFILE) --features beside-tests

lint: lint-rust build lint-python

# In the profile of the module, whose build then has glslang and the validator already.
lint-rust: .rust-tools
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet --profile $(PROFILE) -- -D warnings
	cargo clippy --package rgraph-vulkan --no-default-features --locked --quiet --profile $(PROFILE) -- -D warnings
	cargo clippy --package rgraph-work --no-default-features --locked --quiet --profile $(PROFILE) -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --locked --quiet --profile $(PROFILE)

# The crate for applications with none of its features and with each one alone. Every set builds the validator again:
# four minutes of CPU time.
features: .rust-tools
	set -e; for feature in "" $(FEATURES); do \
		cargo clippy --package rgraph-vulkan --no-default-features --features "$$feature" --locked --quiet \
			--profile $(PROFILE) -- -D warnings; done

lint-python:
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest rgraph --mypy-config-file pyproject.toml --allowlist tests/stub_allowlist.txt

# One command for all crates: cargo chooses the features of what they share by the crates that are named, and would
# build it again for others.
RUNNER := --config 'target."cfg(all())".runner="scripts/one-test-program"'
TEST_RUST := cargo test --workspace --locked --profile $(PROFILE) $(RUNNER)

test-rust:
	$(call UNDER_LAYERS,$(TEST_RUST))

# Two thousand generated graphs whose passes are shaders, twice five frames each, against a serial evaluation.
test-frames:
	if scripts/driver.sh; then RGRAPH_HASH_GRAPHS=2000 $(TEST_RUST) --test all hash_frames::; fi

test-python: build
	if scripts/browser.sh; then export RGRAPH_REQUIRE_BROWSER=1; fi; $(call UNDER_LAYERS,$(BIN)/python -m pytest --numprocesses $(PROCESSES) --dist worksteal)

# Tests that run plans, on the other drivers and layers: see scripts/with-layers.
test-matrix: build
	for name in winit wgpu vulkano; do cargo check --manifest-path examples/$$name/Cargo.toml --locked || exit 1; done
	scripts/driver.sh && scripts/swiftshader.sh
	scripts/with-layers B cargo test --package rgraph-vk --locked --profile $(PROFILE) $(RUNNER)
	scripts/with-layers C cargo test --package rgraph-vk --locked --profile $(PROFILE) $(RUNNER)
	scripts/with-layers C $(BIN)/python -m pytest

# A Vulkan driver that needs no GPU, and the validation layer.
driver:
	scripts/driver.sh

# One hundred thousand frames, three under way at once, of one graph and on four threads: nothing may grow.
soak:
	RGRAPH_SOAK_FRAMES=100000 cargo test --package rgraph-vk --locked --test all compute::nothing_grows
	RGRAPH_SOAK_FRAMES=100000 cargo test --package rgraph-vk --locked --test soak

# A hundred thousand mutants of plan files of graphs that run: each is refused, or computes what its graph says.
plan-mutants:
	RGRAPH_PLAN_MUTANTS=100000 cargo test --package rgraph-vk --locked --test all plan_mutants:: -- --nocapture

# Mutants of the planner's stages, all in one build, which the tests of planner and checker should notice. Hours.
mutants:
	cargo run --release --locked --manifest-path fuzz/mutants/Cargo.toml -- all

# Every campaign, or the short form of those that have one: goal beside reached (docs/reliability.md).
proof:
	scripts/driver.sh && scripts/swiftshader.sh
	$(PYTHON) scripts/proof.py --write

proof-short:
	scripts/driver.sh
	$(PYTHON) scripts/proof.py --short

# Writes what the examples of the page of error codes say into it.
errors: build
	$(BIN)/python tests/error_page.py

# The manual, in out/docs; a warning is an error.
docs: build
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs out/docs
	@echo out/docs/index.html

# The pictures of README and manual, made by what they show.
pictures: build
	scripts/browser.sh
	$(call UNDER_LAYERS,$(BIN)/python scripts/pictures.py)

# Contact sheets of the viewer, in out/sheets.
sheets: build
	scripts/browser.sh
	$(call UNDER_LAYERS,$(BIN)/python scripts/viewer_sheets.py)

# Each feature alone, then wheel and source archive, each installed into a fresh environment outside of the tree, and
# the demo run from the wheel.
package: $(VENV)/.ready features
	scripts/package.sh $(BIN)/maturin

# The wheel that is published, for glibc 2.17 and later, with its symbols and its size checked. Minutes.
wheels: $(VENV)/.ready
	$(BIN)/pip install --quiet 'maturin[zig]' zopflipy
	PATH="$(abspath $(BIN)):$$PATH" scripts/wheels.sh

fuzz: build
	@mkdir -p out
	$(BIN)/rgraph fuzz --seconds $(SECONDS_OF_FUZZ) --seed $(SEED) -o out

# Coverage-guided fuzzing, SECONDS_OF_FUZZ per target. Needs a nightly toolchain and cargo-fuzz. What crashes is kept in
# fuzz/artifacts; put it into fuzz/regressions/TARGET, where the tests replay it.
fuzz-targets:
	@set -e; for target in $(FUZZ_TARGETS); do mkdir -p fuzz/corpus/$$target; \
		cargo +nightly fuzz run $$target fuzz/corpus/$$target fuzz/corpus-seeds/$$target -- \
		-max_total_time=$(SECONDS_OF_FUZZ) -max_len=4096 -print_final_stats=1; done

# Lines of the planner that its tests, the generated graphs and the corpora reach. Needs cargo-llvm-cov.
fuzz-coverage:
	cargo llvm-cov --package rgraph-plan --package rgraph-check --locked --show-missing-lines \
		--ignore-filename-regex '$(NOT_PLANNER)' --fail-under-lines 92

bench: $(VENV)/.ready
	cargo bench --workspace
	cd benches/frames && cargo run --release --locked
	$(MATURIN) develop --quiet --release
	$(BIN)/python benches/declare.py
	$(BIN)/python benches/chains.py
	$(BIN)/python benches/transfers.py
	$(BIN)/python benches/size.py
	$(BIN)/pip install --quiet $$($(BIN)/python -c '$(BENCHED)')
	$(BIN)/python benches/beside --write

clean:
	rm -rf $(VENV) .vulkan out
	cargo clean

# Libraries that the benches measure beside rgraph, as pyproject.toml pins them.
BENCHED = import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["bench"])

# What the package and its tests are pinned to in pyproject.toml, without the package itself.
REQUIREMENTS = import tomllib; extras = tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]; \
	print(*(line for name in ("dev", "test", "docs") for line in extras[name] if not line.startswith("rgraph")))

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "rgraph needs Python 3.11 or later")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $$($(BIN)/python -c '$(REQUIREMENTS)')
	@touch $@

# rustfmt and clippy are components that a minimal toolchain lacks.
.PHONY: .rust-tools
.rust-tools:
	@cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt
	@cargo clippy --version >/dev/null 2>&1 || rustup component add clippy
