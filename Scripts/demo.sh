#!/usr/bin/env bash
# Builds the example application (Examples/Inventory) and the coredata command, and shows both at
# work on a new store.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

swift=${SWIFT:-swift}
echo 'demo: building the products inventory and coredata'
for product in inventory coredata; do "$swift" build --product "$product"; done
programs=$("$swift" build --show-bin-path)

folder=$(mktemp -d "${TMPDIR:-/tmp}/inventory-demo.XXXXXX")
store=$folder/Inventory.sqlite

# Shows a command line as a person would type it, then runs it.
show() {
    local word line=
    for word in "$@"; do
        case $word in
            *[!A-Za-z0-9_./:,=-]*) line+=" '${word//\'/\'\\\'\'}'" ;;
            *) line+=" $word" ;;
        esac
    done
    printf '\n$%s\n' "$line"
    PATH="$programs:$PATH" "$@"
}

# The same for a command that has to fail.
show_refused() {
    if show "$@" 2>&1; then
        echo "demo: '$*' should have been refused" >&2
        exit 1
    fi
}

in_store() { show inventory "$@" --store "$store"; }

printf '\n== An inventory in a new store\n'
in_store add 'Hex bolt M6' --cost 0.12 --price 0.35 --stock 500 --supplier 'Nordic Steel' --supplier 'Bolt & Sons'
in_store add 'Wood screw 4x40' --cost 0.04 --price 0.11 --stock 1200 --supplier 'Bolt & Sons'
in_store add 'Torque wrench' --cost 48.50 --price 89.90 --stock 3 --supplier 'Nordic Steel'
in_store add 'Safety goggles' --cost 2.75 --price 6.40 --stock 25
in_store list

printf '\n== Selling, restocking, searching\n'
in_store sell 'hex bolt' 120
in_store restock 'Safety goggles' 15
in_store search 'stockCount < 100 AND unitPrice > 5'
in_store search 'bolt & sons'

printf '\n== Selling more than there is\n'
show_refused inventory sell 'Torque wrench' 10 --store "$store"

printf '\n== Deleting, and what the life-cycle hooks saw\n'
in_store delete 'Wood screw'
in_store history

printf '\n== The file is an ordinary Core Data store: coredata reads it without the model file\n'
show coredata info "$store"
show coredata query "$store" Item --sort name --columns objectID,name,stockCount,unitPrice,suppliers
show coredata query "$store" Supplier --where 'ANY items.unitPrice > 50' --format json
show_refused coredata query "$store" Item --where 'stokCount > 5'

printf '\n== The same store for people without a terminal\n'
show coredata diagram "$store" --output "$folder/diagram.svg"
show coredata report "$store" --output "$folder/report.html"

printf '\ndemo: the store is %s\n' "$store"
printf 'demo: its diagram is %s\n' "$folder/diagram.svg"
printf 'demo: the report is %s\n' "$folder/report.html"
