#!/usr/bin/env bash
# Compiles jpeg_decoders.cpp with the sanitizers into build/ and runs it.
# usage: jpeg_decoders.sh FIRST COUNT
set -euo pipefail
cd "$(dirname "$0")/../.."
mkdir -p build
flags=(-std=c++20 -O1 -g -ffp-contract=off -fsanitize=address,undefined -fno-sanitize-recover=undefined)
[[ $(uname -m) != x86_64 ]] || flags+=(-march=x86-64-v2)
sources=(native/codecs/jpeg/{jpeg,jpeg_header,sequential_decoder}.cpp native/codecs/jpeg/pixels/pixel_vectors.cpp
  native/codecs/jpeg/scan/{huffman_lookup,progressive_scans,scan_vectors,shared_scan}.cpp
  native/codecs/{codec,exif,limits}.cpp native/core/{dtype,error,vectors}.cpp native/runtime/{fork,profile,thread_pool}.cpp
  tests/fuzz/jpeg_decoders.cpp)
"${CXX:-g++}" "${flags[@]}" -Inative -Ibuild/dev "${sources[@]}" -o build/jpeg_decoders -ljpeg -lhwy
exec build/jpeg_decoders "$@"
