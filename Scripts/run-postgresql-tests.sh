#!/bin/sh
# Runs tests of stores of PostgreSQL once more, with what has been built: those that run on every
# kind of store behind a pooler; these and the store's own on a newer server than the system's. Says
# which of them is skipped, and why; .build/skipped-runs.txt has that, too.
#
#     Scripts/run-postgresql-tests.sh [OPTIONS OF swift test]
#
# The newer server knows neither ICU nor TLS; tests that need them say that they are skipped.
set -u
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}
skipped=.build/skipped-runs.txt
mkdir -p .build
rm -f "$skipped"

suites=$(Scripts/every-store-suites.sh) || exit 1

# The other kinds are the same in every run.
export OPENCOREDATA_STORE_KINDS=postgreSQL
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH="${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-8}"

skip() { echo "Skipped: $1" | tee -a "$skipped"; }

status=0
if ! Scripts/setup.sh --has-server; then
    skip 'stores of PostgreSQL behind a pooler, for want of a PostgreSQL server.'
elif ! Scripts/setup.sh --has-pooler; then
    skip 'stores of PostgreSQL behind a pooler, for want of PgBouncer.'
else
    echo 'Stores of PostgreSQL behind a pooler:'
    OPENCOREDATA_POOLER=1 "$swift" test --skip-build --parallel "$@" --filter "$suites" || status=1
fi
if programs=$(Scripts/newer-postgresql.sh); then
    echo 'Stores of PostgreSQL on a newer server:'
    OPENCOREDATA_POSTGRESQL=$programs "$swift" test --skip-build --parallel "$@" --filter "^(PostgreSQLTests|SQLTests)\\.|$suites" ||
        status=1
else
    skip 'stores of PostgreSQL on a newer server, which could not be had.'
fi
exit "$status"
