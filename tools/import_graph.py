"""Draw which modules import which: ``python tools/import_graph.py [--svg FILE]``; exit code 1 where there is a cycle.

Imports inside functions count, what only a type checker reads does not. ``tests/unit/test_layers.py`` holds the rooms
to their order with the same reading.
"""

import argparse
import ast
import sys
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = "repsketch"

#: Rooms of the package, from the bottom to the top: a module imports from rooms below its own and from its own.
LAYERS = (
    "errors",
    "checks",
    "core",
    "display",
    "files",
    "progress",
    "parallel",
    "data",
    "predictor",
    "lsh",
    "theory",
    "model",
    "io",
    "runtime",
    "teacher",
    "paper",
    "train",
    "preparation",
    "compare",
    "sketch",
    "sizes",
    "tolerance",
    "compress",
    "curve",
    "frontier",
    "estimators",
    PACKAGE,  # repsketch/__init__.py: the public names
    "cli",
)

Graph = Mapping[str, set[str]]


def find_modules(source: Path) -> dict[str, Path]:
    """Modules below ``source``, the folder of a package, by their dotted names."""
    modules = {}
    for path in sorted(source.rglob("*.py")):
        names = [source.name, *path.relative_to(source).with_suffix("").parts]
        modules[".".join(names[:-1] if names[-1] == "__init__" else names)] = path
    return modules


def read_graph(source: Path) -> dict[str, set[str]]:
    """For every module of the package in ``source`` the modules of the package it imports."""
    modules = find_modules(source)
    return {
        name: imported_modules(path.read_text(encoding="utf-8"), name, path.name == "__init__.py", set(modules))
        for name, path in modules.items()
    }


def imported_modules(source: str, module: str, is_package: bool, known: set[str]) -> set[str]:
    """The modules among ``known`` that the source text of ``module`` imports."""
    package = module.split(".") if is_package else module.split(".")[:-1]
    found: set[str] = set()
    for node in import_nodes(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            start = package[: len(package) + 1 - node.level] if node.level else []
            base = ".".join([*start, *([node.module] if node.module else [])])
            # "from .. import lsh" names a module, "from ..lsh import L2" a name of one.
            names = [full if (full := f"{base}.{alias.name}") in known else base for alias in node.names]
        found.update(name for name in names if name in known and name != module)
    return found


def import_nodes(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Every import below ``node``, also inside functions, but not what only a type checker reads."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        yield node
    for child in ast.iter_child_nodes(node):
        is_for_types = isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING")
        for inner in child.orelse if is_for_types and isinstance(child, ast.If) else [child]:
            yield from import_nodes(inner)


def find_cycle(graph: Graph) -> list[str]:
    """Modules that import each other in a circle, the first one again at the end; empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def room_of(module: str) -> str:
    """The room of a module: "repsketch.lsh.l2" is in "lsh"."""
    return module.split(".")[1] if "." in module else PACKAGE


def rooms_of(graph: Graph) -> dict[str, set[str]]:
    """For every room the other rooms its modules import."""
    rooms: dict[str, set[str]] = {}
    for module, imported in graph.items():
        room = room_of(module)
        rooms.setdefault(room, set()).update(room_of(other) for other in imported if room_of(other) != room)
    return rooms


def upward_imports(graph: Graph) -> list[str]:
    """Imports of a room that is not below, and rooms without a place in ``LAYERS``."""
    rank = {room: number for number, room in enumerate(LAYERS)}
    wrong = []
    for module, imported in sorted(graph.items()):
        room = room_of(module)
        if room not in rank:
            wrong.append(f"{module}: the room {room!r} has no place in LAYERS")
            continue
        for other in sorted(imported):
            if room_of(other) != room and rank.get(room_of(other), len(rank)) >= rank[room]:
                wrong.append(f"{module} imports {other}")
    return wrong


def to_svg(graph: Graph) -> str:
    """The rooms as boxes, the highest first, and a line for every import between them."""
    rooms, counts = rooms_of(graph), {}
    for module in graph:
        counts[room_of(module)] = counts.get(room_of(module), 0) + 1
    order = [room for room in reversed(LAYERS) if room in counts]
    place = {room: 30 * number + 12 for number, room in enumerate(order)}
    height, lines = 30 * len(order) + 12, []
    for room in order:
        for other in sorted(rooms.get(room, ()), key=lambda name: place.get(name, 0)):
            start, end = place[room] + 10, place[other] + 10
            reach = 180 + (end - start) * 0.55
            lines.append(f'<path d="M180 {start} C{reach:.0f} {start} {reach:.0f} {end} 180 {end}"/>')
    boxes = [
        f'<rect x="20" y="{place[room]}" width="160" height="20" rx="4"/>'
        f'<text x="28" y="{place[room] + 14}">{room} ({counts[room]})</text>'
        for room in order
    ]
    style = (
        "path{fill:none;stroke:#4a7ba6;stroke-opacity:.45}rect{fill:#eef3f8;stroke:#4a7ba6}"
        "text{font:12px sans-serif;fill:#1b2a38}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="620" height="{height}" viewBox="0 0 620 {height}">'
        f"<style>{style}</style>{''.join(lines)}{''.join(boxes)}</svg>\n"
    )


def main() -> int:
    """Print the rooms from top to bottom with what each imports, and what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", nargs="?", type=Path, default=ROOT / "src" / PACKAGE, help="folder of the package")
    parser.add_argument("--svg", type=Path, help="file to draw the rooms into")
    arguments = parser.parse_args()
    graph = read_graph(arguments.source)
    rooms = rooms_of(graph)
    for room in sorted(rooms, key=lambda name: LAYERS.index(name) if name in LAYERS else -1, reverse=True):
        print(f"{room:<12} -> {', '.join(sorted(rooms[room])) or 'nothing'}")
    cycle, upward = find_cycle(graph), upward_imports(graph)
    n_imports = sum(map(len, graph.values()))
    print(f"{len(graph)} modules in {len(rooms)} rooms, {n_imports} imports, imports inside functions included")
    print("cycle: " + " -> ".join(cycle) if cycle else "no cycle")
    print(f"imports that go upward: {len(upward)}", *upward, sep="\n  ")
    if arguments.svg is not None:
        arguments.svg.write_text(to_svg(graph))
    return int(bool(cycle or upward))


if __name__ == "__main__":
    sys.exit(main())
