#!/bin/sh
# Builds the stress program with Thread Sanitizer, in a scratch folder of its own, and runs it:
# `make test-deep` does so too.
#
#     Scripts/thread-sanitizer.sh [ROUNDS [SECONDS]]
#
# ROUNDS of reads and writes of a stack, SECONDS of work in a tree of contexts, and a fifth as many
# rounds of saves of many objects, each on a file and in memory.
#
# SCRATCH names the scratch folder (.build/thread-sanitizer by default). A data race ends the
# program with status 66.
set -eu
cd "$(dirname "$0")/.."
rounds=${1:-40}
scratch=${SCRATCH:-.build/thread-sanitizer}
swift=${SWIFT:-swift}

"$swift" build --sanitize=thread -Xswiftc -DTHREAD_SANITIZER --product StackStress --scratch-path "$scratch"
program=$("$swift" build --sanitize=thread -Xswiftc -DTHREAD_SANITIZER --product StackStress --scratch-path "$scratch" --show-bin-path)/StackStress
TSAN_OPTIONS="halt_on_error=1 ${TSAN_OPTIONS:-}" "$program" concurrent "$rounds"
TSAN_OPTIONS="halt_on_error=1 ${TSAN_OPTIONS:-}" "$program" tree "${2:-10}"
TSAN_OPTIONS="halt_on_error=1 ${TSAN_OPTIONS:-}" "$program" large "$((rounds / 5 + 1))"
"$program" blocking
