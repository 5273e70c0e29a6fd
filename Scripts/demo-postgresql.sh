#!/usr/bin/env bash
# Runs the example application (Examples/Inventory) on a PostgreSQL database: starts a private
# server in a temporary folder, has two processes work on one store at the same time, shows the
# tables as any other program sees them, and removes everything.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The newest server that is installed.
server_programs() {
    local folder newest=
    for folder in /usr/lib/postgresql/*/bin; do
        if [ -x "$folder/initdb" ] && [ -x "$folder/psql" ]; then newest=$folder; fi
    done
    if [ -z "$newest" ] && command -v initdb >/dev/null; then newest=$(dirname "$(command -v initdb)"); fi
    if [ -z "$newest" ]; then
        echo 'demo: no PostgreSQL server is installed' >&2
        exit 1
    fi
    printf '%s' "$newest"
}

postgres=$(server_programs)
swift=${SWIFT:-swift}
echo 'demo: building the products inventory and coredata-postgresql'
for product in inventory coredata-postgresql; do "$swift" build --product "$product"; done
programs=$("$swift" build --show-bin-path)
inventory=$programs/inventory
tool=$programs/coredata-postgresql

# The path of a socket is short: not below TMPDIR.
folder=$(mktemp -d /tmp/inventory-pg.XXXXXX)
as_server=()
if [ "$(id -u)" -eq 0 ]; then
    # The server refuses to run as root.
    chown postgres "$folder"
    as_server=(runuser -u postgres --)
fi
in_folder() { (cd "$folder" && "${as_server[@]}" "$@"); }
stop() {
    in_folder "$postgres/pg_ctl" stop -D data -m immediate -s 2>/dev/null || true
    rm -rf "$folder"
}
trap stop EXIT

echo 'demo: starting a private server'
in_folder "$postgres/initdb" -A trust --no-sync -U app -E UTF8 --locale=C.UTF-8 -D data >"$folder/messages" 2>&1 || {
    cat "$folder/messages" >&2
    exit 1
}
in_folder "$postgres/pg_ctl" start -D data -w -s -l log -o "-k $folder -c listen_addresses=''" || {
    cat "$folder/log" >&2
    exit 1
}
in_folder "$postgres/createdb" -h "$folder" -U app shop
store="postgresql:///shop?host=$folder&user=app&ocd.schema=shop"

# Shows words as a person would type them.
typed() {
    local word
    for word in "$@"; do
        case $word in
            *[!A-Za-z0-9_./:,=-]*) printf " '%s'" "$word" ;;
            *) printf ' %s' "$word" ;;
        esac
    done
}

in_store() {
    printf '\n$ inventory%s --store "$store"\n' "$(typed "$@")"
    "$inventory" "$@" --store "$store"
}

printf '\n== An inventory in a database; store=%s\n' "$store"
in_store add 'Hex bolt M6' --cost 0.12 --price 0.35 --stock 500 --supplier 'Nordic Steel' --supplier 'Bolt & Sons'
in_store add 'Torque wrench' --cost 48.50 --price 89.90 --stock 3 --supplier 'Nordic Steel'
in_store list

printf '\n== Two processes sell the same item forty times each\n'
sell() { for _ in $(seq 40); do "$inventory" sell 'Hex bolt' 1 --store "$store" >/dev/null; done; }
sell &
first=$!
sell &
second=$!
wait "$first" "$second"
in_store search 'bolt'
left=$("$inventory" search 'stockCount == 420' --store "$store" | grep -c 'Hex bolt' || true)
if [ "$left" -ne 1 ]; then
    echo 'demo: a sale was lost' >&2
    exit 1
fi

printf '\n== What other programs see\n'
show_sql() {
    printf '\n$ psql -c%s\n' "$(typed "$1")"
    in_folder "$postgres/psql" -h "$folder" -U app -d shop -c "SET search_path TO shop" -c "$1" | tail -n +2
}
show_sql '\d item'
show_sql 'SELECT i.name, i.stock_count, s.name AS supplier FROM item i JOIN item_suppliers j ON j.item_id = i.id JOIN supplier s ON s.id = j.supplier_id ORDER BY 1, 3'
show_sql 'SELECT count(*) AS transactions FROM ocd_transaction'

printf '\n== The command coredata, built with the driver, reads it as it reads files\n'
printf '\n$ coredata-postgresql query "$store" Item --columns objectID,name,stockCount,suppliers\n'
"$tool" query "$store" Item --columns objectID,name,stockCount,suppliers
printf '\ndemo: the server is stopped and its folder removed\n'
