#!/usr/bin/env bash
# Sees to what the build needs besides Swift: the headers of SQLite and zlib. Installs them on Debian and its relatives,
# says what to install elsewhere. With --swift-only it looks for Swift alone.
set -euo pipefail

say() { printf 'setup: %s\n' "$*"; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }

if ! command -v swift >/dev/null; then
    fail 'no swift on the PATH: install Swift 6 (https://www.swift.org/install) and put its bin folder on the PATH'
fi
if [ "${1:-}" = --swift-only ]; then exit 0; fi

# Whether the C compiler finds the header.
has_header() {
    local compiler
    compiler=$(command -v clang || command -v cc) || return 1
    printf '#include <%s>\n' "$1" | "$compiler" -fsyntax-only -x c - 2>/dev/null
}

missing=()
for header in sqlite3.h zlib.h; do
    if ! has_header "$header"; then missing+=("$header"); fi
done
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi

# The packages that hold the missing headers, named as this system names them: packages SQLITE ZLIB.
packages() {
    local header
    for header in "${missing[@]}"; do
        case $header in
            sqlite3.h) printf '%s ' "$1" ;;
            zlib.h) printf '%s ' "$2" ;;
        esac
    done
}

install_with_apt() {
    local names name update=no
    read -ra names <<<"$(packages libsqlite3-dev zlib1g-dev)"
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || fail "as root, run: apt-get install ${names[*]}"
        say "installing ${names[*]} with sudo apt-get"
    else
        say "installing ${names[*]} with apt-get"
    fi
    for name in "${names[@]}"; do
        if ! apt-cache show "$name" >/dev/null 2>&1; then update=yes; fi
    done
    # Package lists may be absent, as in a container, or older than the packages that they name.
    if [ $update = yes ] || ! apt_get install "${names[@]}"; then
        apt_get update
        apt_get install "${names[@]}"
    fi
}

apt_get() {
    if [ "$(id -u)" -eq 0 ]; then
        DEBIAN_FRONTEND=noninteractive apt-get -qq -y "$@"
    else
        sudo DEBIAN_FRONTEND=noninteractive apt-get -qq -y "$@"
    fi
}

case $(uname -s) in
    Linux)
        if command -v apt-get >/dev/null; then
            install_with_apt
        elif command -v dnf >/dev/null; then
            fail "run: sudo dnf install $(packages sqlite-devel zlib-devel)"
        elif command -v pacman >/dev/null; then
            fail "run: sudo pacman -S $(packages sqlite zlib)"
        else
            fail "install the development files of SQLite 3 and zlib (missing: ${missing[*]})"
        fi
        ;;
    Darwin) fail "run: xcode-select --install; if that does not help: brew install $(packages sqlite zlib)" ;;
    MINGW* | MSYS* | CYGWIN*) fail "run: vcpkg install $(packages sqlite3 zlib), and put its include folder in INCLUDE and its lib folder in LIB" ;;
    *) fail "install the development files of SQLite 3 and zlib (missing: ${missing[*]})" ;;
esac

for header in "${missing[@]}"; do
    has_header "$header" || fail "$header is still missing after the installation"
done
say 'done'
