#!/bin/sh
# Builds and runs the tests, in several processes at once. Says at the end which of them failed, and
# which were the slowest.
#
#     Scripts/run-tests.sh short|whole [OPTIONS OF swift build]
#
# short: each test on stores of SQLite and in memory; those that show what every store must do, and
#        those of the PostgreSQL store, on a server.
# whole: each test on every kind of store.
#
# The tests of one process run one after the other, so that the time of each is its own. Their
# output is in .build/test-output-*.txt. A process that hangs is ended after 30 minutes of the short
# run, and after 120 of the whole one.
set -u
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}
output=.build/test-output
extent=$1
shift
mkdir -p .build
rm -f "$output"-*

# The tests and the programs that they start. `--build-tests` would build everything, and most of it
# twice: what plug-ins run is built for the host apart.
for product in coredata OtherProgram StackStress OpenCoreDataPackageTests; do
    "$swift" build --product "$product" "$@" || exit 1
done
program=$("$swift" build --show-bin-path "$@")/OpenCoreDataPackageTests.xctest || exit 1

# NAME KINDS OPTIONS...: runs some of the tests on some kinds of stores, or on all.
run() {
    name=$1
    kinds=$2
    shift 2
    OPENCOREDATA_STORE_KINDS=$kinds NO_COLOR=1 timeout -k 10 "${minutes}m" \
        "$program" --testing-library swift-testing --no-parallel "$@" >"$output-$name.txt" 2>&1 </dev/null
    status=$?
    if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
        last=$(grep '◇ Test ' "$output-$name.txt" | tail -n 1)
        echo "error: ended after $minutes minutes, while this ran: $last" >>"$output-$name.txt"
    fi
    echo "$status" >"$output-$name.status"
    echo "The tests of $name have ended with status $status: $(grep -h 'Test run with ' "$output-$name.txt")"
}

engine='^CoreDataTests\.'
server='^PostgreSQLTests\.'
programs='^(CoreDataToolTests|PackageTests|SafeCoreDataTests)\.'
# What a store must do, whatever its kind.
conformance='Attribute|Batch(Delete|Insert|Update)|BatchFaulting|BatchedFetch|Constraint|DeleteRule'
conformance="$conformance|EveryStore|Fetch(Result|Scope)|[A-Za-z]*History[A-Za-z]*|Inverse|Merging"
conformance="$conformance|OptimisticLocking|OrderedRelationship|ParentContext|Prefetch|SomeStores|Sorting|SpecialAttribute"
conformance="^CoreDataTests\.($conformance|StoreKind|Undo|UnusualValues)Tests(/|\$)"

if [ "$extent" = short ]; then
    minutes=30
    names='engine others programs server'
    run engine sqlite,inMemory --filter "$engine" &
    run others sqlite,inMemory --skip "$engine|$programs|$server" &
    run programs sqlite,inMemory --filter "$programs" &
    run server postgreSQL --filter "$conformance|$server" &
else
    minutes=120
    names='engine others programs'
    run engine '' --filter "$engine" &
    run others '' --skip "$engine|$programs|$server" &
    run programs '' --filter "$programs|$server" &
fi
wait

status=0
for name in $names; do
    # Without a status its shell was ended.
    [ "$(cat "$output-$name.status" 2>/dev/null)" = 0 ] || status=1
done
echo
echo 'The slowest tests, in seconds:'
sed -nE 's/^. Test (.*) (passed|failed) after ([0-9.]+) seconds.*/\3 \1/p' "$output"-*.txt |
    grep -v ' run with ' | sort -rn | head -n 10
if [ "$status" -ne 0 ]; then
    echo
    echo 'What failed:'
    grep -hE -A 3 '✘ .* (recorded an issue|failed after)|error: |Fatal error' "$output"-*.txt | head -n 200
fi
# The results stand last, whatever else was printed.
grep -hE 'Test run with .*(passed|failed)' "$output"-*.txt
exit "$status"
