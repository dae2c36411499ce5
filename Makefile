# Targets for people. "make help" lists them; CI runs the same ones (.ci/run).
# Everything works as root or as a plain user; only packages are asked of root.

SHELL   := /bin/bash
GO      ?= go
BIN     := bin
MODULE  := $(shell $(GO) list -m)
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || cat VERSION 2>/dev/null || echo dev)

# The version is stamped here and not from the repository, so that a build also
# works in a checkout that belongs to somebody else.
BUILD    = $(GO) build -trimpath -buildvcs=false
PLUGINS := $(sort $(wildcard plugins/jobs/* plugins/triggers/* plugins/notifiers/*))
MEASURES := $(patsubst %/main.go,%,$(filter-out $(patsubst %/go.mod,%/main.go,$(wildcard bench/*/go.mod)),$(wildcard bench/*/main.go)))
EXAMPLES := $(sort $(patsubst %/go.mod,%,$(wildcard examples/*/go.mod)))

# Packages whose code is mostly about goroutines: CI runs them with the race
# detector, which is too slow for all of them there.
RACE_PACKAGES ?= ./host ./host/internal/engine ./host/internal/executor ./host/internal/dispatch \
	./host/internal/wheel ./host/internal/store/... ./host/internal/pluginhost ./host/internal/alert ./host/internal/api ./host/internal/traces \
	./pluginapi ./pluginapi/wire

FUZZTIME ?= 1m

.DEFAULT_GOAL := help

.PHONY: help
help: ## show this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: build-ax $(PLUGINS) ## build bin/ax and the plugins into bin/plugins/

.PHONY: build-ax
build-ax:
	@$(BUILD) -ldflags "-X main.version=$(VERSION)" -o $(BIN)/ax ./host/cmd/ax

.PHONY: $(PLUGINS)
$(PLUGINS):
	@umask 022 && $(BUILD) -o $(BIN)/plugins/ax-plugin-$(@F) ./$@ # a host refuses what others may write

.PHONY: run
run: build ## build, then start a host with config.example.yaml
	$(BIN)/ax serve --config config.example.yaml

.PHONY: test-deps
test-deps:
	@scripts/test-deps.sh

# The tests from end to end look at the clock: nothing else runs beside them. All
# parts run, also after one that failed.
.PHONY: test
test: test-deps ## install what the tests need, then run them all
	@failed=; \
	part() { (cd "$$1" && shift && "$$@") || failed="$$failed $$1"; }; \
	echo "$(GO) test, all but host/e2e and host/chaos"; part . $(GO) test $$($(GO) list ./... | grep -Ev '/host/(e2e|chaos)$$'); \
	echo "$(GO) test ./host/e2e"; part host/e2e $(GO) test .; \
	echo "$(GO) test ./host/chaos"; part host/chaos $(GO) test .; \
	for dir in $(EXAMPLES); do echo "$(GO) test in $$dir"; part $$dir $(GO) test ./...; done; \
	if [ -n "$$failed" ]; then echo "tests failed in:$$failed" >&2; exit 1; fi

.PHONY: race
race: test-deps ## run all tests with the race detector
	$(GO) test -race ./...

.PHONY: race-core
race-core: test-deps
	$(GO) test -race $(RACE_PACKAGES)

.PHONY: check
check: fmt-check vet tidy-check lint verify race ## all that a change must pass: format, vet, lint, imports, generated files, race tests

.PHONY: fmt-check
fmt-check:
	@files=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); \
	if [ -n "$$files" ]; then echo "not formatted, run gofmt -w on:"; echo "$$files"; exit 1; fi

.PHONY: vet
vet:
	$(GO) vet ./...

.PHONY: tidy-check
tidy-check:
	$(GO) mod tidy -diff

.PHONY: lint
lint: ## run golangci-lint (its first build takes some minutes)
	$(GO) tool -modfile=lint.mod golangci-lint run --allow-parallel-runners ./...

.PHONY: generate
generate: ## make the Go code of the plugin protocol and the tables in docs/ anew
	scripts/protoc.sh pluginapi/proto
	UPDATE=1 $(GO) test -count=1 -run Generated ./docs ./host/internal/ax ./host/internal/metrics

.PHONY: verify
verify: ## check that generated files are fresh
	scripts/verify.sh

.PHONY: bench
bench: ## run the benchmarks, and measure a whole host
	$(GO) test -run '^$$' -bench . -benchmem ./...
	@for dir in $(MEASURES); do echo "$(GO) run ./$$dir" && $(GO) run ./$$dir || exit 1; done

.PHONY: bench-db-limit
bench-db-limit: test-deps ## measure what the database can do at best, and the store beside it
	$(GO) run ./bench/dblimit

.PHONY: bench-throughput
bench-throughput: test-deps ## measure the executions a second of whole hosts beside the limit of their database
	$(GO) run ./bench/throughput

.PHONY: bench-idle
bench-idle: test-deps ## measure what an idle cluster of 12 hosts costs its database
	$(GO) run ./bench/idle

.PHONY: bench-cron
bench-cron: ## compare cron with other libraries, for docs/benchmarks.md
	$(GO) -C bench/cron run . -rounds 21

CHAOS_HOSTS   ?= 5
CHAOS_SECONDS ?= 900
CHAOS_SEED    ?= 0
CHAOS_KEEP    ?= $(BIN)/chaos-failed

.PHONY: chaos
chaos: ## run hosts under faults: CHAOS_HOSTS=5 CHAOS_SECONDS=900 CHAOS_SEED=0 (a new one)
	@$(BUILD) -o $(BIN)/chaos ./host/chaos
	@$(BIN)/chaos -hosts $(CHAOS_HOSTS) -seconds $(CHAOS_SECONDS) -seed $(CHAOS_SEED) -keep $(CHAOS_KEEP)

.PHONY: nightly
nightly: ## kill a host fifty times, compare cron with its reference a million times, and fuzz
	AX_E2E_KILLS=50 $(GO) test -count=1 -timeout 10m -run KilledAtAnyMoment ./host/e2e
	CRON_COMPARISONS=1000000 $(GO) test -count=1 -timeout 3h -run 'Reference|Invented' ./pluginapi/cron
	scripts/fuzz.sh $(FUZZTIME)

.PHONY: clean
clean: ## remove what was built, but not data/
	rm -rf $(BIN)
