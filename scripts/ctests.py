# SPDX-License-Identifier: MIT
"""What the runners share: which tests ctest knows, and the command and environment of each."""

import json
import os
import subprocess
import sys


class Test:
    def __init__(self, entry):
        properties = {p["name"]: p["value"] for p in entry.get("properties", [])}
        self.name, self.command = entry["name"], entry["command"]
        self.labels = properties.get("LABELS", [])
        self.folder = properties.get("WORKING_DIRECTORY")
        self.environment = dict(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", []))

    def run(self, before=(), **environment):
        """Runs it behind the words `before`; returns the exit code and what it printed."""
        done = subprocess.run(
            [*before, *self.command],
            env={**os.environ, **self.environment, **environment},
            cwd=self.folder,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        return done.returncode, done.stdout


def labelled(build, pattern):
    """The tests in a build folder that have a label which matches; none at all is an error."""
    command = ["ctest", "--test-dir", build, "-L", pattern, "--show-only=json-v1"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = [Test(entry) for entry in json.loads(text)["tests"] if "command" in entry]
    if not found:
        sys.exit(f"there is no test with the label {pattern} in {build}")
    return found
