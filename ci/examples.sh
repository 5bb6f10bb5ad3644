#!/usr/bin/env bash
# Runs every example to its end, by the very commands its header gives.
#
# A header line (one of the `//!` lines a file starts with) of this form is such a command:
#
#   //! $ cargo run --example NAME [options] [-- arguments]
#
# It may stand behind a pipe that feeds the example: //! $ echo help | cargo run --example NAME
# An example without a command fails, so does one whose command names another example, one that
# ends with an error, and one that takes longer than EXAMPLE_SECONDS (60) after it is built.
# A folder of examples/ that has a main.rs counts as an example; one with a Cargo.toml is a package
# of its own and is left to its own script.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

limit=${EXAMPLE_SECONDS:-60}
limited=()
if command -v timeout >/dev/null; then
    limited=(timeout --kill-after=5 "$limit")
else
    echo "there is no 'timeout' here: an example that does not end will block this step" >&2
fi

shopt -s nullglob
files=()
for file in examples/*.rs examples/*/main.rs; do
    if [ ! -f "$(dirname "$file")/Cargo.toml" ] || [ "$(dirname "$file")" = examples ]; then
        files+=("$file")
    fi
done
if [ ${#files[@]} -eq 0 ]; then
    echo "there are no examples"
    exit 0
fi

for file in "${files[@]}"; do
    name=${file#examples/}
    name=${name%.rs}
    name=${name%/main}

    commands=$(awk '!/^\/\/!/ { exit } sub(/^\/\/! \$ /, "")' "$file")
    if [ -z "$commands" ]; then
        echo "$file: its header gives no command; add '//! \$ cargo run --example $name'" >&2
        exit 1
    fi

    while IFS= read -r command; do
        printf -- '-- %s\n' "$command"
        if ! [[ "$command " =~ (^|\| )cargo\ run\ (.* )?--example\ "$name"\  ]]; then
            echo "$file: not a command that runs this example (cargo run --example $name)" >&2
            exit 1
        fi
        # Build first, so that the limit is for the run alone.
        build=$(sed -E 's/^.*cargo run /cargo build --quiet /; s/ (--|\||<|>)( .*)?$//' <<<"$command")
        bash -c "$build" </dev/null
        status=0
        ${limited[@]+"${limited[@]}"} bash -o pipefail -c "$command" </dev/null || status=$?
        if [ "$status" -ne 0 ]; then
            [ "$status" -eq 124 ] && echo "$file: did not end within $limit s" >&2
            echo "$file: '$command' ended with status $status" >&2
            exit 1
        fi
    done <<<"$commands"
done
