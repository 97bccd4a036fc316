# The ways into vivace. Each target calls a script in tools/, which says what it does in its first
# lines; CMake does the building. Everything is written below build/.

PREFIX ?= /usr/local

.PHONY: help demo build test test-slow check setup install clean

help:
	@echo 'make demo       set up, build, and measure a stand-in I-JEPA model on two photographs'
	@echo 'make build      build the binary and the library into build/release'
	@echo 'make test       set up, build, and run every test but the slow ones'
	@echo 'make test-slow  run the slow tests'
	@echo 'make check      sanitizers, fuzzers, linters, layer check, arm64 kernels'
	@echo 'make setup      install the Debian packages that the build needs'
	@echo 'make install    install into PREFIX (now $(PREFIX)); honours DESTDIR'
	@echo 'make clean      remove what was built; downloads in build/ stay'

demo:
	@tools/demo

build: setup
	@tools/build

test:
	@tools/test

test-slow:
	@tools/test --slow

check:
	@tools/check

setup:
	@tools/setup

install: build
	@cmake --install build/release --prefix '$(PREFIX)'

clean:
	@rm -rf build/dev build/release build/clang build/asan build/tsan build/fuzz build/arm64 \
	        build/demo build/logs
