"""What a wheel has beside the packages: the pages and the examples that the server for agents offers."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

#: Where they are, and where :mod:`verify.agent.pages` reads them in an installed package.
MANUAL = ("docs/*.md", "examples/gallery/*.py")
INSTALLED = Path("verify", "agent", "manual")


class WithManual(build_py):
    """Copies the manual into what is built, unless the source itself is used."""

    def run(self) -> None:
        """Build the packages, and copy the manual."""
        super().run()
        if self.editable_mode:
            return
        for path in (path for pattern in MANUAL for path in sorted(Path().glob(pattern))):
            target = Path(self.build_lib, INSTALLED, path)
            self.mkpath(str(target.parent))
            self.copy_file(str(path), str(target))


setup(cmdclass={"build_py": WithManual})
