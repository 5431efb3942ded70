#!/usr/bin/env python3
"""Opens what `ironlaw export` writes in the tools it is meant for: speedscope (from npm, in headless Chromium) and Go's pprof.

usage: viewers.py IRONLAW

A tool that is not installed is skipped and said; what a tool does not show is a failure. Firefox's profiler is a web
service and cannot be asked here: its file is held against its published format by the tests in tests/export.
"""
import base64, json, os, pathlib, shutil, subprocess, sys, tempfile

FUNCTION = "checksum_block"  # The hottest function of the built-in workload.
THREAD = "worker-"


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300, **options)
    if done.returncode:
        sys.exit(f"viewers: {command[0]} failed: {done.stderr.strip()[-600:]}")
    return done.stdout


def missing(*programs):
    """The first program that is not installed."""
    return next((program for program in programs if not shutil.which(program)), None)


def speedscope(folder, profile):
    """Its own page loads the file; the toolbar then names the thread that is shown."""
    run("npm", "install", "--silent", "--prefix", folder, "speedscope")
    loader = folder / "load.js"
    encoded = base64.b64encode(profile.read_bytes()).decode()
    loader.write_text(f"speedscope.loadFileFromBase64({json.dumps(profile.name)}, {json.dumps(encoded)})")
    page = folder / "node_modules/speedscope/dist/release/index.html"
    return run("chromium", "--headless", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
               "--allow-file-access-from-files", "--virtual-time-budget=15000", "--dump-dom",
               f"file://{page}#localProfilePath={loader}", env={**os.environ, "HOME": str(folder)})


def main():
    ironlaw = pathlib.Path(sys.argv[1]).resolve()
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        run(ironlaw, "-q", "record", "-o", folder / "run", "--", ironlaw, "workload", "hotspot", "--threads=2", "--seconds=2s")

        def export(form, name):
            run(ironlaw, "-q", "export", folder / "run.ironlaw", "--format", form, "-o", folder / name)
            return folder / name

        tools = [
            ("speedscope", ["npm", "chromium"], THREAD, lambda: speedscope(folder, export("speedscope", "run.speedscope.json"))),
            ("go tool pprof", ["go"], FUNCTION, lambda: run("go", "tool", "pprof", "-top", export("pprof", "run.pb.gz"))),
        ]
        for name, needs, expected, shown in tools:
            lacking = missing(*needs)
            if lacking:
                print(f"SKIPPED {name}: {lacking} is not installed")
                continue
            ok = expected in shown()
            failed += not ok
            print(f"{'ok  ' if ok else 'FAIL'} {name} shows {expected}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
