#!/bin/sh
# Prints a regular expression, for `swift test --filter`, of the suites that run on every kind of
# store, or on several: those whose sources say so. Fails where it finds too few of them, so that no
# run of them is empty.
#
#     swift test --filter "$(Scripts/every-store-suites.sh)"
set -eu
cd "$(dirname "$0")/.."

# The lines of a suite begin with its attributes and end where the next type at the margin begins.
# What a file's other types say counts for all of its suites.
# shellcheck disable=SC2016
suites=$(find Tests/*Tests -name '*.swift' | LC_ALL=C sort | xargs awk '
    function flush(    name) {
        if (file == "") return
        count = 0
        for (name in suites) {
            count++
            if (isMarked || (name in marked)) print module "." name
        }
        if (isMarked && count == 0) print "no suite in " file
        split("", suites)
        split("", marked)
        isMarked = 0
    }
    function mark() {
        if (owner ~ /Tests$/) marked[owner] = 1
        else isMarked = 1
    }
    FNR == 1 {
        flush()
        file = FILENAME
        split(file, folders, "/")
        module = folders[2]
        owner = ""
        isPending = 0
        isAhead = 0
    }
    /^ *\/\// { next }
    /^[^ }]/ {
        if (match($0, /(^| )(struct|class|actor|enum|extension) [A-Z][A-Za-z0-9]*/)) {
            owner = substr($0, RSTART, RLENGTH)
            sub(/.* /, "", owner)
            if (owner ~ /Tests$/) suites[owner] = 1
            if (isPending) mark()
            isAhead = 0
            isPending = 0
        } else if (/^@/) isAhead = 1
    }
    /\.everyStore|\.stores\(|StoreKind\.(allCases|persistent|complete)/ {
        if (isAhead) isPending = 1
        else mark()
    }
    END { flush() }
' | LC_ALL=C sort -u)

if printf '%s\n' "$suites" | grep '^no suite'; then
    echo 'every-store-suites: a file names kinds of stores for suites of other files: say so in these' >&2
    exit 1
fi >&2
if [ "$(printf '%s\n' "$suites" | wc -l)" -lt 30 ]; then
    echo 'every-store-suites: too few suites say that they run on several kinds of stores: what they are found by has changed' >&2
    exit 1
fi
printf '%s\n' "$suites" | awk -F. '
    $1 != module { printf "%s%s\\.(%s", (module == "" ? "^(" : ")|"), $1, $2; module = $1; next }
    { printf "|%s", $2 }
    END { print "))(/|$)" }
'
