#!/usr/bin/env bash
# Checks that the benches compile and link, unoptimized, with what the tests were built with. It runs none: times
# measured on a busy machine say nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo test --workspace --all-features --benches --no-run
