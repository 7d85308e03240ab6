# Every built-in simulated device, on another system and on this one; read by the scripts beside it, which have `run`.
# shellcheck shell=bash

# same_on_every_device PROGRAM-OF-THIS-SYSTEM: from one seed, the same trials.
same_on_every_device() {
    local device native=$1 options=(--rw randrw --depth 8 --runtime 1s --seed 11 --force)
    # Lines of a description begin with spaces.
    for device in $("$native" devices | grep -oE '^[a-z0-9-]+'); do
        run point "sim:$device" "${options[@]}" --json=other.json
        "$native" --store "$folder/native.db" point "sim:$device" "${options[@]}" --json=own.json >/dev/null 2>&1
        holds "$device gives the same" python3 "$here/same_figures.py" other.json own.json
        rm -f other.json own.json
    done
}
