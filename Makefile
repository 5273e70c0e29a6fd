# Every target sets up what it needs by itself: `make demo` and `make test` work on a fresh machine
# with Swift 6.

.PHONY: help setup setup-tests demo demo-postgresql example test test-deep bench docs lint format

SWIFT ?= swift
SOURCES := $(wildcard Sources Tests Examples Plugins Benchmarks Package.swift)

help:
	@echo 'make demo       build the example application and run it'
	@echo 'make demo-postgresql  run it on a private PostgreSQL server, from two processes at once'
	@echo 'make example    build and run the package whose classes are made of its model'
	@echo 'make test       run the tests (debug), on a server a part of them'
	@echo 'make test-deep  run all tests, also the long ones, optimized and with Thread Sanitizer'
	@echo 'make bench      run the benchmarks (release)'
	@echo 'make docs       build the documentation as a static site in .build/docs/site'
	@echo 'make lint       check the format of all sources'
	@echo 'make format     format all sources'
	@echo 'make setup      install the system libraries that are missing'
	@echo 'make setup-tests  install also the database server that tests use'

setup:
	@Scripts/setup.sh

setup-tests:
	@Scripts/setup.sh --tests

demo: setup
	@Scripts/demo.sh

demo-postgresql: setup-tests
	@Scripts/demo-postgresql.sh

# A package of its own: it builds the engine for itself, so it is not part of the demo.
# A build looks for new files of a dependency only when the manifest has been touched.
example: setup
	@touch Examples/GeneratedModel/Package.swift
	$(SWIFT) run --package-path Examples/GeneratedModel

test: setup-tests
	SWIFT=$(SWIFT) Scripts/run-tests.sh short

# The long tests take several times as long without optimization; with assertions they check what a
# debug build checks. What is released has no assertions: that is tested too, without the long
# tests, and its PostgreSQL store behind a pooler, and on a newer server than the system's where
# these can be had.
# Under Thread Sanitizer trees of contexts are worked on for ten minutes, five on a file and five in
# memory. At last the demonstration on a server and the documentation's site are made, which no test
# does.
test-deep: export OPENCOREDATA_UNOPTIMIZED_TESTS = 1
test-deep: setup-tests example
	OPENCOREDATA_DEEP_TESTS=1 SWIFT=$(SWIFT) Scripts/run-tests.sh whole -c release -Xswiftc -enable-testing \
		-Xswiftc -assert-config -Xswiftc Debug \
		--scratch-path .build/assertions
	SWIFT=$(SWIFT) Scripts/run-tests.sh whole -c release -Xswiftc -enable-testing
	SWIFT=$(SWIFT) Scripts/run-postgresql-tests.sh -c release -Xswiftc -enable-testing
	SWIFT=$(SWIFT) Scripts/thread-sanitizer.sh 300 300
	@if Scripts/setup.sh --has-server; then SWIFT=$(SWIFT) Scripts/demo-postgresql.sh; fi
	SWIFT=$(SWIFT) Scripts/docs.sh
	@if [ -e .build/skipped-runs.txt ]; then cat .build/skipped-runs.txt; fi

bench: setup-tests
	$(SWIFT) run -c release Benchmarks

docs: setup
	SWIFT=$(SWIFT) Scripts/docs.sh

lint:
	@Scripts/setup.sh --swift-only
	$(SWIFT) format lint --strict --recursive $(SOURCES)

format:
	@Scripts/setup.sh --swift-only
	$(SWIFT) format --in-place --recursive $(SOURCES)
