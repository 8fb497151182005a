#!/bin/sh
# Compiles the runtime for every instruction set, as rsk-config.cmake does, and the C tests with it:
#
#     build.sh FOLDER FLAGS...            the compiler is $CC, or cc
#
# FOLDER then holds test_file, test_predict, test_trainer and mutate.
set -eu
native=$(dirname "$0")/..
folder=$1
shift
cc="${CC:-cc} -std=c99 -Wall -Wextra -Wpedantic -ffp-contract=off -fno-math-errno -I$native $*"
machine=$(${CC:-cc} -dumpmachine)
case $machine in
x86_64-*) cc="$cc -DRSK_HAS_X86" ;;
aarch64-* | arm64-*) cc="$cc -DRSK_HAS_NEON" ;;
esac

mkdir -p "$folder"
rm -f "$folder"/*.o

isa() { # NAME FLAGS...
    name=$1
    shift
    $cc -DRSK_ISA_NAME="$name" "$@" -c "$native/rsk_lanes.c" -o "$folder/$name.o"
    $cc -DRSK_ISA_NAME="$name" -fno-trapping-math "$@" -c "$native/rsk_trainer_lanes.c" -o "$folder/trainer_$name.o"
}
isa scalar
case $machine in
x86_64-*)
    isa avx2 -mavx2
    isa avx512 -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vbmi -mavx512vnni -mgfni -mprefer-vector-width=512
    ;;
aarch64-* | arm64-*) isa neon ;;
esac
for source in "$native"/rsk*.c; do
    name=$(basename "$source" .c)
    case $name in
    rsk_lanes | rsk_trainer_lanes | rsk_kernel) ;; # above; of training
    *) $cc -c "$source" -o "$folder/$name.o" ;;
    esac
done

tests=$native/tests
$cc "$tests/test_file.c" "$tests/assembler.c" "$folder"/*.o -o "$folder/test_file"
$cc "$tests/test_predict.c" "$folder"/*.o -pthread -o "$folder/test_predict"
$cc "$tests/test_trainer.c" "$folder"/*.o -lm -o "$folder/test_trainer"
$cc "$tests"/mutate*.c "$tests/fuzz_file.c" "$folder"/*.o -o "$folder/mutate"
