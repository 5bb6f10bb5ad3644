#!/usr/bin/env bash
# Checks the library of every workspace package with no features, with its default ones, with each
# feature alone, and with all of them. Names come from `cargo metadata`, so no list can go stale.
# Clippy does the checking, because it can make warnings errors without rebuilding dependencies.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

metadata=$(cargo metadata --format-version 1 --no-deps)

# A package begins with its name, version and id, in this order; "features" followed by a brace is
# the package's own table (a dependency's features are a list). Values hold no braces.
rows=$(grep -oE '\{"name":"[^"]+","version":"[^"]+","id":|"features":\{[^}]*\}' <<<"$metadata")

members=$(grep -oE '"workspace_members":\[[^]]*\]' <<<"$metadata" | grep -oE '"[^"]+#[^"]+"' | wc -l)
named=$(grep -c '^{"name"' <<<"$rows" || true)
tables=$(grep -c '^"features"' <<<"$rows" || true)
if [ "$members" -eq 0 ] || [ "$members" -ne "$named" ] || [ "$members" -ne "$tables" ]; then
    echo "cannot read cargo metadata: $members members, $named names, $tables feature tables" >&2
    exit 1
fi

check() {
    printf -- '-- %s\n' "$*"
    cargo clippy --quiet --package "$@" -- -D warnings
}

package=
while IFS= read -r row; do
    case $row in
    '{"name"'*)
        package=${row#*\"name\":\"}
        package=${package%%\"*}
        ;;
    *)
        check "$package" --no-default-features
        check "$package"
        features=$(grep -oE '"[^"]+":\[' <<<"${row#\"features\":}" | tr -d '":[' || true)
        for feature in $features; do
            if [ "$feature" != default ]; then
                check "$package" --no-default-features --features "$feature"
            fi
        done
        check "$package" --all-features
        ;;
    esac
done <<<"$rows"
