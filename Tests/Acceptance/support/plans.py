"""The commands that SwiftPM plans for a build."""

import json
import re
import subprocess

from support.program import ROOT

# What the compiler needn't write, and how many words each is.
LEFT_OUT = {"-emit-dependencies": 1, "-emit-module": 1, "-emit-module-path": 2, "-output-file-map": 2,
            "-emit-objc-header": 1, "-emit-objc-header-path": 2,
            "-incremental": 1, "-enable-batch-mode": 1, "-serialize-diagnostics": 1,
            "-index-store-path": 2, "-parseable-output": 1, "-enable-testing": 1, "-g": 1}


def command(plan, target, kind):
    """The inputs and the words of a target's command in a plan: the module, or the program."""
    name = rf"C\.{target}-(?!bench)[\w-]+-(?:debug|release)\.{kind}"
    lines = re.search(rf'^  "{name}":\n((?:    .*\n)+)', plan, re.M)[1]
    return [json.loads(re.search(rf"{name}: (\[.*\])", lines)[1]) for name in ("inputs", "args")]


def without(words):
    """Leaves out options that only later builds need."""
    kept, words = [], iter(words)
    for word in words:
        if word in ("-Xcc", "-Xfrontend", "-Xlinker"):
            kept += [word, next(words)]
        elif word in LEFT_OUT:
            for _ in range(LEFT_OUT[word] - 1):
                next(words)
        elif not word.startswith(("@", "-j")):
            kept.append(word)
    return kept


class Plan:
    """The commands of a build of the program in a separate folder, which uses the modules that were built before.

    :param folder: an empty folder.
    :param options: more options of ``swift build``.
    """

    def __init__(self, folder, *options, configuration="debug"):
        subprocess.run(
            ["swift", "build", *options, "--configuration", configuration, "--product", "countersign",
             "--scratch-path", folder, "--print-manifest-job-graph"],
            cwd=ROOT, check=True, capture_output=True, timeout=300)
        self.text = (folder / f"{configuration}.yaml").read_text()
        built = (ROOT / ".build/debug").resolve()
        self.own = str(folder / built.parent.name / configuration)
        self.built = str(built)

    def command(self, kind, target="countersign"):
        """The inputs and words of the command that makes a module or the program."""
        return [self.built_before(words) for words in command(self.text, target, kind)]

    def built_before(self, words):
        return [word.replace(self.own, self.built) for word in words]

    def sources(self, target):
        """The source files of a module and the words of its compilation, without what it writes."""
        inputs, words = self.command("module", target)
        return [one for one in inputs if one.endswith(".swift")], without(words)
