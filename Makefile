# SPDX-License-Identifier: GPL-2.0
# For people; kbuild reads Kbuild.
#
# Use
#   make           the module and the tc plugin, for the running kernel
#   make install   both, zrtt-mon, zrtt-check, zrtt-link; needs libnl-3-dev libncurses-dev
#                  libmicrohttpd-dev
#   make uninstall       removes what any install target installed; disable units first
#   make agent install-agent        the agent for senders, its man page and systemd unit;
#                  needs clang, bpftool, libbpf-dev
#   make monitor install-monitor    zrtt-mon alone, with systemd units and dashboard;
#                  docs/monitoring.md
#   make cc install-cc              the congestion controls libra, nrhstcp, exp and
#                  prague, with a man page; docs/endpoints.md
#   make install-sqm     zrtt.qos, for sqm-scripts; docs/recipes.md
#   make install-ifupdown           hooks that set up zrtt as /etc/network/interfaces says
#   make install-kubernetes         the manifest for Kubernetes
#
# Develop
#   make demo      zrtt beside its rivals: a table, a picture (out/); 2 min
#   make check     after each change: what needs no guest; 20 s, installs nothing
#   make test      installs what it needs, runs all tests, in guests; 30 min
#   make fuzz      10^8 inputs to each fuzzer, on all processors (out/fuzz/)
#   make matrix    builds with gcc and clang for 6.1, 6.12 and 7.x; functional tests on 7.x;
#                  clocks at HZ=100, 250 and 1000
#   make stress    half an hour of faults, garbage and storms on a kernel with sanitizers
#   make tdc       the kernel's own test suite: zrtt's cases, and codel's and fq_codel's
#   make module-life     1,000 loads, and links and namespaces that go, under traffic
#   make clean
#
# Measure
#   make bench     instructions and time per packet in zrtt and its rivals, and memory (out/bench/)
#   make bench-check     fails if zrtt takes over 3 % more instructions than it did
#   make conservation    10 million packets: each must be accounted for
#   make flood     a million spoofed flows: others must hardly notice
#   make long-run  24 hours of virtual time: nothing may drift (out/longrun.json)
#
# Package
#   make deb       packages for Debian (out/deb/); docs/packages.md
#   make deb-check       upgrades of kernel and packages, in a Debian 12 of its own
#
# Variables
#   KDIR=...       kernel headers to build against   (running kernel's)
#   DESTDIR=...    root to install into
#   PREFIX=...     place of programs and man pages (/usr/local)
#   ARGS=...       of check and test: folders or files of tests/, options of pytest

PYTHON ?= /usr/bin/python3
KDIR ?= /lib/modules/$(shell uname -r)/build
DESTDIR ?=
# Each make -C would take it from a folder of its own.
override DESTDIR := $(abspath $(DESTDIR))
PREFIX ?= /usr/local
MANDIR ?= $(PREFIX)/share/man
PLACES = DESTDIR=$(DESTDIR) PREFIX=$(PREFIX) MANDIR=$(MANDIR)

# Oldest kernel that the module is built and tested for.
KERNEL_MIN := 6.1

DEB_PACKAGES := build-essential debhelper dh-dkms bpftool clang libbpf-dev libnl-3-dev libncurses-dev \
	libmicrohttpd-dev pkgconf
MODULES := sch_zrtt tcp_libra tcp_nrhstcp tcp_exp tcp_prague
KBUILD_LEAVES := *.o *.ko *.mod *.mod.c .*.cmd .*.o Module.symvers modules.order
# depmod is not kbuild's to run: it may be another kernel's, or that of no kernel at all.
INSTALL_MODULES = $(MAKE) -C $(KDIR) $(if $(DESTDIR),INSTALL_MOD_PATH=$(DESTDIR)) DEPMOD=true \
	modules_install
# Where modules_install puts them. "make kernelrelease" says 6.1.192 of Debian's 6.1.0-56-amd64.
RELEASE = $(shell sed -n 's/^.define UTS_RELEASE "\(.*\)"/\1/p' \
	$(KDIR)/include/generated/utsrelease.h)
CC_MAN := $(DESTDIR)$(MANDIR)/man7/tcp_prague.7
MODULE_TREES := $(DESTDIR)/lib/modules
INSTALLED_MODULES = $(wildcard $(foreach folder,updates extra $(INSTALL_MOD_DIR), \
	$(MODULES:%=$(MODULE_TREES)/*/$(folder)/%.ko*)))
release_of = $(firstword $(subst /, ,$(1:$(MODULE_TREES)/%=%)))
# For one release. Where its kernel is not installed (yet), as while an image is made, there
# is nothing to find out, and installing the kernel will do it.
depmod = if [ -e $(MODULE_TREES)/$(1)/modules.order ]; then \
	depmod $(if $(DESTDIR),-b $(DESTDIR)) $(1); fi
# A tarball has no list of its files.
LIST_SOURCES = $(if $(wildcard .git),git ls-files -z,find . -path ./out -prune -o -type f -print0)

.PHONY: all modules plugin agent monitor user cc demo check test bench bench-check fuzz conservation \
	flood long-run stress tdc module-life install install-module install-plugin install-tools \
	install-monitor install-sqm install-ifupdown install-kubernetes install-agent install-user \
	install-cc uninstall deb deb-check matrix clean check-kernel help

all: modules plugin

modules: check-kernel
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

plugin:
	$(MAKE) -C tc-plugin

agent:
	$(MAKE) -C agent

monitor:
	$(MAKE) -C monitor

# All that is no kernel's.
user: plugin monitor agent

cc: check-kernel
	$(MAKE) -C $(KDIR) M=$(CURDIR)/endpoints modules

demo:
	@lab/setup.sh
	$(PYTHON) -m lab demo

check:
	@$(MAKE) --no-print-directory -C tests quick

test:
	$(MAKE) -C tests

bench:
	@lab/setup.sh
	$(PYTHON) -m lab bench --json out/bench/counted.json --plot out/bench/counted.svg
	$(PYTHON) -m lab bench --kernel uml --json out/bench/native.json --plot out/bench/native.svg
	$(PYTHON) -m lab bench --memory --json out/bench/memory.json

bench-check:
	@lab/setup.sh
	$(PYTHON) -m lab bench --check lab/bench/baseline.json

fuzz:
	$(MAKE) -C tests setup
	$(MAKE) -C tests/fuzz -j$(shell nproc) -Otarget SHARDS=$(shell nproc) \
		RUNS=100000000

conservation:
	$(MAKE) -C tests ARGS=conservation CONSERVATION_PACKETS=10000000

flood:
	@lab/setup.sh
	$(PYTHON) -m lab flood --duration 493
	$(PYTHON) -m lab flood --cost --packets 1000000

long-run:
	@lab/setup.sh
	$(PYTHON) -m lab longrun --json out/longrun.json

stress:
	@lab/setup.sh nftables
	$(PYTHON) -m lab stress

tdc:
	@lab/setup.sh python3-pyroute2
	$(PYTHON) -m lab tdc --kernel 6.1 --kernel 6.12 --kernel uml

module-life:
	$(MAKE) -C tests ARGS=functional/test_life.py MODULE_LOADS=1000

install: install-module install-plugin install-tools

install-module: modules
	$(INSTALL_MODULES) M=$(CURDIR)
	$(call depmod,$(RELEASE))

install-plugin:
	$(MAKE) -C tc-plugin install $(PLACES)

install-monitor:
	$(MAKE) -C monitor install $(PLACES)

install-tools: install-monitor
	$(MAKE) -C router install $(PLACES)

# Apart, as few systems have what they belong to.
install-sqm install-ifupdown install-kubernetes:
	$(MAKE) -C router $@ $(PLACES)

# Apart, as senders need no module and routers no agent.
install-agent:
	$(MAKE) -C agent install $(PLACES)

install-user: install-plugin install-tools install-agent

install-cc: cc
	$(INSTALL_MODULES) M=$(CURDIR)/endpoints
	install -D -m 644 endpoints/tcp_prague.7 $(CC_MAN)
	$(call depmod,$(RELEASE))

# Of all kernels: they were installed for the one that KDIR was then.
uninstall:
	rm -f $(INSTALLED_MODULES) $(CC_MAN)
	$(foreach release,$(sort $(foreach file,$(INSTALLED_MODULES),$(call release_of,$(file)))), \
		$(call depmod,$(release)) &&) true
	$(foreach part,tc-plugin monitor router agent,$(MAKE) -C $(part) uninstall $(PLACES) &&) true

deb:
	@lab/setup.sh --only $(DEB_PACKAGES) $(if $(wildcard .git),git)
	rm -rf out/deb
	mkdir -p out/deb/source
	$(LIST_SOURCES) | tar --null --files-from=- --create --mtime="$$(dpkg-parsechangelog -SDate)" | \
		tar --extract --directory out/deb/source
	cd out/deb/source && DEB_BUILD_OPTIONS=noautodbgsym dpkg-buildpackage --build=binary --no-sign
	rm -rf out/deb/source

deb-check:
	$(MAKE) -C tests ARGS="packages packages/upgrade.py"

# Functional tests of the newest kernel, too: make test has those of the others, and clocks
# at HZ=250 only.
matrix:
	@lab/setup.sh clang-19
	$(PYTHON) -m lab matrix
	$(MAKE) -C tests ARGS="functional -k 7.x" KERNELS=7.x
	$(MAKE) -C tests ARGS="functional/test_clocks.py" HZ="100 250 1000"

clean:
	$(MAKE) -C tc-plugin clean
	rm -rf out $(KBUILD_LEAVES) $(addprefix endpoints/,$(KBUILD_LEAVES))

# A readable refusal instead of a page of compiler errors.
check-kernel:
	@release=$$($(MAKE) -s --no-print-directory -C $(KDIR) kernelrelease 2>/dev/null) || { \
		echo "sch_zrtt: no kernel headers in $(KDIR);" \
		     "install linux-headers-$$(uname -r) or give KDIR=..." >&2; exit 1; }; \
	oldest=$$(printf '%s\n' $(KERNEL_MIN) "$$release" | sort -V | head -n 1); \
	[ "$$oldest" = $(KERNEL_MIN) ] || { \
		echo "sch_zrtt: Linux $$release is too old;" \
		     "$(KERNEL_MIN) or newer is needed" >&2; exit 1; }

help:
	@sed -n '4,/^$$/s/^# \?//p' Makefile
