# SPDX-License-Identifier: GPL-2.0
"""Bundles the Python that runs it, for a guest that has none of the host's files.

    python3 bundle.py FOLDER

FOLDER becomes a PYTHONHOME. Modules go into a zip, compiled: an emulated machine
would take half a minute for it at each start.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

UNWANTED = ("idlelib", "lib2to3", "pydoc_data", "test", "tkinter")
"""Packages of some size that flent has no use for."""
EXTENSIONS = ("_bz2", "_contextvars", "_json", "_multiprocessing", "_posixshmem", "_queue",
              "mmap", "resource", "termios")  # fmt: skip
"""Of the modules that are shared objects, those that flent uses."""


def bundle(folder: Path) -> None:
    """Fills the folder."""
    standard = Path(sysconfig.get_path("stdlib"))
    library = folder / "lib"
    shared = library / standard.name / "lib-dynload"
    shared.mkdir(parents=True, exist_ok=True)
    with zipfile.PyZipFile(str(library / f"{standard.name.replace('.', '')}.zip"), "w") as archive:
        archive.writepy(str(standard))
        for package in sorted(standard.iterdir()):
            if (package / "__init__.py").exists() and package.name not in UNWANTED:
                archive.writepy(str(package))
    for name in EXTENSIONS:
        # those that are not there are part of the interpreter
        for extension in (standard / "lib-dynload").glob(f"{name}.*.so"):
            shutil.copy(extension, shared)
            ldd = subprocess.run(["ldd", extension], capture_output=True, text=True, check=True)
            for needed in re.findall(r"=> (/\S+)", ldd.stdout):
                shutil.copy(needed, library)


if __name__ == "__main__":
    bundle(Path(sys.argv[1]))
