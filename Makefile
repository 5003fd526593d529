# SPDX-License-Identifier: GPL-2.0
# For people; kbuild reads Kbuild.
#
#   make demo      set up, build, and show ZRTT against its rivals (out/)
#   make test      set up, build, and run all tests
#   make           the module and the tc plugin, for the running kernel
#   make install   both, zrtt-mon, zrtt-check and the recipes; needs libnl-3-dev libncurses-dev
#                  libmicrohttpd-dev
#   make uninstall       all that any of these installs
#   make agent     the agent for senders; needs clang, bpftool, libbpf-dev
#   make install-agent   it, with its man page and systemd unit
#   make monitor   zrtt-mon, which shows what zrtt queues do; docs/monitoring.md
#   make install-monitor   it, with its man page, systemd units and dashboard
#   make cc        the congestion controls libra, nrhstcp and exp, for the running kernel
#   make install-cc      them; docs/endpoints.md
#   make bench     what a packet costs in ZRTT and its rivals, and memory (out/bench/)
#   make bench-check     fail if ZRTT takes over 3 % more instructions than it did
#   make fuzz      10^8 inputs to each fuzzer, on all processors (out/fuzz/)
#   make long-run  24 hours of virtual time: nothing may drift (out/longrun.json)
#   make conservation    10 million packets: each must be accounted for
#   make flood     a million spoofed flows: others must hardly notice
#   make stress    half an hour of what may break zrtt, on a kernel with sanitizers
#   make tdc       the kernel's own test suite: zrtt's cases, and codel's and fq_codel's
#   make module-life     1,000 loads, and links and namespaces that go, under traffic
#
#   make deb       packages for Debian (out/deb/); docs/packages.md
#   make deb-check       upgrades of kernel and packages, in a Debian 12 of its own
#   make matrix    builds with gcc and clang for 6.1, 6.12 and 7.x; functional tests on 7.x
#
# KDIR=...   kernel headers to build against   (running kernel's)
# DESTDIR=...  root to install into
# PREFIX=...   place of programs and man pages (/usr/local)

PYTHON ?= /usr/bin/python3
KDIR ?= /lib/modules/$(shell uname -r)/build
DESTDIR ?=
PREFIX ?= /usr/local
MANDIR ?= $(PREFIX)/share/man
PLACES = DESTDIR=$(DESTDIR) PREFIX=$(PREFIX) MANDIR=$(MANDIR)

# Oldest kernel that the module is built and tested for.
KERNEL_MIN := 6.1

DEB_PACKAGES := debhelper dh-dkms dpkg-dev bpftool clang libbpf-dev libnl-3-dev libncurses-dev \
	libmicrohttpd-dev pkgconf
MODULES := sch_zrtt tcp_libra tcp_nrhstcp tcp_exp
KBUILD_LEAVES := *.o *.ko *.mod *.mod.c .*.cmd .*.o Module.symvers modules.order
INSTALL_MODULES = $(MAKE) -C $(KDIR) $(if $(DESTDIR),INSTALL_MOD_PATH=$(DESTDIR)) modules_install

.PHONY: all modules plugin agent monitor user cc demo test bench bench-check fuzz conservation \
	flood long-run stress tdc module-life install install-plugin install-tools install-monitor \
	install-agent install-user install-cc uninstall deb deb-check matrix clean check-kernel help

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
	$(MAKE) -C $(KDIR) M=$(CURDIR)/cc modules

demo:
	@lab/setup.sh
	$(PYTHON) -m lab demo

test:
	$(MAKE) -C tests

bench:
	@lab/setup.sh
	$(PYTHON) -m lab bench --json out/bench/counted.json --plot out/bench/counted.svg
	$(PYTHON) -m lab bench --kernel uml --json out/bench/native.json --plot out/bench/native.svg
	$(PYTHON) -m lab bench --memory --json out/bench/memory.json

bench-check:
	@lab/setup.sh
	$(PYTHON) -m lab bench --check bench/baseline.json

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

install: modules install-plugin install-tools
	$(INSTALL_MODULES) M=$(CURDIR)
	$(if $(DESTDIR),,depmod -a)

install-plugin:
	$(MAKE) -C tc-plugin install $(PLACES)
	$(MAKE) -C completion install-tc $(PLACES)

install-monitor:
	$(MAKE) -C monitor install $(PLACES)
	$(MAKE) -C completion install-zrtt-mon $(PLACES)

install-tools: install-monitor
	$(MAKE) -C recipes install $(PLACES)
	$(MAKE) -C completion install-zrtt-check install-zrtt-link $(PLACES)

# Apart, as senders need no module and routers no agent.
install-agent:
	$(MAKE) -C agent install $(PLACES)
	$(MAKE) -C completion install-zrtt-agent $(PLACES)

install-user: install-plugin install-tools install-agent

install-cc: cc
	$(INSTALL_MODULES) M=$(CURDIR)/cc
	$(if $(DESTDIR),,depmod -a)

uninstall:
	rm -f $(foreach module,$(MODULES),$(addprefix $(DESTDIR)/lib/modules/*/, \
		updates/$(module).ko* extra/$(module).ko*))
	$(if $(DESTDIR),,depmod -a)
	$(foreach part,tc-plugin monitor recipes agent completion,$(MAKE) -C $(part) uninstall $(PLACES) &&) true

deb:
	@lab/setup.sh $(DEB_PACKAGES)
	rm -rf out/deb
	mkdir -p out/deb/source
	git ls-files -z | tar --null --files-from=- --create --mtime="$$(dpkg-parsechangelog -SDate)" | \
		tar --extract --directory out/deb/source
	cd out/deb/source && DEB_BUILD_OPTIONS=noautodbgsym dpkg-buildpackage --build=binary --no-sign
	rm -rf out/deb/source

deb-check:
	$(MAKE) -C tests ARGS="packages packages/upgrade.py"

# Functional tests of the newest kernel, too: make test has those of the others.
matrix:
	@lab/setup.sh clang-19
	$(PYTHON) -m lab matrix
	$(MAKE) -C tests ARGS="functional -k 7.x" KERNELS=7.x

clean:
	$(MAKE) -C tc-plugin clean
	rm -rf out $(KBUILD_LEAVES) $(addprefix cc/,$(KBUILD_LEAVES))

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
	@sed -n '4,/^$$/s/^#//p' Makefile
