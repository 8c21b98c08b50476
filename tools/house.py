#!/usr/bin/env python3
"""What the house looks like: files per room, the longest files and functions, and which rooms include which.

    tools/house.py [TREE]        TREE: another checkout (git worktree add /tmp/then COMMIT)

A room is a folder of kerf/ with sources; tests do not count, nor do kerf.h and the files named registry.cpp, which list what rooms hold.  An edge of the
include graph goes from a room to one it includes; edges on a cycle are those that no order of the rooms could have pointing down.
"""
import collections
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
sources = [p for p in sorted(root.glob("kerf/**/*")) if p.suffix in (".h", ".cpp") and not p.name.endswith("_test.cpp")]
room_of = lambda path: path.relative_to(root / "kerf").parent.as_posix()  # noqa: E731
rooms, edges, lengths, functions = collections.Counter(), set(), [], []
OTHER = re.compile(r"(namespace|class|struct|enum|union|using|if|for|while|switch|return|else|do|template <[^()]*> (class|struct))\b|.*\) ?= ?\{|.*[^)]= \{")

for path in sources:
    lines = path.read_text().splitlines()
    rooms[room_of(path)] += 1
    lengths.append((len(lines), path.relative_to(root).as_posix()))
    if path.name != "registry.cpp" and path.parent != root / "kerf":
        for include in re.findall(r'#include "kerf/([^"]+)"', path.read_text()):
            other = pathlib.PurePosixPath(include).parent.as_posix()
            if other not in (room_of(path), "."):
                edges.add((room_of(path), other))
    i = 0
    while i < len(lines):
        indent = len(lines[i]) - len(lines[i].lstrip())
        first, i = i, i + 1
        if not lines[first].strip() or indent not in (0, 2) or lines[first].lstrip().startswith(("//", "#", "}")):
            continue
        head = lines[first].strip()
        while not head.endswith(("{", ";", "}", ":")) and i < len(lines):  # a signature may take several lines
            head += " " + lines[i].strip()
            i += 1
        name = re.search(r"([\w:~]+)\(", head)
        if head.endswith("{") and name and not OTHER.match(head):
            end = next((k for k in range(i, len(lines)) if lines[k] == " " * indent + "}"), i)
            functions.append((end - first + 1, f"{name[1]} ({path.relative_to(root)}:{first + 1})"))
            i = end + 1


def reach(room):
    seen, todo = set(), [room]
    while todo:
        at = todo.pop()
        for other in {b for a, b in edges if a == at} - seen:
            seen.add(other)
            todo.append(other)
    return seen


cyclic = sorted((a, b) for a, b in edges if a in reach(b))
print(f"{len(sources)} files, {len(rooms)} rooms; most files in a room: {', '.join(f'{name} {count}' for name, count in rooms.most_common(4))}")
print(f"files above 400 lines: {sum(n > 400 for n, _ in lengths)}; longest: {', '.join(f'{name} {n}' for n, name in sorted(lengths, reverse=True)[:4])}")
print(f"functions above 50 lines: {sum(n > 50 for n, _ in functions)}, above 70: {sum(n > 70 for n, _ in functions)}; longest:")
for n, name in sorted(functions, reverse=True)[:8]:
    print(f"  {n:4} {name}")
print(f"includes between rooms: {len(edges)} edges, {len(cyclic)} of them on cycles" + (": " + ", ".join(f"{a} -> {b}" for a, b in cyclic) if cyclic else ""))
if "--rooms" in sys.argv[2:]:
    for name, count in sorted(rooms.items()):
        print(f"  {count:3} {name}: {' '.join(sorted(b for a, b in edges if a == name))}")
