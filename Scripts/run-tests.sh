#!/bin/sh
# Runs the tests, in two processes at once, and says once more at the end which of them failed: what several thousand tests print hides it.
#
#     Scripts/run-tests.sh [OPTIONS OF swift build]
#
# Many tests wait, for a server, a lock or another process, and those of one process have no more threads than there are cores.
#
# All output is in .build/test-output-*.txt too.
set -u
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}
output=.build/test-output
mkdir -p .build
rm -f "$output"-*

# Without a limit all tests begin at once, and one that waits for anything goes on only when each of the others has had its turn: with
# files and connections open all that time, and limits of time that run out.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH="${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-5}"

"$swift" build --build-tests "$@" || exit 1

# NAME OPTIONS...: runs some of the tests.
run() {
    name=$1
    shift
    {
        # The other process has the lock of the build, which nobody changes.
        "$swift" test --skip-build --ignore-lock --parallel "$@"
        echo $? >"$output-$name.status"
    } 2>&1 | tee "$output-$name.txt"
}

half='^CoreDataTests\.'
run first "$@" --filter "$half" &
run second "$@" --skip "$half"
wait
status=0
for name in first second; do
    # A process that was ended has left none.
    [ "$(cat "$output-$name.status" 2>/dev/null)" = 0 ] || status=1
done
if [ "$status" -ne 0 ]; then
    echo
    echo 'What failed:'
    grep -hE '✘ .* (recorded an issue|failed after)|error: |Fatal error' "$output"-*.txt | head -n 100
fi
# Once more behind whatever the slower half has printed last.
grep -hE 'Test run with .*(passed|failed)' "$output"-*.txt
exit "$status"
