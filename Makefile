# timelake.h. `make` builds, `make test` tests, `make demo` shows. CC and CFLAGS are yours.
CC ?= cc
CFLAGS ?= -O2 -g
WARN = -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wcast-qual -Wcast-align -Wundef -Wvla \
       -Wframe-larger-than=2048 -Werror
WARN_C = -Wstrict-prototypes -Wmissing-prototypes -Wc++-compat
TESTS = $(patsubst tests/%.c,%,$(wildcard tests/*.c))
ROOMS = $(wildcard src/*)

all: timelake.h

timelake.h: $(ROOMS) tools/generate LICENSE
	tools/generate > build.tmp && mv build.tmp $@

build/test/%: tests/%.c tests/tl_test.h timelake.h
	@mkdir -p $(@D)
	$(CC) -std=c99 $(WARN) $(WARN_C) $(CFLAGS) -o $@ $<

build/asan/%: tests/%.c tests/tl_test.h timelake.h
	@mkdir -p $(@D)
	$(CC) -std=c99 $(WARN) $(WARN_C) -Wframe-larger-than=1000000 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -o $@ $<

test: $(TESTS:%=build/test/%)
	@for t in $(TESTS); do echo "== $$t"; build/test/$$t || exit 1; done
asan: $(TESTS:%=build/asan/%)
	@for t in $(TESTS); do echo "== $$t"; build/asan/$$t || exit 1; done

clean:
	rm -rf build
.PHONY: all test asan clean
