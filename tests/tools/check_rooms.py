#!/usr/bin/env python3
"""Checks that every room looks only where its link list permits.

    check_rooms.py [ROOT]

A room is a target: a tributary_room, tributary_program or tributary_test call in a CMakeLists.txt
(cmake/Rooms.cmake), with what target_sources and target_link_libraries add to it. Errors, one line
each, exit code 1:

  - a source file of a room's folder that no target lists, or that two list;
  - an include of a file whose target is neither the file's own, nor one that it links, nor one that
    these hand on (PUBLIC); "tributary/v1/..." belongs to tributary_proto, its services to tributary_grpc;
  - a header that another target includes and that itself looks at what its target links PRIVATE;
  - a circle of links;
  - gRPC in a room that must know nothing of it.
"""

import dataclasses
import pathlib
import re
import sys

ROOMS = ("common", "server", "worker", "cli")
FOLDERS = ("proto",) + ROOMS + ("tests",)
WITHOUT_GRPC = (
    "common/base", "common/model", "common/training", "server/shard", "server/coordinator",
    "worker/data", "worker/model", "worker/compute", "worker/trainer",
)
KEYWORDS = ("SOURCES", "PUBLIC", "PRIVATE", "LINK", "LABELS", "TIMEOUT")

CALL = re.compile(r"\b(tributary_(?:room|program|test)|target_sources|target_link_libraries)"
                  r"\s*\(([^)]*)\)")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.MULTILINE)
GRPC = re.compile(r"^(grpc|grpcpp|grpc\+\+)/|\.grpc\.pb\.h$")


@dataclasses.dataclass
class Target:
    name: str
    where: str
    files: list
    public: list
    private: list


def parse_call(text):
    """The name in front of a call's arguments, and its lists by keyword."""
    name, *words = text.split()
    lists = {keyword: [] for keyword in KEYWORDS}
    current = None
    for word in words:
        if word in KEYWORDS:
            current = lists[word]
        elif current is not None:
            current.append(word)
    return name, lists


def read_targets(root):
    """Every target of the tree by name, and the errors found on the way."""
    targets, errors = {}, []
    for folder in FOLDERS:
        for cmake in sorted((root / folder).rglob("CMakeLists.txt")):
            where = cmake.relative_to(root)
            text = re.sub(r"#[^\n]*", "", cmake.read_text())
            for call in CALL.finditer(text):
                name, lists = parse_call(call.group(2))
                if call.group(1).startswith("tributary_") and name in targets:
                    errors.append(f"{where}: target {name} is also in {targets[name].where}")
                target = targets.setdefault(name, Target(name, str(where), [], [], []))
                files = lists["SOURCES"]
                if call.group(1) == "target_sources":
                    files = lists["PUBLIC"] + lists["PRIVATE"]
                else:
                    target.public += lists["PUBLIC"]
                    target.private += lists["PRIVATE"] + lists["LINK"]
                # What the build generates is not in the tree.
                target.files += [str(where.parent / file) for file in files if "${" not in file]
    return targets, errors


def find_circle(targets):
    """The names along a circle of links, or None."""
    done, path = set(), []

    def visit(name):
        if name in path:
            return path[path.index(name):] + [name]
        if name in done or name not in targets:
            return None
        path.append(name)
        for link in targets[name].public + targets[name].private:
            if circle := visit(link):
                return circle
        path.pop()
        done.add(name)
        return None

    for name in targets:
        if circle := visit(name):
            return circle
    return None


def handed_on(targets, names):
    """`names` and what they link PUBLIC, and so on."""
    found, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            if name in targets:
                waiting += targets[name].public
    return found


def check(root):
    """The errors of the tree, as lines."""
    targets, errors = read_targets(root)
    owner = {}
    for target in targets.values():
        for file in target.files:
            # Test programs may share a helper; a room's file has one owner.
            if file in owner and not file.startswith("tests/"):
                errors.append(f"{target.where}: {file} is also in target {owner[file]}")
            owner[file] = target.name
            if not (root / file).is_file():
                errors.append(f"{target.where}: {file} does not exist")
    for room in ROOMS:
        for path in sorted((root / room).rglob("*")):
            file = str(path.relative_to(root))
            if path.suffix in (".h", ".cc") and file not in owner:
                errors.append(f"{file}: no target lists this file")
    if circle := find_circle(targets):
        errors.append("circle of links: " + " -> ".join(circle))

    looks = []  # (file, its target, included file, the included file's target)
    for file, name in owner.items():
        if not (root / file).is_file():
            continue
        for included in INCLUDE.findall((root / file).read_text()):
            if file.startswith(WITHOUT_GRPC) and GRPC.search(included):
                errors.append(f'{file}: includes "{included}", and this room knows nothing of gRPC')
            if included.startswith("tributary/v1/"):
                services = included.endswith(".grpc.pb.h")
                looks.append((file, name, included,
                              "tributary_grpc" if services else "tributary_proto"))
            elif included.startswith(tuple(folder + "/" for folder in ROOMS)):
                if included in owner:
                    looks.append((file, name, included, owner[included]))
                else:
                    errors.append(f'{file}: includes "{included}", which no target lists')
            elif included.startswith("tests/") and file.startswith(ROOMS):
                errors.append(f'{file}: includes "{included}", a file of the tests')

    shown = {included for _, name, included, other in looks if name != other}
    for file, name, included, other in looks:
        target = targets[name]
        if other == name:
            continue
        if other not in handed_on(targets, target.public + target.private):
            errors.append(f'{file}: includes "{included}" of {other}, which {name} does not link')
        elif file in shown and other not in handed_on(targets, target.public):
            errors.append(f'{file}: is shown to other rooms and includes "{included}" of {other}, '
                          f"which {name} links PRIVATE")
    return errors


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]
    errors = check(root)
    for error in errors:
        print(error, file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
