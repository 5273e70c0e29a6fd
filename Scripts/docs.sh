#!/usr/bin/env bash
# Builds the documentation of the modules as a static site in .build/docs/site, with nothing but what the toolchain brings.
# DOCS_BASE_PATH is the path of the site on its host, by default none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

swift=${SWIFT:-swift}
folder=.build/docs
modules=(Predicates CoreData CoreDataPostgreSQL SafeCoreData SafeCoreDataTesting)

"$swift" build
products=$("$swift" build --show-bin-path)
triple=$("$swift" -print-target-info | sed -n 's/.*"unversionedTriple": "\([^"]*\)".*/\1/p')
docc=$(dirname "$(readlink -f "$(command -v "$swift")")")/docc

rm -rf "$folder"
archives=()
# The symbols of a module, into the folder of the one that they are documented in.
extract() {
    # The type of stores that the driver adds is a member of a type of CoreData.
    local extensions=-omit-extension-block-symbols
    if [ "$1" = CoreDataPostgreSQL ]; then extensions=-emit-extension-block-symbols; fi
    "$swift" symbolgraph-extract -module-name "$1" -target "$triple" -minimum-access-level public "$extensions" \
        -I "$products/Modules" -I Sources/CPostgreSQL -I Sources/CSQLite -I Sources/CZlib -I Sources/CSwiftRuntime \
        -output-dir "$folder/graphs/$2"
}
for module in "${modules[@]}"; do
    mkdir -p "$folder/graphs/$module"
    extract "$module" "$module"
    if [ "$module" = CoreData ]; then
        # Who imports CoreData finds the types of models in it: so does who reads about it.
        extract OpenCoreDataModel CoreData
        sed -i 's/"module":{"name":"OpenCoreDataModel"/"module":{"name":"CoreData"/' "$folder/graphs/CoreData/"*.json
    fi
    "$docc" convert "Sources/$module/$module.docc" --additional-symbol-graph-dir "$folder/graphs/$module" \
        --fallback-display-name "$module" --fallback-bundle-identifier "$module" \
        --output-path "$folder/$module.doccarchive" --analyze --warnings-as-errors > "$folder/$module.log" 2>&1 ||
        { grep -A4 -E '^(warning|error)' "$folder/$module.log"; exit 1; }
    archives+=("$folder/$module.doccarchive")
done
"$docc" merge "${archives[@]}" --synthesized-landing-page-name OpenCoreData --synthesized-landing-page-kind Package \
    --output-path "$folder/OpenCoreData.doccarchive"
"$docc" process-archive transform-for-static-hosting "$folder/OpenCoreData.doccarchive" --output-path "$folder/site" \
    --hosting-base-path "${DOCS_BASE_PATH:-/}"
echo "docs: $folder/site/index.html"
