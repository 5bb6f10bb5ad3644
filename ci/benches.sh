#!/usr/bin/env bash
# Checks that the benches compile. It runs none: times measured on a busy machine say nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo bench --workspace --all-features --no-run
