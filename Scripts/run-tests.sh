#!/bin/sh
# Runs the tests, and says once more at the end which of them failed: what several thousand tests print hides it.
#
#     Scripts/run-tests.sh [OPTIONS OF swift test]
#
# All output is in .build/test-output.txt too.
set -u
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}
output=.build/test-output.txt
mkdir -p .build

# Without a limit all tests begin at once, and one that waits for anything goes on only when each of the others has had its turn: with
# files and connections open all that time, and limits of time that run out.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH="${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-8}"

{
    "$swift" test --parallel "$@"
    echo $? >"$output.status"
} 2>&1 | tee "$output"
status=$(cat "$output.status")
rm -f "$output.status"
if [ "$status" -ne 0 ]; then
    echo
    echo 'What failed:'
    # A build that failed says so itself.
    grep -E '✘ .* (recorded an issue|failed after)|error: |Fatal error' "$output" | head -n 100
fi
exit "$status"
