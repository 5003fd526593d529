# SPDX-License-Identifier: GPL-2.0
"""What bash completes, with the words that the plugin of the checkout knows."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from kbuild import ROOT, make

FILES = {
    path.name.removesuffix(".bash-completion"): path
    for path in (*ROOT.glob("*/*.bash-completion"), *ROOT.glob("router/completion/*"))
}
"""By the command, or tc-zrtt."""
# As bash does when a tab is typed after the words.
ASK = """
source /usr/share/bash-completion/bash_completion
source "$1"
COMP_WORDS=("${@:2}") COMP_CWORD=$(($# - 2)) COMP_LINE="${*:2}" COMP_POINT=${#COMP_LINE}
complete=$(complete -p "$2")
complete=${complete#* -F }
${complete%% *} "$2" "${@: -1}" "${@: -2:1}"
echo "${COMPREPLY[@]}"
"""

# what is typed -> words among what comes of it
COMPLETED = {
    "tc qdisc add dev lo root z": "zrtt",
    "tc qdisc add dev lo root zrtt ": "mode limit memory_limit ecn noecn lanes nolanes l4s nol4s",
    "tc qdisc add dev lo root zrtt limit 10 ta": "target",
    "tc qdisc add dev lo root zrtt mode ": "zrtt paper mrtt prto blue",
    "tc qdisc add dev lo root codel ": "limit target interval",
    "zrtt-agent ": "attach detach status",
    "zrtt-agent attach ": "lo --encoding",
    "zrtt-agent attach lo --encoding ": "ip tcp",
    "zrtt-agent status ": "lo -j --json --netns",
    "zrtt-check -": "-j --help",
    "zrtt-link ": "up rate down --help",
    "zrtt-link up l": "lo",
    "zrtt-mon -": "-j --json -f --flows -H --hosts --prometheus",
    "zrtt-mon --prometheus l": "lo",
    "zrtt-mon --prometheus=/us": "/usr",
    "zrtt-mon --hosts ": "lo",
    "zrtt-mon -s ": "rate rtt prob",
}


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the tc plugin."""
    folder = tmp_path_factory.mktemp("tc")
    done = make("-C", "tc-plugin", f"OUT={folder}")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("typed", COMPLETED)
def test_words_are_completed(typed: str, plugin: Path) -> None:
    words = typed.split(" ")
    name = "tc-zrtt" if words[0] == "tc" else words[0]
    env = {**os.environ, "TC_LIB_DIR": str(plugin)}
    command = ["bash", "-c", ASK, "ask", FILES[name], *words]
    done = subprocess.run(command, env=env, check=True, capture_output=True, text=True)
    assert set(COMPLETED[typed].split()) <= set(done.stdout.split()), done.stderr


@pytest.mark.parametrize("name", FILES)
def test_shellcheck_is_silent(name: str) -> None:
    done = subprocess.run(["shellcheck", FILES[name]], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
