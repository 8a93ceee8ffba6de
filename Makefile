# The front door. Each target installs what it needs and builds first; CMake,
# Ninja and ccache do the work behind it (CMakePresets.json).
.DEFAULT_GOAL := help
.PHONY: help run test test-full sdk bench format lint clean
SHELL := /bin/bash
install := scripts/install-dependencies.sh

help: ## This list
	@sed -nE 's/^([a-z-]+):.*## (.*)/make \1|\2/p' Makefile | \
	  while IFS='|' read -r target text; do \
	    printf '  %-16s %s\n' "$$target" "$$text"; done

run: ## Train the pipelined MNIST network and show what it would cost on IPUs
	@$(install) build run
	@scripts/sdk.sh
	@scripts/with-sdk.sh python3 examples/poptorch/datasets.py --probe || \
	  $(install) digits
	@scripts/with-sdk.sh python3 examples/poptorch/mnist_pipeline.py \
	  --profile --profile-dir build/mnist_pipeline

test: ## The tests that belong to every change, with a summary
	@$(install) build run digits test pypi
	@scripts/install-wheels.sh
	@scripts/test.py

test-full: ## Also optimised unit tests, the thread sanitizer, many random programs
	@$(install) build run digits test pypi
	@scripts/install-wheels.sh
	@scripts/test.py --full

sdk: ## Build build/sdk; then: source build/sdk/enable.sh
	@$(install) build run
	@scripts/sdk.sh
	@echo "To use it: source build/sdk/enable.sh"

bench: ## Aspen, PyTorch and other peers side by side, as ratios and a chart
	@$(install) build run bench
	@scripts/sdk.sh
	@scripts/with-sdk.sh python3 benchmarks/run.py

format: ## Format every C++ file
	@$(install) lint
	@scripts/format.sh

lint: ## Format and layer checks, and clang-tidy over every C++ file
	@$(install) build lint
	@scripts/lint.sh

clean: ## Remove everything that was built
	@rm -rf build
