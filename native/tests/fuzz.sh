#!/bin/sh
# Runs the coverage-guided fuzzer, and keeps the inputs that reach something new in tests/format/corpus.zip:
#
#     fuzz.sh FOLDER SECONDS [PYTHON]        needs clang with libFuzzer, and a Python with repsketch
#
# FOLDER keeps the program and all inputs found, and a later run goes on from them. To refresh the corpus of the
# repository: run this for twenty minutes or more, look at what fuzz_pack.py prints, and commit the archive. A finding
# is written to FOLDER/crash-*; FOLDER/fuzz FOLDER/crash-... repeats it.
set -eu
tests=$(dirname "$0")
native=$tests/..
folder=$1
seconds=$2
python=${3:-python3}
mkdir -p "$folder/found" "$folder/seeds"
clang -std=c99 -g -O1 -fsanitize=fuzzer,address,undefined,float-cast-overflow -fno-sanitize-recover=all \
    -ffp-contract=off -fno-math-errno -I"$native" "$tests"/fuzz_*.c "$tests"/mutate.c "$tests"/mutate_document.c \
    "$tests"/mutate_fields.c $(ls "$native"/rsk*.c | grep -v -e rsk_kernel -e rsk_trainer) -o "$folder/fuzz"
"$python" "$tests/write_seeds.py" "$folder/seeds"
rm -f "$folder"/seeds/wide*.rsk
"$python" "$tests/fuzz_pack.py" unpack "$folder/found"
"$folder/fuzz" -max_len=65536 -len_control=0 -max_total_time="$seconds" -print_final_stats=1 \
    -artifact_prefix="$folder/" "$folder/found" "$folder/seeds"
rm -rf "$folder/least"
mkdir "$folder/least"
"$folder/fuzz" -merge=1 -max_len=4096 "$folder/least" "$folder/found" "$folder/seeds"
"$python" "$tests/fuzz_pack.py" pack "$folder/least"
