# Counting tests of what a program said to ./said; read by the scripts beside it.
# shellcheck shell=bash
passed=0 failed=0

# holds NAME CONDITION..: counts a test.
holds() {
    local name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $name"
        sed 's/^/    /' said | tail -20
    fi
}

says() { tr '\r\n' '  ' <said | tr -s ' ' | grep -qF -- "$1"; }

# ended: the last line of a test program, and its result.
ended() {
    echo "test result: $([ "$failed" = 0 ] && echo ok || echo FAILED). $passed passed; $failed failed"
    [ "$failed" = 0 ]
}
