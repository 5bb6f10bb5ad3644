#!/usr/bin/env bash
# Builds a small game with and without the feature `commands`, as it is shipped (release), and searches the
# two programs: with it, the names, help and bodies of its commands are there (so that the search can
# find something at all); without it, none of them is, nor is anything of the console's own commands. And
# its code compiles without a warning in all four combinations of `commands` and `print`.
#
# The game is a package of its own for this: what only our tests and benches need is not built.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

marks='NameOfTheStaticCommand
HELP-OF-THE-STATIC-COMMAND
HELP-OF-THE-PARAMETER
BODY-OF-THE-STATIC-COMMAND
NameOfTheDynamicCommand
HELP-OF-THE-DYNAMIC-COMMAND
BODY-OF-THE-DYNAMIC-COMMAND
NameOfTheForwardedCommand
BODY-OF-THE-REGISTRY
NameMadeAtRunTime
HELP-OF-THE-MADE-COMMAND
HELP-OF-THE-MADE-PARAMETER
BODY-OF-THE-MADE-COMMAND
Console.Lint
SC.Debug.Ping
SC.World.List
Restores a variable'

for features in "" "print" "commands" "commands,print"; do
    cargo clippy --quiet --example shipping --no-default-features --features "$features" -- -D warnings
done

package=$(mktemp -d)
trap 'rm -rf "$package"' EXIT
cp Cargo.lock "$package"
cat >"$package/Cargo.toml" <<TOML
[package]
name = "shipping"
edition = "2024"
[[bin]]
name = "shipping"
path = "$PWD/examples/shipping.rs"
[features]
commands = ["stillcooking/commands"]
print = ["stillcooking/print"]
[dependencies]
stillcooking = { path = "$PWD", default-features = false }
[workspace]
TOML
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")/shipping

# Builds the game with some features; says which of the marks are in it.
found() {
    cargo build --quiet --release --manifest-path "$package/Cargo.toml" --target-dir "$target" --features "$1"
    while IFS= read -r mark; do
        if grep --quiet --binary-files=text --fixed-strings "$mark" "$target/release/shipping"; then
            echo "$mark"
        fi
    done <<<"$marks"
}

with=$(found "commands,print")
if [ "$with" != "$marks" ]; then
    echo "with commands, some of these are not in the program: the search proves nothing" >&2
    diff <(echo "$marks") <(echo "$with") >&2 || true
    exit 1
fi
for features in "" "print"; do
    left=$(found "$features")
    if [ -n "$left" ]; then
        printf 'without commands (features "%s"), this is in the program:\n%s\n' "$features" "$left" >&2
        exit 1
    fi
done
echo "without commands, nothing of them is in the program"
