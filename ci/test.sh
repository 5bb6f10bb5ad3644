#!/usr/bin/env bash
# Runs the tests: the README's command as written (doc tests and the tidy test are part of it), then what the console
# promises for programs without commands or without print. Those features are on there, so nothing above runs it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo test --workspace --all-features

console() {
    cargo test --package sc_console --no-default-features "$@"
}
console --test stripped --test print_off --test config
console --features print --test stripped --test print
console --features commands --test print_off --test commands
