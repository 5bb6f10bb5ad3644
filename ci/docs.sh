#!/usr/bin/env bash
# Builds the documentation with every feature on; a broken link or a missing page is an error.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --all-features
