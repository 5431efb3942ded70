"""One emulated machine at a time: builds for it once, runs a shell script in it, gives back the JSON files it wrote.

It never judges a number: tests/vm/test does."""
import json, os, pathlib, shutil, subprocess

HERE = pathlib.Path(__file__).parent

# Everything happens in the guest's memory: a recording on the shared folder would cost what the sharing costs.
PRELUDE = """
if [ -d /share/lib ]; then mkdir -p /lib /lib64; cp /share/lib/* /lib; cp /share/lib/ld-* /lib64; fi
cp /share/ironlaw /share/loop /tmp && chmod 755 /tmp/ironlaw /tmp/loop && cd /tmp
export PATH=/tmp:$PATH HOME=/tmp NO_COLOR=1
report() { ironlaw -q report "$1" --format json --limit 0 >"/share/out/$2.json"; }
"""


class Skipped(Exception):
    """This machine cannot run the guest; the text says why."""


class Failed(Exception):
    """The guest or the build broke; the text is its last output."""


def tool(name, *arguments):
    """Runs a script of this folder; returns what it did."""
    return subprocess.run([HERE / name, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True)


class Guest:
    """The machine of one architecture; its folder is shared with every boot."""

    def __init__(self, arch, work):
        self.arch, self.folder = arch, pathlib.Path(work) / arch
        self.folder.mkdir(parents=True, exist_ok=True)

    def prepare(self, built):
        """Fetches the guest and builds what runs in it, unless it is built already."""
        fetched = tool("setup", self.arch)
        if fetched.returncode:
            raise Skipped(f"the guest cannot be set up: {last(fetched.stderr)}")
        if built and (self.folder / "ironlaw").exists():
            return
        built = tool("build", self.arch, self.folder)
        if built.returncode == 3:
            raise Skipped(f"no Rust standard library for it: {last(built.stderr)}")
        if built.returncode:
            raise Failed(f"the build for {self.arch} failed:\n{built.stderr[-2000:]}")

    def run(self, script, smp="1", icount="0", cpu="", timeout=900):
        """Boots, runs the script, returns its output and the JSON files that it left in /share/out, by name."""
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        os.chmod(out, 0o777)
        done = tool("run", "--smp", smp, "--icount", icount, "--cpu", cpu, "--timeout", timeout, self.arch, self.folder, PRELUDE + script)
        if done.returncode:
            raise Failed(f"the guest ended with {done.returncode}:\n{(done.stdout + done.stderr)[-3000:]}")
        return done.stdout, {file.stem: json.loads(file.read_text()) for file in out.glob("*.json")}


def last(text):
    """The last line that says something."""
    return next((line for line in reversed(text.splitlines()) if line.strip()), "no reason given")
