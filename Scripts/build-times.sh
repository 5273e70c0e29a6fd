#!/bin/sh
# Measures how long debug builds of the engine take on this machine: from nothing, after a change of
# one function's body, and after a new internal member of NSManagedObject. Works on a copy of what
# is committed. Only a quiet machine gives figures that can be compared.
#
#     Scripts/build-times.sh
set -eu
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git archive HEAD | tar x -C "$copy"
cd "$copy"

# measure NAME
measure() {
    start=$(date +%s)
    "$swift" build --target CoreData >build.log 2>&1 || { cat build.log; exit 1; }
    printf '%-40s %4d s\n' "$1" $(($(date +%s) - start))
}

# edit FILE EXPRESSION: changes a file, and fails where that changes nothing
edit() {
    cp "$1" before.swift
    sed -i "$2" "$1"
    if cmp -s before.swift "$1"; then
        echo "build-times: nothing to change in $1" >&2
        exit 1
    fi
}

measure 'from nothing'
edit Sources/CoreData/Context/Saving/SaveCompletion.swift 's/^        context.takenOverCount += 1$/&; _ = context.takenOverCount/'
measure 'a body in Context/Saving'
edit Sources/CoreData/SQL/Generator/SQLGenerator+Results.swift 's/^        resultColumn = column$/&; _ = resultColumn/'
measure 'a body in SQL'
edit Sources/CoreData/Objects/NSManagedObject.swift 's/^open class NSManagedObject.*{$/&\n    func measured() {}/'
measure 'a new member of NSManagedObject'
