#!/bin/bash
# CMake lets static libraries depend on each other in circles; the project's own lines must forbid it.
# shellcheck source=tests/lint/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

# configure A_DEPS B_DEPS: two rooms made with the project's sl_module under the project's global properties.
configure() {
	rm -rf "$tree/build"
	put room.c 'int room;'
	put CMakeLists.txt 'cmake_minimum_required(VERSION 3.25)' 'project(rooms LANGUAGES C)' \
		"$(grep '^set_property(GLOBAL' "$project/CMakeLists.txt")" \
		"include($project/cmake/SloglabModule.cmake)" \
		"sl_module(a SOURCES room.c DEPS $1)" "sl_module(b SOURCES room.c DEPS $2)"
	cmake -S "$tree" -B "$tree/build" -G Ninja
}

fails 'strongly connected component (cycle)' configure b a
configure b '' >"$tree/log" 2>&1 || {
	cat "$tree/log" >&2
	exit 1
}
