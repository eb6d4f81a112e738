# timelake.h: GNU make, POSIX sh recipes. `make help` lists what there is to make. CC and CFLAGS are yours.
CC ?= cc
CFLAGS ?= -O2 -g
# Tests, examples, corpus replay: most compile for longer than they run, and -O0 keeps what they do not call.
LIGHT = -Og -g1
TEST_CFLAGS ?= $(if $(filter default file undefined,$(origin CFLAGS)),$(LIGHT),$(CFLAGS))
GCC ?= gcc
CLANG ?= clang
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
BUILD ?= build
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

ifeq ($(MAKELEVEL)$(filter -j% --jobserver%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(JOBS) # unless this make is inside another
endif
MAKEFLAGS += --no-print-directory
# V=1 shows the whole commands.
Q = $(if $(V),,@echo "  $@";)
.DELETE_ON_ERROR:
.SECONDARY:

WARN = -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wcast-qual -Wcast-align -Wundef -Wvla -Werror
# The library's frames are small; those of programs around it may be larger.
FRAME = -Wframe-larger-than=2048
WARN_C = -Wstrict-prototypes -Wmissing-prototypes -Wc++-compat
# Inlined into a test, the library makes gcc guess what may be uninitialised; compiled alone it has to be clean.
GUESS = -Wno-unknown-warning-option -Wno-maybe-uninitialized -Wno-stringop-overflow
# How fuzz targets include the header: as tests do, with private names, and without what they do not use.
INSIDE = -DTLI_KEEP_MACROS -DTIMELAKE_STATIC
SANITIZE = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all

TESTS := $(patsubst tests/%.c,%,$(wildcard tests/*.c))
FUZZERS := $(filter-out replay,$(patsubst fuzz/%.c,%,$(wildcard fuzz/*.c)))
EXAMPLES := $(filter-out tlake timelake follow_uv,$(patsubst examples/%.c,%,$(wildcard examples/*.c)))
TOOL = $(if $(wildcard examples/tlake.c),$(BUILD)/tlake)
DEPS = timelake.h $(wildcard tests/*.h fuzz/*.h adapters/*.h examples/*.h)
VERSION = $(shell sed -n 's/^\#define TL_VERSION_TEXT "\(.*\)"/\1/p' src/base.h)

# The libraries that the compiler at hand finds, for what compares with them: -DTL_HAVE_ZSTD -lzstd, the same of lz4.
# Asked once, and only by what needs to know.
probe = $(shell printf '\043include <$(1)>\nint main(void) { return 0; }\n' | $(CC) $(ARCH) -x c - -o /dev/null $(2) \
        2>/dev/null && echo $(3) $(2))
LIBS = $(eval LIBS := $(call probe,zstd.h,-lzstd,-DTL_HAVE_ZSTD) $(call probe,lz4frame.h,-llz4,-DTL_HAVE_LZ4) \
       $(call probe,zlib.h,-lz,-DTL_HAVE_ZLIB) $(call probe,snappy-c.h,-lsnappy,-DTL_HAVE_SNAPPY))$(LIBS)

##   make            the header; tool, examples and tests with gcc and clang, as C99 and as C++11
all: timelake.h tool examples tests dialects
tool: $(TOOL)
examples: $(EXAMPLES:%=$(BUILD)/example/%)
tests: $(TESTS:%=$(BUILD)/test/%)

timelake.h: $(wildcard src/*) tools/generate LICENSE
	@mkdir -p build
	$(Q)tools/generate > build/timelake.h.tmp
	@mv build/timelake.h.tmp $@

# ARCH: -m32, -static, ... of tools/matrix. BUILD: its folder.
STD ?= c99
COMPILE = $(CC) $(ARCH) $(if $(findstring ++,$(STD)),-x c++,-x c) -std=$(STD) $(WARN) \
          $(if $(findstring ++,$(STD)),,$(WARN_C))

$(addprefix $(BUILD)/test/,avro commit_sim head load lz4 number probe_sim zstd zstd_small): LIGHT = -O1 -g1
$(BUILD)/test/%: tests/%.c $(DEPS)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(GUESS) $(TEST_CFLAGS) -o $@ $< $(LIBS)

$(BUILD)/replay/%: fuzz/%.c fuzz/replay.c $(DEPS)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(GUESS) $(TEST_CFLAGS) $(INSIDE) -o $@ $< fuzz/replay.c $(LIBS)

# The tool uses libzstd and libcurl when they are here.
TLAKE_CURL = $(eval TLAKE_CURL := $(call probe,curl/curl.h,-lcurl,-DTLAKE_CURL))$(TLAKE_CURL)
TLAKE_ZSTD = $(and $(wildcard adapters/timelake_zstd.h),$(filter -DTL_HAVE_ZSTD,$(LIBS)),-DTLAKE_ZSTD)
$(BUILD)/tlake: examples/tlake.c $(DEPS)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(GUESS) $(CFLAGS) -DTIMELAKE_STATIC $(TLAKE_ZSTD) -o $@ $< $(LIBS) $(TLAKE_CURL)

$(BUILD)/example/%: examples/%.c $(DEPS)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(GUESS) $(TEST_CFLAGS) -DTIMELAKE_STATIC -o $@ $< $(LIBS)

$(BUILD)/asan/%: tests/%.c $(DEPS)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(GUESS) $(SANITIZE) -o $@ $< $(LIBS)

$(BUILD)/asan-replay/%: fuzz/%.c fuzz/replay.c $(DEPS)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(GUESS) $(SANITIZE) $(INSIDE) -o $@ $< fuzz/replay.c $(LIBS)

$(BUILD)/asan-tlake: examples/tlake.c $(DEPS)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(GUESS) $(SANITIZE) $(TLAKE_ZSTD) -o $@ $< $(LIBS) $(TLAKE_CURL)

build/fuzz/%: fuzz/%.c $(DEPS)
	@mkdir -p $(@D)
	$(Q)$(CLANG) -std=c99 $(WARN) $(WARN_C) $(SANITIZE) -O2 -fsanitize=fuzzer $(INSIDE) -o $@ $< $(LIBS)

# ---- dialects: everything compiles, without a warning, with both compilers, as C99 and as C++11 ----
# The library and the tool are compiled whole; of tests, examples and fuzz targets the compiler checks the text: their
# programs are built with CC here, and with other compilers by tools/matrix.
has = $(shell echo 'int main(void) { return 0; }' | $(1) -fsyntax-only - 2>/dev/null && echo yes)
WHOLE = tests/compile/implementation $(if $(TOOL),examples/tlake)
TEXT = fuzz/replay $(TESTS:%=tests/%) $(FUZZERS:%=fuzz/%) $(EXAMPLES:%=examples/%)
dialects: dialect-gcc-c99 dialect-gcc-c++11 dialect-clang-c99 dialect-clang-c++11

define dialect # NAME COMPILER LANGUAGE STANDARD WARNINGS
dialect-$(1): $$(if $$(call has,$(2) -x $(3)),$$(WHOLE:%=build/$(1)/%.o) $$(TEXT:%=build/$(1)/%.ok),skip-$(1))
.PHONY: dialect-$(1) skip-$(1)
skip-$(1):
	@echo "skipped: $(2) does not compile $(3) here"
build/$(1)/tests/compile/%.o: WARN += $$(FRAME)
build/$(1)/%.o: %.c $$(DEPS)
	@mkdir -p $$(@D)
	$$(Q)$(2) -x $(3) -std=$(4) $$(WARN) $(5) -O1 -c -o $$@ $$< $$(filter -D%,$$(LIBS) $$(TLAKE_CURL))
build/$(1)/%.ok: %.c $$(DEPS)
	@mkdir -p $$(@D)
	$$(Q)$(2) -x $(3) -std=$(4) $$(WARN) $(5) $$(INSIDE) -fsyntax-only $$< $$(filter -D%,$$(LIBS)) && touch $$@
endef
ifneq ($(filter all dialects dialect-%,$(or $(MAKECMDGOALS),all)),)
$(eval $(call dialect,gcc-c99,$(GCC),c,c99,$(WARN_C)))
$(eval $(call dialect,gcc-c++11,$(GCC),c++,c++11,))
$(eval $(call dialect,clang-c99,$(CLANG),c,c99,$(WARN_C)))
$(eval $(call dialect,clang-c++11,$(CLANG),c++,c++11,))
endif

# ---- tests ----
line = printf '%s\t%s\n' '$(1)' '$(2)';
corpus = $(wildcard fuzz/corpus/$(1))
##   make test       all tests that need only a C compiler, make and a shell; the last line is the sum
test: tests tool examples $(FUZZERS:%=$(BUILD)/replay/%)
	@{ $(foreach t,$(TESTS),$(call line,$(t),$(BUILD)/test/$(t))) \
	   $(foreach f,$(FUZZERS),$(call line,replay $(f),$(BUILD)/replay/$(f) $(call corpus,$(f)))) \
	   $(if $(wildcard tests/tool.sh),$(call line,tool,sh tests/tool.sh $(BUILD)/tlake)) \
	   $(if $(TOOL),$(call line,heads as JSON,sh tests/heads_json.sh $(BUILD)/tlake)) \
	   $(if $(EXAMPLES),$(call line,examples,sh tests/examples.sh $(BUILD)/example)) } | tools/run-tests

# What tools/matrix runs on other compilers and machines: the test programs and the corpus. RUN: an emulator.
run-tests: $(TESTS:%=$(BUILD)/test/%) $(FUZZERS:%=$(BUILD)/replay/%)
	@{ $(foreach t,$(TESTS),$(call line,$(t),$(BUILD)/test/$(t))) \
	   $(foreach f,$(FUZZERS),$(call line,replay $(f),$(BUILD)/replay/$(f) $(call corpus,$(f)))) } | tools/run-tests

##   make demo       decodes a head that Timelake wrote, says what is in it, writes it anew in both codecs
demo: tool
	@sh examples/demo.sh $(BUILD)/tlake

##   make asan       the same under the address and undefined behaviour sanitizers
asan ubsan: $(TESTS:%=$(BUILD)/asan/%) $(FUZZERS:%=$(BUILD)/asan-replay/%) $(if $(TOOL),$(BUILD)/asan-tlake)
	@{ $(foreach t,$(TESTS),$(call line,$(t),$(BUILD)/asan/$(t))) \
	   $(foreach f,$(FUZZERS),$(call line,replay $(f),$(BUILD)/asan-replay/$(f) $(call corpus,$(f)))) \
	   $(if $(wildcard tests/tool.sh),$(call line,tool,sh tests/tool.sh $(BUILD)/asan-tlake)) } | tools/run-tests

##   make tsan       many threads on one probe under ThreadSanitizer; without the locks it has to find the race
tsan: $(BUILD)/tsan/probe
	@! $< nolock >$<.nolock 2>&1 && grep -q 'WARNING: ThreadSanitizer: data race' $<.nolock || \
	    { cat $<.nolock; echo 'FAILED: without locks no race was found'; exit 1; }
	@$<
$(BUILD)/tsan/%: tests/threads/%.c $(DEPS)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(GUESS) -O1 -g -fsanitize=thread -o $@ $< -lpthread

##   make valgrind   the tests under valgrind
valgrind: tests
	@command -v valgrind >/dev/null || { echo 'skipped: no valgrind'; exit 0; }; \
	{ $(foreach t,$(TESTS),$(call line,$(t),build/test/$(t))) } | \
	RUN='valgrind -q --error-exitcode=9 --leak-check=full' TEST_SECONDS=3600 tools/run-tests

##   make fuzz       each fuzz target for FUZZ_SECONDS (60) with clang; fuzz-<target> runs one
fuzz: $(FUZZERS:%=build/fuzz/%)
	@mkdir -p build/fuzz
	@printf '%s\n' $(FUZZERS) | xargs -P $(JOBS) -I{} tools/fuzz {} $(FUZZ_SECONDS) | tee build/fuzz/all.log; \
	n=$$(grep -c ': clean$$' build/fuzz/all.log); \
	echo "$$n passed, $$(($(words $(FUZZERS)) - n)) failed"; [ "$$n" -eq $(words $(FUZZERS)) ]
$(FUZZERS:%=fuzz-%): fuzz-%: build/fuzz/%
	@tools/fuzz $* $(FUZZ_SECONDS)

##   make fuzz-replay  the corpus through every fuzz target, without an engine, any compiler
fuzz-replay: $(FUZZERS:%=$(BUILD)/replay/%)
	@{ $(foreach f,$(FUZZERS),$(call line,replay $(f),$(BUILD)/replay/$(f) $(call corpus,$(f)))) } | tools/run-tests

##   make matrix     (ONLY=name: some cells) compilers, standards, options, machines (32 bit, musl, big-endian, Windows): compiled, run where possible
matrix: timelake.h
	@tools/matrix $(ONLY)

##   make interop    against the reference implementations (Timelake, pyarrow, ...); downloads what it needs
interop: timelake.h tool
	@if [ -x tests/interop/run ]; then tests/interop/run; else echo 'skipped: no tests/interop/run yet'; echo '0 passed, 0 failed'; fi

##   make bench      the benchmarks of bench/
bench: timelake.h
	@for b in bench/run bench/*/run; do if [ -x $$b ]; then $$b || exit 1; fi; done
##   make bench-heads  heads of up to 100,000 files against timelake-format, pyarrow and libzstd
bench-heads: timelake.h
	@bench/heads/run
##   make bench-commit  an append and its publish, tables of 100 to 100,000 files, against timelake-format
bench-commit: timelake.h
	@bench/commit/run
##   make bench-load  a step, an idle table, plans; the metadata chain against timelake-format
bench-load: timelake.h
	@bench/load/run
##   make bench-protocol  timeseries tables: replay of 10,000 commits against timeseries-table-format, the check of a header
bench-protocol: timelake.h
	@bench/protocol/run
##   make bench-wasm  a head of 1,000 files opened in Chromium, against apache-arrow
bench-wasm: wasm
	@bench/wasm/run
##   make bench-stores  cold opens over a server 20 ms away, against the Timelake crate; a thousand tables watched
bench-stores: timelake.h
	@bench/stores/run
##   make bench-probe  the probe: warm reads a second, memory of a million idle ones
bench-probe: $(BUILD)/bench/probe
	@$<
##   make bench-cost  dollars a month of each way to follow a numbered sequence, simulated
bench-cost: $(BUILD)/bench/cost
	@$<
$(BUILD)/bench/%: bench/%.c $(DEPS)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(GUESS) -O2 $(CFLAGS) -o $@ $<

##   make follow_uv  examples/follow_uv.c, which follows a thousand tables in one thread (libuv, libcurl)
follow_uv: $(BUILD)/follow_uv
$(BUILD)/follow_uv: examples/follow_uv.c $(DEPS)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(GUESS) -O2 $(CFLAGS) -o $@ $< -luv -lcurl -lpthread

##   make wasm       build/wasm: the header as a WebAssembly module, with timelake.mjs (clang and wasm-ld)
wasm: timelake.h
	@tools/wasm

##   make wasm-test  its tests: Node 20, npm's apache-arrow
wasm-test: wasm tool
	@tools/wasm-test

# ---- checks of the source ----
##   make rooms      a room calls only rooms above it
rooms:
	@tools/rooms
##   make tidy       style: line and function lengths, forbidden words, recursion, documentation and test of each function
tidy:
	@tools/tidy
##   make generated  timelake.h is what src/ generates
generated:
	@tools/generate | cmp - timelake.h && echo 'timelake.h is up to date'
##   make symbols    only tl_ symbols are exported, nothing mutable is static, nothing but mem* and malloc is called
symbols: timelake.h
	@tools/symbols
##   make size       object code per configuration at -Os, and per room
size: timelake.h
	@tools/size

# ---- installing ----
##   make install    header, adapters, tool, pkg-config file, manual page below DESTDIR and PREFIX (/usr/local)
install: timelake.h tool
	mkdir -p $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(PREFIX)/lib/pkgconfig
	cp timelake.h $(wildcard adapters/*.h) $(DESTDIR)$(PREFIX)/include/
	sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' timelake.pc.in > $(DESTDIR)$(PREFIX)/lib/pkgconfig/timelake.pc
	$(if $(TOOL),mkdir -p $(DESTDIR)$(PREFIX)/bin && cp $(TOOL) $(DESTDIR)$(PREFIX)/bin/tlake)
	$(if $(wildcard examples/tlake.1),mkdir -p $(DESTDIR)$(PREFIX)/share/man/man1 && \
	    cp examples/tlake.1 $(DESTDIR)$(PREFIX)/share/man/man1/)

##   make uninstall  takes that away again
uninstall:
	cd $(DESTDIR)$(PREFIX) && rm -f include/timelake.h $(patsubst adapters/%,include/%,$(wildcard adapters/*.h)) \
	    lib/pkgconfig/timelake.pc bin/tlake share/man/man1/tlake.1

##   make dist       build/timelake-<version>.tar.gz
dist: timelake.h
	@mkdir -p build
	{ git ls-files; echo timelake.h; } | sort -u | tar -czf build/timelake-$(VERSION).tar.gz \
	    --transform 's|^|timelake-$(VERSION)/|' -T -
	@echo build/timelake-$(VERSION).tar.gz

##   make check-dist unpacks that and runs its tests
check-dist: dist
	@rm -rf build/dist && mkdir -p build/dist && tar -xzf build/timelake-$(VERSION).tar.gz -C build/dist
	@$(MAKE) -C build/dist/timelake-$(VERSION) test

clean:
	rm -rf build
help:
	@sed -n 's/^##//p' Makefile
	@echo '  make clean, make dialects, make fuzz-<target>'

.PHONY: demo wasm wasm-test follow_uv all tool examples tests dialects test run-tests asan ubsan valgrind fuzz fuzz-replay matrix interop bench bench-commit bench-heads bench-load bench-protocol bench-wasm bench-stores bench-probe bench-cost tsan rooms \
        tidy generated symbols size install uninstall dist check-dist clean help $(FUZZERS:%=fuzz-%)

print-%: # a variable, for tools/
	@echo '$($*)'
