#!/usr/bin/env bash
# Runs the tests: the README's command as written (doc tests and the tidy test are part of it),
# then the same with every feature on.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo test --workspace
cargo test --workspace --all-features
