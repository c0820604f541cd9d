# `make help` lists the targets. Objects go to out/build/<flavour>/; new sources and tests are found by themselves.

VERSION := 0.1.0

# What is built:  release  what users run
#                 check    the release build with assertions and warnings as errors: what `make check` builds and tests
#                 debug    for the debugger
#                 asan     address and undefined-behaviour sanitizers
#                 readers  these in the folders that read what others wrote; all other objects, and those of tests, are check's
#                 tsan     thread sanitizer
#                 fuzz     clang with libFuzzer
#                 arm64    the release build for 64-bit ARM, by Debian's cross compiler (scripts/check_arm64.sh)
FLAVOUR ?= release
ifeq ($(filter $(FLAVOUR),release check debug asan readers tsan fuzz arm64),)
  $(error unknown FLAVOUR '$(FLAVOUR)': release, check, debug, asan, readers, tsan, fuzz or arm64)
endif

# Processor to build for; `make ARCH=` for one that runs on every machine of the family. Vectors of 512 bits are left out:
# with them gcc 12.2 computes the last row of a matrix wrong (tests/unit/simulate/test_inertia shows it).
ARCH ?= -march=native $(if $(filter x86_64,$(shell uname -m)),-mprefer-vector-width=256)
# No fused multiply-add, whatever the processor: gcc 12 makes some in spite of -ffp-contract=off (its pattern for alternating
# sums and differences, quat_mul), and results would depend on where the program was built. scripts/check_bits.sh looks.
ifeq ($(shell uname -m),x86_64)
  UNFUSED := -mno-fma -mno-fma4 -mno-avx512vl
endif
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
FUZZ_SECONDS ?= 600
# Builds and tests at a time.
JOBS ?= $(shell nproc)
TEST_JOBS ?= 2

ifeq ($(origin CC),default)
  CC := gcc
endif
OBJCOPY := objcopy

, := ,

# ---------------------------------------------------------------- flags

WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wdouble-promotion
# No implicit contraction: one source gives the same bits at every optimisation level. Never -ffast-math.
# Code that can stand in libsdrs.so, of which only src/library/sdrs.h is seen: one set of objects for it and the program.
COMMON_FLAGS := -std=c17 -D_GNU_SOURCE -ffp-contract=off -fPIC -fvisibility=hidden

release_FLAGS := -O3 $(ARCH) $(UNFUSED) -fopenmp -DNDEBUG
check_FLAGS   := -O3 $(ARCH) $(UNFUSED) -fopenmp
debug_FLAGS   := -O1 -g -fopenmp
asan_FLAGS    := -O1 -g -fopenmp -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
readers_FLAGS := $(subst -g ,,$(asan_FLAGS))
tsan_FLAGS    := -O1 -g -fopenmp -fsanitize=thread
arm64_FLAGS   := -O3 -fopenmp -DNDEBUG --sysroot=out/arm64
fuzz_FLAGS    := -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all

# -Werror is no part of the recorded flags: it changes no object, so switching it rebuilds nothing.
ifeq ($(FLAVOUR),fuzz)
  CC := clang
  WARNINGS := -Wall -Wextra
else ifeq ($(FLAVOUR),arm64)
  CC := aarch64-linux-gnu-gcc
  OBJCOPY := aarch64-linux-gnu-objcopy
else ifneq ($(filter check,$(FLAVOUR))$(filter 1,$(WERROR)),)
  WERROR_FLAG := -Werror
endif

# `make MPI=1`: sdrs optimize and identify spread runs over the processes of mpirun. One file knows it, src/base/processes.c: all
# other objects are those of the program without.
ifeq ($(MPI),1)
  MPI_LIBS := $(shell pkg-config --libs ompi-c)
  ifeq ($(MPI_LIBS),)
    $(error no OpenMPI: scripts/deps.sh mpi)
  endif
endif

FLAGS := $(strip $(COMMON_FLAGS) $($(FLAVOUR)_FLAGS) $(CFLAGS))
# The sources of tests are compiled quickly: what they judge is compiled as users have it. The unit tests of COLD_TESTS compute
# little themselves, and compile in 40 % of the time without optimization.
TEST_FLAGS := -O1
COLD_TEST_FLAGS := -O0
COLD_TESTS := app ask base control export identify joint library model optimize page render robot run scene simulate view
LDLIBS := -lyaml -lcjson -lexpat -lz -lqhull_r -lglpk -lamd -lsleef -lm
# LAPACKE with the reference LAPACK and BLAS, into src/linalg/dense.o, under local names: what the program computes with them is
# the same on every processor, whatever BLAS is installed or loaded.
LAPACK := -l:liblapacke.a -l:lapack/liblapack.a -l:blas/libblas.a
# What the tests compare with, and are made with.
TEST_LDLIBS := -llapacke -lopenblas -lzip -lcmocka
# Test programs are linked by gold where it is installed, in 60 % of the time; users' files by the compiler's own choice.
TEST_LDFLAGS := $(if $(filter x86_64,$(shell uname -m)),$(if $(shell command -v ld.gold),-fuse-ld=gold))

# ---------------------------------------------------------------- files

BUILD := out/build/$(FLAVOUR)
MPI_OBJECT := $(if $(MPI_LIBS),$(BUILD)/processes-mpi.o)

# Folders that read files and text of users, or hold the memory they are read into.
READERS := base geometry scene control robot run export ask
SOURCES := $(wildcard src/*/*.c)

# The flavours check, readers, asan and tsan compile sources in groups (scripts/make_units.py), in half of the time; ALONE stay those with flags
# of their own, those that are linked or left out by name, and those that tests/door compile anew.
ALONE := $(wildcard src/library/*.c) src/linalg/dense.c src/shapes/field_many.c src/contact/friction.c \
  src/query/growth_derivatives.c src/page/template.c src/base/processes.c \
  src/contact/laws.c src/joint/joint.c src/scene/read_joint.c src/scene/schema_table.c \
  tests/unit/identify/test_processes.c tests/unit/base/test_memory.c
UNIT_FOLDER := out/build/units
GROUPED :=
UNITS :=
ifneq ($(filter check readers asan tsan,$(FLAVOUR)),)
  GROUPED := $(filter-out $(ALONE),$(SOURCES) $(wildcard tests/unit/*/test_*.c tests/gradient/test_*.c tests/property/test_*.c \
    tests/determinism/test_*.c))
  include $(UNIT_FOLDER)/units.mk
  SOURCES := $(filter $(ALONE),$(SOURCES)) $(filter $(UNIT_FOLDER)/src/%,$(UNITS))
endif
# objects FLAVOUR,SOURCE...
objects = $(patsubst out/build/%.c,out/build/$(1)/%.o,$(filter out/%,$(2))) $(patsubst %.c,out/build/$(1)/%.o,$(filter-out out/%,$(2)))

ifeq ($(FLAVOUR),readers)
  READER_SOURCES := $(filter $(READERS:%=src/%/%) $(READERS:%=$(UNIT_FOLDER)/src/%/%),$(SOURCES))
  OBJECTS := $(call objects,readers,$(READER_SOURCES)) $(call objects,check,$(filter-out $(READER_SOURCES),$(SOURCES)))
  TEST_BUILD := out/build/check
else
  OBJECTS := $(call objects,$(FLAVOUR),$(SOURCES))
  TEST_BUILD := $(BUILD)
endif
SUPPORT_OBJECTS := $(patsubst %.c,$(TEST_BUILD)/%.o,$(wildcard tests/support/*.c))

# The program goes to the root only in the flavour that users run.
PROGRAM := $(if $(filter release,$(FLAVOUR)),sdrs,$(BUILD)/sdrs)

# The library, in the flavour that users run in a place of its own: there other languages look for it.
# Before 1.0 a minor version may change the ABI: 0.MINOR. tests/library/abi says what must not change under one soname.
VERSION_PARTS := $(subst ., ,$(VERSION))
SOVERSION := $(if $(filter 0,$(firstword $(VERSION_PARTS))),0.$(word 2,$(VERSION_PARTS)),$(firstword $(VERSION_PARTS)))
LIB := $(if $(filter release,$(FLAVOUR)),out/lib,$(BUILD)/lib)
SHARED := $(LIB)/libsdrs.so.$(VERSION)
LIBRARY_FILES := $(SHARED) $(LIB)/libsdrs.so.$(SOVERSION) $(LIB)/libsdrs.so $(LIB)/libsdrs.a $(LIB)/sdrs.pc
LIBRARY_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard src/library/*.c))

# The tests of a folder are one program, tests/<folder>/tests; each test is a link to it, which chooses by its name.
test_programs = $(patsubst %.c,$(BUILD)/%,$(wildcard $(1)))
UNIT_TESTS := $(call test_programs,tests/unit/*/test_*.c)
READER_TESTS := $(call test_programs,$(READERS:%=tests/unit/%/test_*.c))
OTHER_TESTS := $(call test_programs,tests/gradient/test_*.c tests/property/test_*.c tests/determinism/test_*.c)
LONG_TESTS := $(call test_programs,tests/long/test_*.c)
TESTS := $(UNIT_TESTS) $(OTHER_TESTS) $(LONG_TESTS)
# Tests that put functions of their own in place of the program's.
LONE_TESTS := $(BUILD)/tests/unit/identify/test_processes
# Tests that ask which sanitizer they are compiled with.
AWARE_TESTS := $(BUILD)/tests/unit/base/test_memory
JOINED_TESTS := $(filter-out $(LONE_TESTS),$(TESTS))
RUNNERS := $(sort $(addsuffix tests,$(dir $(JOINED_TESTS))))
FUZZERS := $(call test_programs,tests/fuzz/fuzz_*.c)

# The other flavours' tests, by the names they have there.
in_flavour = $(patsubst $(BUILD)/%,out/build/$(1)/%,$(2))
# Scripts are tests too, when they are there.
script_if_there = $(if $(wildcard $(firstword $(1))),"$(1)")

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules
ifeq ($(MAKELEVEL),0)
  ifeq ($(filter -j%,$(MAKEFLAGS)),)
    MAKEFLAGS += -j$(JOBS)
  endif
endif

# ---------------------------------------------------------------- targets

.PHONY: all demo check check-all check-asan check-tsan golden bench lint format fuzz install install-library deb wheel packages site clean help
.PHONY: build-check page program library tests unit-tests reader-tests other-tests long-tests fuzzers FORCE

all: program library ## build ./sdrs and the library in out/lib/ (release)

demo: ## install what is missing, build, simulate and optimize shipped scenes and draw them
	@scripts/deps.sh build
	@$(MAKE) --no-print-directory FLAVOUR=release program
	./sdrs simulate scenes/slide.yaml
	./sdrs simulate scenes/spider.yaml
	./sdrs render out/spider -o out/demo.png --trail 5
	./sdrs optimize scenes/tasks/throw.yaml
	./sdrs optimize scenes/tasks/pinch.yaml
	./sdrs simulate out/pinch/best.scene.yaml -o out/pinch/best
	./sdrs render out/pinch/best -o out/demo-design.png --strip 4
	@echo "The runs are in out/slide and out/spider (trajectory.csv, joints.csv, contacts.csv, solver.csv, summary.json),"
	@echo "a picture of the second in out/demo.png; the designs in out/throw and out/pinch (convergence.csv, design/,"
	@echo "best.scene.yaml), a picture of the fingers found in out/demo-design.png."
	@echo "More scenes: ls scenes scenes/tasks; what else sdrs does: ./sdrs --help"

check: ## install what is missing, build, test: what every change must pass; ends with `N passed, N failed`
	+@TEST_JOBS=$(TEST_JOBS) scripts/check.sh

check-all: ## everything: `make check` with its long cases, all sanitizers, long tests, fuzzers (FUZZ_SECONDS), lint of all files
	+@TEST_JOBS=$(TEST_JOBS) FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/check.sh --all

# What `make check` builds, each of these by a make of its own: scripts/check.sh counts their time.
build-check:
	@scripts/deps.sh check
	@scripts/make_page.sh --fetch
	@$(MAKE) --no-print-directory FLAVOUR=check program library unit-tests other-tests long-tests
	@$(MAKE) --no-print-directory FLAVOUR=readers reader-tests fuzzers

check-asan: ## every test program under the address and undefined-behaviour sanitizers
	@scripts/deps.sh check
	@$(MAKE) --no-print-directory FLAVOUR=asan unit-tests other-tests
	@tests/run.sh -j $(TEST_JOBS) -t 1800 $(call in_flavour,asan,$(OTHER_TESTS) $(UNIT_TESTS))

check-tsan: ## every test program under the thread sanitizer
	@scripts/deps.sh check
	@$(MAKE) --no-print-directory FLAVOUR=tsan unit-tests other-tests
	@tests/run.sh -j $(TEST_JOBS) -t 1800 $(call in_flavour,tsan,$(OTHER_TESTS) $(UNIT_TESTS))

fuzz: ## every fuzzer for FUZZ_SECONDS (600) each; findings go to out/fuzz/
	@scripts/deps.sh check
	@$(MAKE) --no-print-directory FLAVOUR=fuzz fuzzers
	@FUZZ_SECONDS=$(FUZZ_SECONDS) tests/run.sh -j $(TEST_JOBS) -t $$(($(FUZZ_SECONDS) + 300)) \
	  $(foreach fuzzer,$(call in_flavour,fuzz,$(FUZZERS)),"tests/fuzz/run.sh $(fuzzer)")

page: ## put in the page of sdrs render -o x.html and --view: npm fetches three.js for it, once
	@scripts/deps.sh page
	@scripts/make_page.sh --fetch
	@$(MAKE) --no-print-directory program

golden: program ## renew the stored results after a wanted change; look at the difference before keeping it
	scripts/update_golden.sh

bench: program ## time kernels, steps and growth with the number of bodies, to out/bench/*.csv
	@mkdir -p out/bench
	./sdrs bench pair | tee out/bench/pair.csv
	./sdrs bench step scenes/stack.yaml | tee out/bench/step.csv
	./sdrs bench scale | tee out/bench/scale.csv

lint: $(BUILD)/version.h $(BUILD)/method.h ## layout, static analysis, include order
	@scripts/deps.sh check
	@scripts/lint.sh

format: ## lay out all C sources and headers
	clang-format -i $(wildcard src/*.c src/*/*.[ch] tests/*/*.[ch] tests/*/*/*.[ch])

SHARE := $(DESTDIR)$(PREFIX)/share
SWEEP_SCRIPTS := $(addprefix scripts/,sweep.sh sweep_plan.py sweep_inputs.py collect.py)
# Manual pages and completions are printed by the program itself, from the tables of its help and its formats. They go to
# a folder of their own first: a program that fails leaves no empty page behind.
install: program install-library ## install to PREFIX (/usr/local), below DESTDIR
	@mkdir -p out/install
	./$(PROGRAM) help --man >out/install/sdrs.1
	./$(PROGRAM) schema scene --man >out/install/sdrs-scene.5
	./$(PROGRAM) schema task --man >out/install/sdrs-task.5
	./$(PROGRAM) help --bash >out/install/sdrs
	./$(PROGRAM) help --zsh >out/install/_sdrs
	install -D -m 755 $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/sdrs
	install -D -m 644 out/install/sdrs.1 $(SHARE)/man/man1/sdrs.1
	install -D -m 644 out/install/sdrs-scene.5 $(SHARE)/man/man5/sdrs-scene.5
	install -D -m 644 out/install/sdrs-task.5 $(SHARE)/man/man5/sdrs-task.5
	install -D -m 644 out/install/sdrs $(SHARE)/bash-completion/completions/sdrs
	install -D -m 644 out/install/_sdrs $(SHARE)/zsh/site-functions/_sdrs
	install -D -m 644 LICENSE $(SHARE)/doc/sdrs/LICENSE
	install -D -m 644 /usr/share/doc/fonts-dejavu-core/copyright $(SHARE)/doc/sdrs/LICENSE.DejaVu
	install -D -m 644 /usr/share/doc/liblapack-dev/copyright $(SHARE)/doc/sdrs/LICENSE.LAPACK
	install -D -m 644 CITATION.cff $(SHARE)/doc/sdrs/CITATION.cff
	install -D -m 644 README.md $(SHARE)/doc/sdrs/README.md
	for page in docs/*.md docs/derivations/*.md; do install -D -m 644 "$$page" "$(SHARE)/doc/sdrs/$$page" || exit 1; done
	for schema in docs/*.schema.json; do install -D -m 644 "$$schema" "$(SHARE)/sdrs/schemas/$${schema#docs/}" || exit 1; done
	for script in $(SWEEP_SCRIPTS); do install -D -m 755 "$$script" "$(SHARE)/sdrs/$$script" || exit 1; done

deb: ## Debian packages of program, library, its development files and the Python package, in out/; built for every processor of the family
	@scripts/make_page.sh --fetch
	@$(MAKE) --no-print-directory ARCH= program library
	+@ARCH= scripts/make_deb.sh $(VERSION)

wheel: ## a Python wheel with the library, the program and all that they need, in out/; built for every processor of the family
	@scripts/make_page.sh --fetch
	@$(MAKE) --no-print-directory ARCH= program library
	+@ARCH= scripts/make_wheel.sh out

packages: ## the Debian packages and the wheel, in out/; one after the other, since both build the same objects
	+@$(MAKE) --no-print-directory deb
	+@$(MAKE) --no-print-directory wheel

release: packages site ## source archive, packages and site of the commit, each checked outside of the checkout
	@scripts/make_release.sh $(VERSION)
	@ARCH= SDRS_LONG=1 tests/packages/run.sh

site: ## the documentation as static pages with a search, in out/site/
	@scripts/deps.sh site
	@scripts/make_site.py

install-library: library ## the library alone: header, and in LIBDIR (PREFIX/lib) libsdrs.so, libsdrs.a, sdrs.pc
	install -D -m 644 src/library/sdrs.h $(DESTDIR)$(PREFIX)/include/sdrs.h
	install -D -m 755 $(SHARED) $(DESTDIR)$(LIBDIR)/libsdrs.so.$(VERSION)
	ln -sf libsdrs.so.$(VERSION) $(DESTDIR)$(LIBDIR)/libsdrs.so.$(SOVERSION)
	ln -sf libsdrs.so.$(VERSION) $(DESTDIR)$(LIBDIR)/libsdrs.so
	install -D -m 644 $(LIB)/libsdrs.a $(DESTDIR)$(LIBDIR)/libsdrs.a
	sed -e 's|^prefix=.*|prefix=$(PREFIX)|' -e 's|^libdir=.*|libdir=$(patsubst $(PREFIX)/%,$${prefix}/%,$(LIBDIR))|' $(LIB)/sdrs.pc >$(LIB)/sdrs.pc~
	install -D -m 644 $(LIB)/sdrs.pc~ $(DESTDIR)$(LIBDIR)/pkgconfig/sdrs.pc && rm $(LIB)/sdrs.pc~

clean: ## remove everything built; runs and pictures in out/ stay
	rm -rf out/build out/tests out/lib sdrs

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | column -t -s '|'

# The empty recipe keeps make from saying that there was nothing to do.
program: $(PROGRAM)
	@:
library: $(LIBRARY_FILES)
	@:
unit-tests: $(UNIT_TESTS)
	@:
reader-tests: $(READER_TESTS)
	@:
other-tests: $(OTHER_TESTS)
	@:
long-tests: $(LONG_TESTS)
	@:
tests: $(TESTS)
	@:
fuzzers: $(FUZZERS)
	@:

# ---------------------------------------------------------------- rules

# One short line a step; `make V=1` shows the commands.
ifneq ($(V),1)
  SHORT = @echo "  $(1) $@";
endif

COMPILER = $(CC) $(FLAGS) $(WARNINGS) $(WERROR_FLAG) -Isrc -I$(BUILD) -MMD -MP
COMPILE = $(call SHORT,CC) $(COMPILER) -c $< -o $@
# A name at file scope may be a local one in another source of the unit. The object goes first: after an error its list of
# dependencies is incomplete, and it would count as up to date.
COMPILE_UNIT = $(call SHORT,CC) rm -f $@; $(COMPILER) $(1) -Wno-shadow -Wshadow=local -I. -c $< -o $@ 2>$(@:.o=.log) || scripts/compile_apart.sh $< $@ $(COMPILER) $(1)

$(BUILD)/src/%.o: src/%.c $(BUILD)/flags | $(BUILD)/version.h $(BUILD)/method.h out/build/libraries
	@mkdir -p $(@D)
	$(COMPILE)

$(BUILD)/units/src/%.o: $(UNIT_FOLDER)/src/%.c $(BUILD)/flags | $(BUILD)/version.h $(BUILD)/method.h out/build/libraries
	@mkdir -p $(@D)
	$(COMPILE_UNIT)

$(BUILD)/units/tests/%.o: $(UNIT_FOLDER)/tests/%.c $(BUILD)/flags | out/build/libraries
	@mkdir -p $(@D)
	$(call COMPILE_UNIT,$(if $(filter $(COLD_TESTS:%=$(BUILD)/units/tests/unit/%/),$(@D)/),$(COLD_TEST_FLAGS),$(TEST_FLAGS)) -Itests)

$(UNIT_FOLDER)/units.mk: $(GROUPED) $(UNIT_FOLDER)/list scripts/make_units.py Makefile
	@scripts/make_units.py $(UNIT_FOLDER) $(GROUPED) && touch $@

$(UNIT_FOLDER)/list: FORCE
	$(call write_if_changed,$(GROUPED))

$(BUILD)/src/linalg/dense.o: src/linalg/dense.c $(BUILD)/flags | out/build/libraries
	@mkdir -p $(@D)
	$(COMPILE)
	@$(CC) $(filter --sysroot=%,$(FLAGS)) -r -nostdlib $@ $(LAPACK) -o $@~ && $(OBJCOPY) --wildcard --keep-global-symbol='dense_*' $@~ $@ && rm $@~

# The flavour check compiles in half of the time what reads, writes and draws, since no run waits for it; the bits are the same.
COLD := app ask control export identify model optimize page robot run scene view
ifeq ($(FLAVOUR),check)
  $(filter $(COLD:%=$(BUILD)/src/%/%) $(COLD:%=$(BUILD)/units/src/%/%),$(OBJECTS)): private FLAGS += -O1
endif

# Square roots of several numbers at a time: with errno they would be taken one by one.
$(BUILD)/src/shapes/field_many.o $(BUILD)/src/contact/friction.o: private FLAGS += -fno-math-errno
# One long formula, ordered by gcc as it waits least (6 %); the bits are the same.
ifeq ($(findstring clang,$(CC)),)
  $(BUILD)/src/query/growth_derivatives.o: private FLAGS += -fno-math-errno -fschedule-insns -fsched-pressure
endif

# gcc 12.2 for arm64 fails on reductions there (internal error in vect_transform_reduction).
ifeq ($(FLAVOUR),arm64)
  $(BUILD)/src/optimize/step_ball.o $(BUILD)/src/simulate/closures.o: private FLAGS += -fno-tree-vectorize
endif

$(JOINED_TESTS:=.o): private FLAGS += -Dmain=main_of_$(basename $(@F))
$(BUILD)/tests/%.o: tests/%.c $(BUILD)/flags | out/build/libraries
	@mkdir -p $(@D)
	$(COMPILE) $(TEST_FLAGS) -Itests

$(BUILD)/processes-mpi.o: src/base/processes.c $(BUILD)/flags
	$(COMPILE) -DSDRS_MPI $(patsubst -I%,-isystem %,$(shell pkg-config --cflags-only-I ompi-c))

# Made anew each time, so that nothing stays in it of a source that is gone.
$(BUILD)/libsdrs.a: $(OBJECTS) $(BUILD)/objects
	@rm -f $@
	$(call SHORT,AR) ar rcs $@ $(OBJECTS)

# ./sdrs is linked anew when it was another: with MPI, or without.
$(PROGRAM): $(BUILD)/src/main.o $(MPI_OBJECT) $(BUILD)/libsdrs.a $(if $(filter sdrs,$(PROGRAM)),out/build/origin)
	$(call SHORT,LD) $(CC) $(FLAGS) $(LDFLAGS) $(BUILD)/src/main.o $(MPI_OBJECT) $(BUILD)/libsdrs.a $(LDLIBS) $(MPI_LIBS) -o $@

# What is not asked for from src/library/ down stays out. Nothing but sdrs_ is seen: the objects are hidden, and the static
# library is one object whose other names are local.
$(SHARED): $(LIBRARY_OBJECTS) $(BUILD)/libsdrs.a
	@mkdir -p $(@D)
	$(call SHORT,LD) $(CC) $(FLAGS) -shared -Wl,-soname,libsdrs.so.$(SOVERSION) -Wl,--as-needed -Wl,--exclude-libs,ALL \
	  $(if $(filter release check,$(FLAVOUR)),-Wl$(,)-z$(,)defs) $(LDFLAGS) $(LIBRARY_OBJECTS) $(BUILD)/libsdrs.a $(LDLIBS) -o $@

$(LIB)/libsdrs.so.$(SOVERSION) $(LIB)/libsdrs.so: $(SHARED)
	@ln -sf libsdrs.so.$(VERSION) $@

$(LIB)/libsdrs.a: $(LIBRARY_OBJECTS) $(BUILD)/libsdrs.a
	@mkdir -p $(@D) && rm -f $@
	$(call SHORT,AR) ld -r $(LIBRARY_OBJECTS) $(BUILD)/libsdrs.a -o $(BUILD)/libsdrs.o && \
	  objcopy --localize-hidden $(BUILD)/libsdrs.o && ar rcs $@ $(BUILD)/libsdrs.o

$(LIB)/sdrs.pc: FORCE
	$(call write_if_changed,'prefix=$(PREFIX)' 'libdir=$${prefix}/lib' 'includedir=$${prefix}/include' '' 'Name: sdrs' \
	  'Description: simulator and optimizer of robots with exact gradients' 'Version: $(VERSION)' \
	  'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -lsdrs' 'Libs.private: -fopenmp $(LDLIBS)')

LINK_TESTS = $(call SHORT,LD) $(CC) $(FLAGS) $(LDFLAGS) $(TEST_LDFLAGS) $^ $(LDLIBS) $(TEST_LDLIBS) -o $@

# A folder's tests and the objects that they are made of.
tests_in = $(filter $(1)/test_%,$(JOINED_TESTS))
tests_alone = $(filter-out $(GROUPED:%.c=$(BUILD)/%),$(1))
test_objects = $(addsuffix .o,$(filter $(AWARE_TESTS),$(1)) $(patsubst $(BUILD)/%,$(TEST_BUILD)/%,$(filter-out $(AWARE_TESTS),$(call tests_alone,$(1)))))
test_units = $(patsubst $(UNIT_FOLDER)/%.c,$(TEST_BUILD)/units/%.o,$(filter $(patsubst $(BUILD)/%,$(UNIT_FOLDER)/%/%,$(1)),$(UNITS)))

ifeq ($(FLAVOUR),readers)
out/build/check/%.o:
	@echo "make: $@ is missing: make FLAVOUR=check unit-tests" >&2; exit 1
endif

.SECONDEXPANSION:
$(RUNNERS): %/tests: %/tests.c $$(call test_objects,$$(call tests_in,$$*)) $$(call test_units,$$*) $(SUPPORT_OBJECTS) $(BUILD)/libsdrs.a
	$(LINK_TESTS)

$(LONE_TESTS): $(BUILD)/%: $(TEST_BUILD)/%.o $(SUPPORT_OBJECTS) $(BUILD)/libsdrs.a
	$(LINK_TESTS)

$(JOINED_TESTS): $$(@D)/tests
	@ln -sf tests $@

$(RUNNERS:=.c): %/tests.c: FORCE
	$(call write_if_changed,'#include <stdio.h>' '#include <string.h>' $(foreach test,$(notdir $(call tests_in,$*)),'int main_of_$(test)(void);') \
	  'int main(int count, char** words) {' '  const char* name = count > 0 ? words[0] : "";' \
	  '  if (strrchr(name, 47)) name = strrchr(name, 47) + 1;' \
	  $(foreach test,$(notdir $(call tests_in,$*)),'  if (strcmp(name, "$(test)") == 0) return main_of_$(test)();') \
	  '  fprintf(stderr, "%s: no test of this name\n", name);' '  return 2;' '}')

# In other flavours than fuzz a target runs its files alone.
ifeq ($(FLAVOUR),fuzz)
  FUZZ_FLAGS := -fsanitize=fuzzer
else
  REPLAY := $(BUILD)/tests/fuzz/replay.o
endif
$(FUZZERS): %: %.o $(REPLAY) $(BUILD)/libsdrs.a
	$(call SHORT,LD) $(CC) $(FLAGS) $(FUZZ_FLAGS) $(LDFLAGS) $(TEST_LDFLAGS) $^ $(LDLIBS) -o $@

# The page of `sdrs render -o x.html`, one for all flavours; an empty file until `make page` has fetched what it is made of.
# Made again when its sources change, or what it is made of or by comes or goes.
PAGE := out/build/page/page.html
$(PAGE): $(wildcard src/page/viewer/*) scripts/make_page.sh out/build/page/programs
	@scripts/make_page.sh $@

$(BUILD)/src/page/template.o: $(PAGE)

src/main.c:
	@echo "make: src/main.c is missing: the program cannot be built (the tests can: make tests)" >&2; exit 1

# Files below are rewritten only when their content changes, so what depends on them is rebuilt only then.
write_if_changed = @mkdir -p $(@D); printf '%s\n' $(1) | cmp -s - $@ || printf '%s\n' $(1) > $@

$(BUILD)/flags: FORCE
	$(call write_if_changed,'$(CC) $(FLAGS) $(WARNINGS) tests: $(TEST_FLAGS) $(COLD_TEST_FLAGS)')

out/build/origin: FORCE
	$(call write_if_changed,$(BUILD)$(MPI_OBJECT))

out/build/page/programs: FORCE
	$(call write_if_changed,"$$(command -v node) $$(cksum 2>/dev/null <out/node/page/installed)")

$(BUILD)/objects: FORCE
	$(call write_if_changed,$(OBJECTS))

COMMIT = $(shell git describe --always --dirty --abbrev=12 --exclude '*' 2>/dev/null || cat COMMIT 2>/dev/null || echo unknown)
$(BUILD)/version.h: FORCE
	$(call write_if_changed,'#define SDRS_VERSION "$(VERSION)"' '#define SDRS_COMMIT "$(COMMIT)"' \
	  '#define SDRS_FLAVOUR "$(FLAVOUR)"' '#define SDRS_BUILD_FLAGS "$(CC) $(FLAGS)"')

# What hulls kept in files were made by: other sources find other files (src/decompose/cache.c).
METHOD = $(shell cat src/base/*.[ch] src/linalg/*.[ch] src/geometry/*.[ch] src/decompose/*.[ch] | sha256sum | cut -c 1-64)
$(BUILD)/method.h: FORCE
	$(call write_if_changed,'#define METHOD_DIGEST "$(METHOD)"')

# Looked for once; a missing one is named instead of a page of compiler messages.
out/build/libraries: scripts/deps.sh
	@mkdir -p $(@D)
	@scripts/deps.sh --look build
	@touch $@

FORCE:

-include $(patsubst %.o,%.d,$(filter $(BUILD)/%,$(OBJECTS) $(SUPPORT_OBJECTS)) $(BUILD)/src/main.o) $(addsuffix .d,$(TESTS) $(FUZZERS)) \
  $(patsubst $(UNIT_FOLDER)/%.c,$(TEST_BUILD)/units/%.d,$(filter $(UNIT_FOLDER)/tests/%,$(UNITS)))
