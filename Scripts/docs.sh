#!/usr/bin/env bash
# Builds the documentation of the modules as a static site in .build/docs/site, with nothing but what the toolchain brings.
# DOCS_BASE_PATH is the path of the site on its host, by default none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

swift=${SWIFT:-swift}
folder=.build/docs
modules=(Predicates CoreData SafeCoreData)

"$swift" build
products=$("$swift" build --show-bin-path)
triple=$("$swift" -print-target-info | sed -n 's/.*"unversionedTriple": "\([^"]*\)".*/\1/p')
docc=$(dirname "$(readlink -f "$(command -v "$swift")")")/docc

rm -rf "$folder"
archives=()
for module in "${modules[@]}"; do
    mkdir -p "$folder/graphs/$module"
    "$swift" symbolgraph-extract -module-name "$module" -target "$triple" -minimum-access-level public \
        -I "$products/Modules" -I Sources/CSQLite -I Sources/CZlib -I Sources/CSwiftRuntime -output-dir "$folder/graphs/$module"
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
