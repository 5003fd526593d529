# SPDX-License-Identifier: GPL-2.0
"""Reads a batch file of flent and runs one of its batches in a guest."""

from __future__ import annotations

import base64
import configparser
import io
import re
import tarfile
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lab.engines.job import Engine, GuestJob
from lab.flent import tools
from lab.flent.network import MODULES, PROGRAMS, SSH, Network
from lab.host.files import write
from lab.host.progress import Progress
from lab.model.scenario import ScenarioError
from lab.toolchain import build

MEMORY_MB = 1024
PLANNED = re.compile(r"Estimated total runtime: .* \((\d+) tests\)")
STARTED = re.compile(r"Starting \S+ test\. Expected run time: (\d+) seconds")
COMPLAINT = re.compile(r"(?m)^(?:WARNING|ERROR|CRITICAL): .*$")
SUFFIX = ".flent.gz"


@dataclass(frozen=True)
class Batch:
    """One batch of a file."""

    file: Path
    name: str


def load(path: Path, names: list[str]) -> list[Batch]:
    """The batches of a file that can run, or those of the names. Raises ScenarioError."""
    parser = configparser.RawConfigParser(strict=False)
    try:
        with path.open() as stream:
            parser.read_file(stream)
    except (OSError, configparser.Error, UnicodeDecodeError) as error:
        raise ScenarioError(f"{path}: {str(error).splitlines()[0]}") from error
    sections = [s for s in parser.sections() if s.lower().startswith("batch::")]
    known = [
        section.partition("::")[2].lower()
        for section in sections
        if parser.get(section, "abstract", fallback="no").lower() not in ("yes", "true", "on")
    ]
    unknown = [name for name in names if name not in known]
    if unknown or not known:
        raise ScenarioError(f"{path}: no batch {', '.join(unknown)}; has {', '.join(known)}")
    return [Batch(path, name) for name in names or known]


def _tree(folder: Path, name: str) -> dict[str, Path]:
    """All files of a folder, below that name."""
    return {
        f"{name}/{path.relative_to(folder)}": path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def _guest_files(batch: Batch, folder: Path) -> dict[str, Path]:
    """All that flent needs, below $LAB."""
    ssh = folder / "ssh"
    ssh.write_text(SSH)
    ssh.chmod(0o755)
    return {
        **_tree(tools.python_home(), "python"),
        **_tree(tools.flent() / "flent", "flent"),
        **{f"flent/tests/{path.name}": path for path in tools.tests()},
        **{f"bin/{path.name}": path for path in tools.programs()},
        "bin/tc_iterate": tools.CONFIGS / "tc_iterate",
        "bin/ssh": ssh,
        "batch": batch.file,
        **build.tc_plugin("sch_zrtt"),
        **build.tc_plugin("sch_dualpi2"),
    }


def _arguments(batch: Batch, network: Network, overrides: Mapping[str, str]) -> list[str]:
    values = {"hosts": ",".join(network.hosts), **overrides}
    return [
        "--batch", batch.name, "--batch-no-shuffle", "--batch-no-timestamp",
        *[word for key, value in values.items() for word in ("--batch-override", f"{key}={value}")],
    ]  # fmt: skip


def _watcher(progress: Progress) -> Callable[[str], None]:
    """Progress of a batch, whose tests all take the same time."""
    started = planned = 0

    def watch(line: str) -> None:
        nonlocal started, planned
        if match := PLANNED.search(line):
            planned = int(match[1])
        elif match := STARTED.search(line):
            each_s = int(match[1])
            progress(started * each_s, planned * each_s)
            started += 1

    return watch


def _unpack(text: str, out: Path) -> list[Path]:
    """Writes a guest's data files, without the folders of the tar."""
    files = []
    with tarfile.open(fileobj=io.BytesIO(base64.b64decode(text))) as archive:
        for member in archive.getmembers():
            content = archive.extractfile(member)
            if content and member.name.endswith(SUFFIX):
                files.append(out / Path(member.name).name)
                write(files[-1], content.read())
    return sorted(files)


def run(engine: Engine, batch: Batch, network: Network, *, overrides: Mapping[str, str],
        seed: int, out: Path, timeout_s: float, progress: Progress) -> list[Path]:  # fmt: skip
    """Runs a batch, returns its data files. Raises FlentError unless all is well with all."""
    with tempfile.TemporaryDirectory(prefix="zrtt-flent-") as name:
        folder = Path(name)
        script = folder / "script"
        script.write_text(network.script())
        job = GuestJob(
            script=script,
            args=_arguments(batch, network, overrides),
            files=_guest_files(batch, folder),
            modules=MODULES,
            programs=PROGRAMS,
            kmods=[build.kernel_module("sch_zrtt", engine.kernel)],
            seed=seed,
            memory_mb=MEMORY_MB,
            timeout_s=timeout_s,
            watch=_watcher(progress),
        )
        output = engine.run(job)
    planned = PLANNED.search(output.console)
    complaints = COMPLAINT.findall(output.console)
    if output.rc or complaints or not planned:
        reason = complaints[0] if complaints else f"status {output.rc}"
        raise tools.FlentError(f"flent's batch {batch.name}: {reason}", output.console)
    files = _unpack(output.result, out)
    if len(files) != int(planned[1]):
        raise tools.FlentError(
            f"flent's batch {batch.name}: {len(files)} data files, not {planned[1]}",
            output.console,
        )
    return files
