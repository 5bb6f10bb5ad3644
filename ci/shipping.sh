#!/usr/bin/env bash
# Builds a small game with and without the feature `commands`, and searches the two programs: with it, the
# names, help and bodies of its commands are there (so that the search can find something at all);
# without it, none of them is, nor is anything of the console's own commands, and nothing warns.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target=${CARGO_TARGET_DIR:-target}
program=$target/debug/examples/shipping
marks='NameOfTheStaticCommand
HELP-OF-THE-STATIC-COMMAND
HELP-OF-THE-PARAMETER
BODY-OF-THE-STATIC-COMMAND
NameOfTheDynamicCommand
HELP-OF-THE-DYNAMIC-COMMAND
BODY-OF-THE-DYNAMIC-COMMAND
Console.Lint
SC.Debug.Ping
Restores a variable'

# Debug information names what is declared, whether it is in the program or not.
export CARGO_PROFILE_DEV_DEBUG=false

cargo build --quiet --example shipping
while IFS= read -r mark; do
    if ! grep --quiet --binary-files=text --fixed-strings "$mark" "$program"; then
        echo "with commands, '$mark' is not in the program: the search proves nothing" >&2
        exit 1
    fi
done <<<"$marks"

for features in "" "print" "easing"; do
    RUSTFLAGS="${RUSTFLAGS:-}" cargo clippy --quiet --example shipping --no-default-features --features "$features" -- -D warnings
done
cargo build --quiet --example shipping --no-default-features
failed=0
while IFS= read -r mark; do
    if grep --quiet --binary-files=text --fixed-strings "$mark" "$program"; then
        echo "without commands, '$mark' is in the program" >&2
        failed=1
    fi
done <<<"$marks"
[ "$failed" -eq 0 ] && echo "without commands, nothing of them is in the program"
exit "$failed"
