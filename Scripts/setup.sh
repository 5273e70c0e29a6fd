#!/usr/bin/env bash
# Sees to what the build needs besides Swift: the headers of SQLite, zlib and PostgreSQL's client
# library. Installs them on Debian and its relatives, says what to install elsewhere. With
# --swift-only it looks for Swift alone; with --tests also for the server of PostgreSQL, for
# PgBouncer and for strace, without which tests are skipped. With --has-server or --has-pooler it
# installs nothing, and its status tells whether one of these is there.
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
    # Debian keeps PostgreSQL's headers in a folder of their own.
    printf '#if __has_include(<%s>)\n#include <%s>\n#else\n#include <postgresql/%s>\n#endif\n' "$1" "$1" "$1" |
        "$compiler" -fsyntax-only -x c - 2>/dev/null
}

# Whether the server's programs are where the tests look for them.
has_server() {
    local programs
    for programs in "${OPENCOREDATA_POSTGRESQL:-/nowhere}" /usr/lib/postgresql/*/bin; do
        if [ -x "$programs/initdb" ] && [ -x "$programs/postgres" ]; then return 0; fi
    done
    command -v initdb >/dev/null && command -v postgres >/dev/null
}

# Whether PgBouncer is there; Debian puts it where only root's path leads.
has_pooler() { command -v pgbouncer >/dev/null || [ -x /usr/sbin/pgbouncer ]; }

case ${1:-} in
    --has-server) if has_server; then exit 0; else exit 1; fi ;;
    --has-pooler) if has_pooler; then exit 0; else exit 1; fi ;;
esac

missing=()
for header in sqlite3.h zlib.h libpq-fe.h; do
    if ! has_header "$header"; then missing+=("$header"); fi
done
missing_programs=()
if [ "${1:-}" = --tests ]; then
    if ! has_server; then missing_programs+=(server); fi
    if ! has_pooler; then missing_programs+=(pooler); fi
    if ! command -v strace >/dev/null; then missing_programs+=(strace); fi
fi
if [ ${#missing[@]} -eq 0 ] && [ ${#missing_programs[@]} -eq 0 ]; then exit 0; fi

# The packages that hold the missing headers, named as this system names them: packages SQLITE ZLIB
# LIBPQ.
packages() {
    local header
    for header in ${missing[@]+"${missing[@]}"}; do
        case $header in
            sqlite3.h) printf '%s ' "$1" ;;
            zlib.h) printf '%s ' "$2" ;;
            libpq-fe.h) printf '%s ' "$3" ;;
        esac
    done
}

install_headers_with_apt() {
    local names
    read -ra names <<<"$(packages libsqlite3-dev zlib1g-dev libpq-dev)"
    install_with_apt "${names[@]}"
}

# Tests that need them are skipped where they cannot be had, so that is no failure.
install_programs_with_apt() {
    local program
    for program in "${missing_programs[@]}"; do
        case $program in
            server) program=postgresql ;;
            pooler) program=pgbouncer ;;
        esac
        (install_with_apt "$program") || say "$program could not be installed: tests that need it are skipped"
    done
}

install_with_apt() {
    local names=("$@") name update=no
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

install_headers() {
    case $(uname -s) in
        Linux)
            if command -v apt-get >/dev/null; then
                install_headers_with_apt
            elif command -v dnf >/dev/null; then
                fail "run: sudo dnf install $(packages sqlite-devel zlib-devel libpq-devel)"
            elif command -v pacman >/dev/null; then
                fail "run: sudo pacman -S $(packages sqlite zlib postgresql-libs)"
            else
                fail "install the development files of SQLite 3, zlib and libpq (missing: ${missing[*]})"
            fi
            ;;
        Darwin) fail "run: xcode-select --install; if that does not help: brew install $(packages sqlite zlib libpq)" ;;
        MINGW* | MSYS* | CYGWIN*) fail "run: vcpkg install $(packages sqlite3 zlib libpq), and put its include folder in INCLUDE and its lib folder in LIB" ;;
        *) fail "install the development files of SQLite 3, zlib and libpq (missing: ${missing[*]})" ;;
    esac
}

if [ ${#missing[@]} -ne 0 ]; then install_headers; fi
if [ ${#missing_programs[@]} -ne 0 ]; then
    if command -v apt-get >/dev/null; then
        install_programs_with_apt
    else
        say 'tests with PostgreSQL and strace are skipped unless its server, PgBouncer and strace are on the path'
    fi
fi

for header in ${missing[@]+"${missing[@]}"}; do
    has_header "$header" || fail "$header is still missing after the installation"
done
say 'done'
