#!/usr/bin/env bash
# Checks the direction of dependencies: what a crate must never reach, not even through others.
# A crate of the table that has no folder in crates/ yet is skipped, and said so; a `cargo tree`
# that fails is a failure, never an empty answer.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Of Bevy, sc_bevy reaches bevy_app, bevy_ecs and bevy_time, by features bevy_state and bevy_asset, and what these need.
# crate      | edges            | must not reach (shell patterns; with `!`, but may)
table='
sc_core      | normal,build,dev | sc_* stillcooking
sc_core      | normal,build     | bevy bevy_* winit
sc_flow      | normal,build,dev | sc_console sc_bevy stillcooking
sc_flow      | normal,build     | bevy bevy_* winit
sc_console   | normal,build,dev | sc_flow sc_bevy stillcooking
sc_console   | normal,build     | bevy bevy_* winit
sc_bevy      | normal,build,dev | stillcooking
sc_bevy      | normal,build     | bevy bevy_* winit wgpu !bevy_app !bevy_ecs* !bevy_time !bevy_state* !bevy_asset* !bevy_android !bevy_derive !bevy_diagnostic !bevy_macro_utils !bevy_platform !bevy_ptr !bevy_reflect* !bevy_tasks !bevy_utils
'

failed=0
while IFS='|' read -r crate edges patterns; do
    crate=${crate// /}
    edges=${edges// /}
    [ -n "$crate" ] || continue
    if [ ! -d "crates/$crate" ]; then
        echo "$crate: skipped, there is no crates/$crate"
        continue
    fi

    # All features, all platforms: one bad path anywhere is enough.
    tree=$(cargo tree --package "$crate" --edges "$edges" --all-features --target all --prefix none --format '{p}')
    reached=$(awk 'NF { print $1 }' <<<"$tree" | sort -u)
    if ! grep -qxF "$crate" <<<"$reached"; then
        echo "$crate: cargo tree does not even list the crate itself" >&2
        exit 1
    fi

    read -ra wanted <<<"$patterns"
    bad=
    while IFS= read -r name; do
        [ "$name" != "$crate" ] || continue
        is_bad=
        for pattern in "${wanted[@]}"; do
            # shellcheck disable=SC2053 # the right side is a pattern on purpose
            if [[ $name == ${pattern#!} ]]; then
                [[ $pattern == !* ]] && is_bad= || is_bad=yes
            fi
        done
        [ -z "$is_bad" ] || bad+=" $name"
    done <<<"$reached"

    if [ -n "$bad" ]; then
        echo "$crate ($edges) must not reach:$bad" >&2
        for name in $bad; do
            cargo tree --package "$crate" --edges "$edges" --all-features --target all --invert "$name" >&2 || true
        done
        failed=1
    else
        echo "$crate ($edges): reaches none of ${wanted[*]}"
    fi
done <<<"$table"
exit "$failed"
