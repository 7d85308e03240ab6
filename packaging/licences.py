#!/usr/bin/env python3
"""Prints the licences of all crates that are linked into the program: their names, then each text once."""

import json
import os
import subprocess

FEATURES = ["--locked", "--filter-platform", "x86_64-unknown-linux-musl"]


def main():
    command = ["cargo", "metadata", "--format-version", "1", *FEATURES]
    document = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    linked = sorted(crates(document), key=lambda crate: (crate["name"], crate["version"]))
    texts = {}
    print("iosonde is linked with these crates. Their licence texts follow.\n")
    for crate in linked:
        print(f"{crate['name']} {crate['version']}: {crate['license'] or 'see its licence file'}")
        folder = os.path.dirname(crate["manifest_path"])
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if name.upper().startswith(("LICENSE", "LICENCE", "COPYING", "NOTICE")) and os.path.isfile(path):
                with open(path, encoding="utf-8", errors="replace") as file:
                    texts.setdefault(file.read().strip(), []).append(f"{crate['name']} {crate['version']}")
    for text, users in sorted(texts.items(), key=lambda item: item[1][0]):
        print(f"\n{'-' * 100}\n{', '.join(users)}\n\n{text}")


def crates(document):
    """Others' crates that the program needs at run time: neither tests nor build scripts nor macros."""
    packages = {package["id"]: package for package in document["packages"]}
    nodes = {node["id"]: node for node in document["resolve"]["nodes"]}
    start = next(id for id, package in packages.items() if package["name"] == "iosonde" and package["source"] is None)
    open_ids, seen = [start], set()
    while open_ids:
        here = open_ids.pop()
        if here in seen or any("proc-macro" in target["kind"] for target in packages[here]["targets"]):
            continue
        seen.add(here)
        for needed in nodes[here]["deps"]:
            if any(kind["kind"] is None for kind in needed["dep_kinds"]):
                open_ids.append(needed["pkg"])
    return [packages[id] for id in seen if packages[id]["source"] is not None]


if __name__ == "__main__":
    main()
