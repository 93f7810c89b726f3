#!/bin/sh
# Price of idle hooks.
#
# Problem: a program without hot loops must not pay for the JIT.
#
# Design: each program of bench/idle runs with stock Lua and with the patched interpreter whose counters are out of
# reach, in turns; medians and minima of the user times are compared (minima where other work disturbs). The
# instructions per back edge come from callgrind as the
# difference of two runs that differ only in the number of iterations.
#
# Invariant: both interpreters come from the same build, so they have the same flags.
#
# Example: bench/idle.sh 7          (seven runs each, default 5)
#          bench/idle.sh --callgrind-only     (no times; fails when a back edge costs more than 6
#                                             instructions, or one with a call more than 9)
set -eu
folder=$(cd "$(dirname "$0")" && pwd)
runs=${1:-5}
if [ "$runs" = --callgrind-only ]; then runs=0; fi
cd "$folder/../../.."
cargo build -q --release -p tracelift-lua --bin runlua
target=${CARGO_TARGET_DIR:-target}
patched=$target/release/runlua
pin=""
if command -v taskset >/dev/null; then pin="taskset -c ${IDLE_CPU:-0}"; fi

# Prints the user time of a run in milliseconds.
user_time() {
  { /usr/bin/env bash -c 'TIMEFORMAT=%U; time "$@" >/dev/null' idle $pin "$@"; } 2>&1 | tr -d .
}
# Prints median and minimum.
summary() { sort -n | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)], value[1] }'; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The newest one of the same version of Lua: with the feature `lua55` there is another one.
echo 'print(_VERSION)' >"$scratch/version.lua"
version=$("$patched" "$scratch/version.lua")
stock=""
for each in $(ls -t "$target"/release/build/tracelift-lua-*/out/stock-lua); do
  if [ "$("$each" "$scratch/version.lua")" = "$version" ]; then stock=$each; break; fi
done
if [ -z "$stock" ]; then echo "idle.sh: there is no stock $version" >&2; exit 1; fi
if [ "$runs" -gt 0 ]; then
  printf '%-14s %10s %10s %9s %9s\n' program stock patched medians minima
  for program in "$folder"/idle/*.lua; do
    name=$(basename "$program" .lua)
    for _ in $(seq "$runs"); do
      user_time "$stock" "$program" >>"$scratch/$name.stock"
      user_time "$patched" "$program" >>"$scratch/$name.patched"
    done
    echo "$name $(summary <"$scratch/$name.stock") $(summary <"$scratch/$name.patched")" >>"$scratch/table"
  done
  awk '{ medians += log($4 / $2); minima += log($5 / $3)
         printf "%-14s %7d ms %7d ms %9.3f %9.3f\n", $1, $2, $4, $4 / $2, $5 / $3 }
       END { printf "%-36s %9.3f %9.3f\n", "geometric mean", exp(medians / NR), exp(minima / NR) }' "$scratch/table"
fi

if command -v valgrind >/dev/null; then
  # In a loop over `pairs` and in one that calls, what the iterator or the call costs more is counted too.
  echo 'for i = 1, tonumber(arg[1]) do local x = i end' >"$scratch/for.lua"
  echo 'for i = 1.0, tonumber(arg[1]) do local x = i end' >"$scratch/for_float.lua"
  echo 'local i, n = 0, tonumber(arg[1]) while i < n do i = i + 1 end' >"$scratch/while.lua"
  echo 'local i, n = 0, tonumber(arg[1]) repeat i = i + 1 until i >= n' >"$scratch/repeat.lua"
  echo 'local n = tonumber(arg[1]) local t = {} for i = 1, 1000 do t[i] = i end
        for r = 1, n // 1000 do for k in next, t do end end' >"$scratch/next.lua"
  echo 'local i, n = 0, tonumber(arg[1]) for _ in function() i = i + 1; return i < n or nil end do end' >"$scratch/calling.lua"
  instructions() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 | sed -n 's/.*Collected : //p'
  }
  per_edge() { echo $((($(instructions "$@" 300000) - $(instructions "$@" 100000)) / 2000)); }
  # The step of 'next' calls a C function, after which is asked whether that has yielded: three more of 300.
  limit() { case $1 in next) echo 905 ;; calling) echo 805 ;; *) echo 605 ;; esac; }
  status=0
  for loop in for for_float while repeat next calling; do
    before=$(per_edge "$stock" "$scratch/$loop.lua")
    after=$(per_edge "$patched" "$scratch/$loop.lua")
    echo "$loop $before $after" | awk '{ printf "%-10s instructions per iteration: stock %.2f, patched %.2f, more %.2f\n", $1, $2 / 100, $3 / 100, ($3 - $2) / 100 }'
    if [ $((after - before)) -gt "$(limit "$loop")" ]; then status=1; fi
  done
  if [ $status -ne 0 ]; then
    echo "a back edge costs more than 6 instructions, or one with a call more than 9" >&2
  fi
  exit $status
fi
