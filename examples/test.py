#!/usr/bin/env python3
"""Runs the command lines of the manifests on simulated devices; IOSONDE names the program. Needs PyYAML, and checks the
manifests against Kubernetes' schemas where kubernetes-validate is installed. A Job names the image that ./release makes."""

import glob
import importlib.util
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    program = os.path.abspath(os.environ["IOSONDE"])
    image = packed()
    ran = 0
    for path in sorted(glob.glob(os.path.join(HERE, "kubernetes", "*.yaml"))):
        with open(path, encoding="utf-8") as file:
            parts = list(yaml.safe_load_all(file))
        if importlib.util.find_spec("kubernetes_validate"):
            import kubernetes_validate

            for part in parts:
                kubernetes_validate.validate(part, kubernetes_validate.latest_version(), strict=True)
        else:
            print("skipped: manifests against their schema: kubernetes-validate is not installed")
        claims = {part["metadata"]["name"] for part in parts if part["kind"] == "PersistentVolumeClaim"}
        for job in (part["spec"]["template"]["spec"] for part in parts if part["kind"] == "Job"):
            check(program, path, job, claims, image)
            ran += 1
    if ran != 2:
        sys.exit(f"{ran} jobs ran, of 2")
    ran += many_hosts(program)
    print(f"{ran} passed, 0 failed")


def many_hosts(program):
    """The command line of each job of many hosts gives a result on as many simulated hosts; returns how many ran."""
    folder = os.path.join(HERE, "hosts")
    with open(os.path.join(folder, "mpijob.yaml"), encoding="utf-8") as file:
        job = yaml.safe_load(file)["spec"]["mpiReplicaSpecs"]
    words = [str(word) for word in job["Launcher"]["template"]["spec"]["containers"][0]["args"]]
    ranks = int(words[words.index("-n") + 1])
    if ranks != job["Worker"]["replicas"]:
        sys.exit(f"mpijob.yaml: {ranks} processes on {job['Worker']['replicas']} workers")
    with open(os.path.join(folder, "slurm.sh"), encoding="utf-8") as file:
        script = file.read()
    if subprocess.run(["bash", "-n", os.path.join(folder, "slurm.sh")], check=False).returncode != 0:
        sys.exit("slurm.sh is no script that bash reads")
    nodes = int(script.split("--nodes=")[1].split()[0])
    with open(os.path.join(folder, "ansible.yml"), encoding="utf-8") as file:
        argv = [str(word) for word in yaml.safe_load(file)[1]["tasks"][0]["ansible.builtin.command"]["argv"]]
    commands = {
        "mpijob.yaml": (ranks, words[words.index("iosonde-mpi") + 1:]),
        "slurm.sh": (nodes, ["run", "quick", "TARGET"] if "iosonde-mpi run quick" in script else []),
        "ansible.yml": (4, argv[argv.index("iosonde-mpi") + 1:]),
    }
    for name, (hosts, typed) in commands.items():
        if typed[:1] != ["run"]:
            sys.exit(f"{name}: it starts no run")
        # The target is the last word, but for the report, which a dry run does not write.
        plain = typed[:typed.index("--out")] if "--out" in typed else typed
        simulated(program, name, [*plain[:-1], "sim:dfs", "--hosts", str(hosts), "--dry-run"])
    return len(commands)


def simulated(program, name, words):
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, IOSONDE_STORE=os.path.join(folder, "store.db"))
        done = subprocess.run([program, *words], cwd=folder, env=environment, capture_output=True, text=True)
        if done.returncode != 0 or "hosts" not in done.stdout:
            sys.exit(f"{name}: iosonde {' '.join(words)} ended with {done.returncode}: {done.stderr or done.stdout}")


def packed():
    """Name of this version's image, as packaging/image.py makes it."""
    root = os.path.dirname(HERE)
    with open(os.path.join(root, "Cargo.toml"), encoding="utf-8") as file:
        version = re.search(r'^version = "(.*)"', file.read(), re.MULTILINE)[1]
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "image.tar")
        script = os.path.join(root, "packaging", "image.py")
        words = ["--arch", "amd64", "--version", version, os.path.abspath(__file__), made]
        subprocess.run([sys.executable, script, *words], check=True)
        with tarfile.open(made) as archive:
            [entry] = json.load(archive.extractfile("manifest.json"))
            config = json.load(archive.extractfile(entry["Config"]))["config"]
    # The arguments of a Job follow this.
    if config["Entrypoint"] != ["/usr/bin/iosonde"]:
        sys.exit(f"packaging/image.py: the image starts {config['Entrypoint']}")
    [name] = entry["RepoTags"]
    return name


def check(program, path, job, claims, image):
    """The job's volumes and image exist, and its command line gives a result on simulated devices in their place."""
    volumes = {volume["name"]: volume for volume in job["volumes"]}
    used = {volume["persistentVolumeClaim"]["claimName"] for volume in volumes.values() if "emptyDir" not in volume}
    if used != claims:
        sys.exit(f"{path}: its job uses the claims {used}, and {claims} are defined")
    [container] = job["containers"]
    if container["image"] != image or "command" in container:
        sys.exit(f"{path}: it starts {container.get('command', container['image'])}, and ./release makes {image}")
    mounts = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
    devices = iter(("sim:plain-nvme", "sim:optane"))
    words = [next(devices) if word in mounts and mounts[word] in volumes else word for word in container["args"]]
    if words == container["args"]:
        sys.exit(f"{path}: no argument is a mounted volume")
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, IOSONDE_STORE=os.path.join(folder, "store.db"))
        done = subprocess.run([program, *words], cwd=folder, env=environment, capture_output=True, text=True)
        if done.returncode != 0 or "VALID" not in done.stdout:
            sys.exit(f"{path}: iosonde {' '.join(words)} ended with {done.returncode}: {done.stderr or done.stdout}")


if __name__ == "__main__":
    main()
