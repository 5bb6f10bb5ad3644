#!/usr/bin/env bash
# Checks that the code of every workspace package is formatted the way `cargo fmt` leaves it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo fmt --all -- --check
