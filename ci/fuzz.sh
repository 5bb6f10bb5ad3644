#!/usr/bin/env bash
# Runs every fuzz target of fuzz/ for a short time, from its seeds. What it finds on the way is kept
# only if it is a failure: in fuzz/artifacts/, with the command that plays it again.
#
# Without more it plays the same cases each time: a change of the code that is checked makes it fail,
# not chance. To look for new faults, give it time and a seed of its own:
#
#   FUZZ_SECONDS=600 bash ci/fuzz.sh      as long for each target
#
# It needs a nightly toolchain and cargo-fuzz. Without the first it says so and ends well; the second
# it installs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${FUZZ_SECONDS:-}
if [ -z "$seconds" ]; then
    limit=(-runs=4000 -seed=1)
elif [[ $seconds =~ ^[1-9][0-9]*$ ]]; then
    limit=(-max_total_time="$seconds")
else
    echo "FUZZ_SECONDS is '$seconds': give a whole number of seconds, at least 1" >&2
    exit 1
fi

if ! cargo +nightly --version >/dev/null 2>&1; then
    echo "SKIPPED, nothing was fuzzed: there is no nightly toolchain (rustup toolchain install nightly)" >&2
    exit 0
fi
if ! cargo +nightly fuzz --version >/dev/null 2>&1; then
    cargo install --locked cargo-fuzz
fi

# The package is a workspace of its own: no other step looks at it.
cargo fmt --manifest-path fuzz/Cargo.toml -- --check
cargo clippy --locked --manifest-path fuzz/Cargo.toml -- -D warnings

targets=$(cargo +nightly fuzz list)
if [ -z "$targets" ]; then
    echo "there is no fuzz target" >&2
    exit 1
fi

corpus=$(mktemp -d)
trap 'rm -rf "$corpus"' EXIT
for target in $targets; do
    printf -- '-- %s, %s\n' "$target" "${limit[*]}"
    if ! compgen -G "fuzz/seeds/$target/*" >/dev/null; then
        echo "fuzz/seeds/$target/ is empty or missing: add a small seed by hand" >&2
        exit 1
    fi
    mkdir "$corpus/$target"
    cargo +nightly fuzz run "$target" "$corpus/$target" "fuzz/seeds/$target" -- \
        "${limit[@]}" -max_len=1024 -timeout=10 -verbosity=0 -print_final_stats=1
done
