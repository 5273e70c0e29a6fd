#!/usr/bin/env bash
# Builds the documentation of the modules as a static site in .build/docs/site, with nothing but
# what the toolchain brings. DOCS_BASE_PATH is the path of the site on its host, by default none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

swift=${SWIFT:-swift}
folder=.build/docs
modules=(Predicates CoreData CoreDataPostgreSQL SafeCoreData SafeCoreDataTesting)
base=/${DOCS_BASE_PATH:-}
base=/$(sed 's#^/*##; s#/*$##' <<<"$base")
base=${base%/}

missing() {
    echo "docs: $1" >&2
    exit 1
}
found=$(command -v "$swift") || missing "there is no '$swift'. Set SWIFT to the swift of a toolchain, as in SWIFT=/opt/swift/usr/bin/swift."
toolchain=$(dirname "$(readlink -f "$found")")
docc=$toolchain/docc
[ -x "$docc" ] || missing "the toolchain of $found has no docc ($docc). Take a whole toolchain from swift.org."
[ -d "$toolchain/../share/docc/render" ] || missing "the toolchain of $found lacks docc's pages ($toolchain/../share/docc/render)."

"$swift" build
products=$("$swift" build --show-bin-path)
triple=$("$swift" -print-target-info | sed -n 's/.*"unversionedTriple": "\([^"]*\)".*/\1/p')

rm -rf "$folder"
mkdir -p "$folder/catalogs"
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
    cp -R "Sources/$module/$module.docc" "$folder/catalogs/"
    if [ "$module" = CoreData ]; then
        # Who imports CoreData finds the types of models in it: so does who reads about it.
        extract OpenCoreDataModel CoreData
        sed -i 's/"module":{"name":"OpenCoreDataModel"/"module":{"name":"CoreData"/' "$folder/graphs/CoreData/"*.json
        # The guide lies beside the sources, where its links lead to other files: these are texts on
        # the site, and those to its own headings are as well.
        sed -E 's/\[([^]]*)\]\((\.\.\/)?[A-Za-z]*\.md(#[^)]*)?\)/\1/g; s/\[([^]]*)\]\(#[^)]*\)/\1/g' Documentation/Porting.md \
            > "$folder/catalogs/CoreData.docc/Porting.md"
    fi
    "$docc" convert "$folder/catalogs/$module.docc" --additional-symbol-graph-dir "$folder/graphs/$module" \
        --fallback-display-name "$module" --fallback-bundle-identifier "$module" \
        --output-path "$folder/$module.doccarchive" --analyze --warnings-as-errors > "$folder/$module.log" 2>&1 ||
        { grep -A4 -E '^(warning|error)' "$folder/$module.log"; exit 1; }
    archives+=("$folder/$module.doccarchive")
done
"$docc" merge "${archives[@]}" --synthesized-landing-page-name OpenCoreData --synthesized-landing-page-kind Package \
    --output-path "$folder/OpenCoreData.doccarchive"
"$docc" process-archive transform-for-static-hosting "$folder/OpenCoreData.doccarchive" --output-path "$folder/site" \
    --hosting-base-path "${base:-/}"

# Every page has links to all modules and guides above it; the page at the start leads to the list
# of modules.
links=
for module in "${modules[@]}"; do
    links+="<a href=\"$base/documentation/$(tr '[:upper:]' '[:lower:]' <<<"$module")\">$module</a> "
done
for guide in Porting Command PostgreSQL; do
    links+="<a href=\"$base/documentation/coredata/$(tr '[:upper:]' '[:lower:]' <<<"$guide")\">$guide</a> "
done
style="nav { display: flex; flex-wrap: wrap; gap: 0 1em; padding: 0.6em 1em; font: 14px sans-serif; }"
header="<template id=\"custom-header\"><style>$style</style><nav>$links</nav></template>"
find "$folder/site" -name index.html -exec sed -i "s#<body\([^>]*\)>#<body\1>$header#" {} +
cat > "$folder/site/index.html" <<END
<!doctype html>
<meta charset="utf-8">
<title>OpenCoreData</title>
<meta http-equiv="refresh" content="0; url=$base/documentation/">
<a href="$base/documentation/">OpenCoreData</a>
END
echo "docs: $folder/site/index.html"
