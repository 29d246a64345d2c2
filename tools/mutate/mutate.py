#!/usr/bin/env python3
"""Makes one small mistake after the other in a copy of the source tree and says which check notices each.

A file of mutants is a JSON object:
  {"configure": ["-DOPTION=..."],                    of CMake, optional
   "targets": ["ga2_test"],                          what ninja builds first; none: nothing is built
   "checks": [{"name": "battery", "command": ["{build}/bin/ga2_battery"], "targets": [], "timeout": 60}],
   "mutants": [{"name": "...", "file": "capra/x.cc", "old": "...", "new": "...", "equivalent": "the reason"}]}

The old text stands exactly once in its file. Checks run in order, in the root of the copy, until one fails; what a check
needs beyond `targets` it names itself. `{build}` is the copy's build folder, `{source}` its root. A build that fails, a
crash and a check that takes too long count as noticed and are named. A mutant that changes no behaviour is kept with the
reason in `equivalent`, and then nothing may notice it. Without any mutant every check must pass."""

import argparse
import collections
import json
import pathlib
import re
import sys
import time

from trees import BuildFailed, InUse, Stopped, Trees

CHECK_SECONDS = 120
ROOT = pathlib.Path(__file__).resolve().parents[2]


class Unusable(Exception):
    """The mutants cannot be judged: a file of another form, a text that is not there, checks that fail by themselves."""


Check = collections.namedtuple("Check", "name command targets timeout")
Mutant = collections.namedtuple("Mutant", "name file old new equivalent")
Plan = collections.namedtuple("Plan", "name configure targets checks mutants")
# `noticed` is empty for a mutant that lives.
Outcome = collections.namedtuple("Outcome", "mutant noticed seconds log")


def strings(value):
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def read_plan(path):
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        checks = [Check(one["name"], one["command"], one.get("targets", []), one.get("timeout", CHECK_SECONDS))
                  for one in document["checks"]]
        mutants = [Mutant(one["name"], one["file"], one["old"], one["new"], one.get("equivalent", ""))
                   for one in document["mutants"]]
        plan = Plan(path.name, document.get("configure", []), document.get("targets", []), checks, mutants)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unusable(f"{path}: {type(error).__name__}: {error}") from error
    well_formed = (strings(plan.configure) and strings(plan.targets) and checks
                   and all(strings(one.command) and one.command and strings(one.targets) for one in checks)
                   and all(isinstance(field, str) for one in mutants for field in one))
    if not well_formed:
        raise Unusable(f"{path}: a member has another type than tools/mutate/mutate.py describes")
    return plan


def anchor_problems(plan, root):
    """Why mutants cannot be made: each once, by name."""
    names = collections.Counter(mutant.name for mutant in plan.mutants)
    for mutant in plan.mutants:
        where = f"{plan.name}: {mutant.name}: {mutant.file}"
        if names[mutant.name] > 1:
            yield f"{where}: {names[mutant.name]} mutants have this name"
        path = root / mutant.file
        if not path.is_file():
            yield f"{where}: there is no such file"
            continue
        count = path.read_text(encoding="utf-8").count(mutant.old) if mutant.old else 0
        if count != 1:
            yield f"{where}: the old text stands there {count} times, not once"
        elif mutant.old == mutant.new:
            yield f"{where}: the new text is the old one"


def chosen(plan, only, every):
    """Mutants by exact name or by expression, then every so-manieth."""
    if only is not None:
        exact = [mutant for mutant in plan.mutants if mutant.name == only]
        try:
            found = exact or [mutant for mutant in plan.mutants if re.search(only, mutant.name)]
        except re.error as error:
            raise Unusable(f"--only {only}: no regular expression: {error}") from error
    else:
        found = list(plan.mutants)
    return found[::every]


def is_built(plan):
    words = [word for check in plan.checks for word in check.command]
    return bool(plan.targets) or any(check.targets for check in plan.checks) or any("{build}" in one for one in words)


def run_checks(tree, plan):
    """What notices the tree as it is: `check (how)`, or nothing; and what was printed last."""
    try:
        tree.build(plan.targets)
        for check in plan.checks:
            tree.build(check.targets)
            done = tree.run(check.command, check.timeout)
            if done.failed:
                return check.name + (f" ({done.how})" if done.how else ""), done.output
    except BuildFailed as error:
        return "the build", str(error)
    return "", ""


def judge(tree, plan, mutant):
    started = time.monotonic()
    path = tree.source / mutant.file
    original = path.read_text(encoding="utf-8")
    path.write_text(original.replace(mutant.old, mutant.new), encoding="utf-8")
    try:
        noticed, log = run_checks(tree, plan)
    finally:
        path.write_text(original, encoding="utf-8")
    return Outcome(mutant, noticed, time.monotonic() - started, log)


def is_right(outcome):
    return bool(outcome.noticed) != bool(outcome.mutant.equivalent)


def line(outcome):
    if outcome.noticed:
        text = f"caught by {outcome.noticed}"
        if outcome.mutant.equivalent:
            text += ", but it is marked as equivalent"
    else:
        text = f"alive, equivalent: {outcome.mutant.equivalent}" if outcome.mutant.equivalent else "ALIVE"
    return f"{outcome.mutant.name}: {text} ({outcome.seconds:.1f} s)"


def summary(plan, outcomes, seconds):
    wanted = [one for one in outcomes if not one.mutant.equivalent]
    by = collections.Counter(one.noticed for one in wanted if one.noticed)
    parts = ", ".join(f"{name} {count}" for name, count in by.most_common())
    equivalent = len(outcomes) - len(wanted)
    alive = sum(1 for one in outcomes if one.mutant.equivalent and not one.noticed)
    text = f"{plan.name}: {sum(by.values())} of {len(wanted)} caught" + (f" ({parts})" if parts else "")
    return text + (f", {alive} of {equivalent} equivalent alive" if equivalent else "") + f"; {seconds:.0f} s"


def run_plan(trees, plan, mutants):
    started = time.monotonic()

    def prepare(tree):
        noticed, log = run_checks(tree, plan)
        if noticed:
            raise Unusable(f"{plan.name}: without a mutant, {noticed} fails:\n{log}")

    outcomes = []
    print(f"{plan.name}: the tree as it is must build and pass first", file=sys.stderr, flush=True)
    try:
        trees.prepare(plan.configure if is_built(plan) else None, prepare)
        for outcome in trees.each(mutants, lambda tree, mutant: judge(tree, plan, mutant)):
            outcomes.append(outcome)
            print(f"[{len(outcomes):3d}/{len(mutants)}] {line(outcome)}", flush=True)
            if not is_right(outcome) and outcome.log:
                print(outcome.log, flush=True)
    except BuildFailed as error:
        raise Unusable(f"{plan.name}: the build without a mutant fails:\n{error}") from error
    print(summary(plan, outcomes, time.monotonic() - started), flush=True)
    return sorted(outcomes, key=lambda one: mutants.index(one.mutant))


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path, help="files of mutants")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="the tree to change copies of")
    parser.add_argument("--folder", type=pathlib.Path,
                        help="where the copies are kept from run to run (default: ROOT/build/mutants)")
    parser.add_argument("--jobs", type=int, default=2, help="how many mutants are judged at a time")
    parser.add_argument("--only", help="the mutant of this name, or those that the expression is found in")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="of these the first, then every Nth")
    parser.add_argument("--configure", action="append", default=[], metavar="ARGUMENT", help="for CMake, beside the file's")
    parser.add_argument("--json", type=pathlib.Path, help="writes the outcomes")
    parser.add_argument("--list", action="store_true", help="prints the names and ends")
    parser.add_argument("--anchors", action="store_true", help="only looks whether every old text stands once in its file")
    arguments = parser.parse_args()
    if arguments.jobs < 1 or arguments.every < 1:
        parser.error("--jobs and --every are 1 or more")
    return arguments


def run(arguments):
    plans = [read_plan(path) for path in arguments.files]
    problems = [problem for plan in plans for problem in anchor_problems(plan, arguments.root)]
    if problems:
        raise Unusable("\n".join(problems))
    if arguments.anchors:
        print(f"{sum(len(plan.mutants) for plan in plans)} mutants, every old text stands once in its file")
        return 0
    selected = [(plan, chosen(plan, arguments.only, arguments.every)) for plan in plans]
    if not any(mutants for _, mutants in selected):
        raise Unusable(f"no mutant is called so: {arguments.only}" if arguments.only else "there are no mutants")
    if arguments.list:
        for _, mutants in selected:
            for mutant in mutants:
                print(mutant.name + (f" (equivalent: {mutant.equivalent})" if mutant.equivalent else ""))
        return 0
    outcomes = []
    with Trees(arguments.root, arguments.folder or arguments.root / "build" / "mutants", arguments.jobs,
               arguments.configure) as trees:
        for plan, mutants in selected:
            if mutants:
                outcomes += [(plan, outcome) for outcome in run_plan(trees, plan, mutants)]
    if arguments.json:
        rows = [{"file": plan.name, "mutant": one.mutant.name, "changes": one.mutant.file, "caught_by": one.noticed,
                 "equivalent": one.mutant.equivalent, "seconds": round(one.seconds, 2)} for plan, one in outcomes]
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0 if all(is_right(outcome) for _, outcome in outcomes) else 1


def main():
    try:
        sys.exit(run(parse()))
    except (Unusable, InUse) as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except Stopped as error:
        print(error, file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
