#!/usr/bin/env python3
"""Makes a container image of one static program, without a container tool.

The archive is an OCI image layout and a docker archive at once (as `docker save` writes them), so that `docker load`,
`podman load` and `skopeo copy oci-archive:..` take it. The same inputs give the same bytes."""

import argparse
import gzip
import hashlib
import io
import json
import os
import tarfile
import time

STORE = "var/lib/iosonde"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--licences", nargs="+", default=[], help="files for /usr/share/doc/iosonde")
    parser.add_argument("--arch", required=True, choices=["amd64", "arm64"], help="Go's name of the architecture")
    parser.add_argument("--version", required=True)
    parser.add_argument("--epoch", type=int, default=int(os.environ.get("SOURCE_DATE_EPOCH", "0")))
    parser.add_argument("out")
    options = parser.parse_args()
    layer = root(options)
    # mtime: gzip writes the present moment otherwise.
    packed = gzip.compress(layer, mtime=0)
    config = encoded(configuration(options, digest(layer)))
    manifest = encoded({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": described("application/vnd.oci.image.config.v1+json", config),
        "layers": [described("application/vnd.oci.image.layer.v1.tar+gzip", packed)],
    })
    entry = described("application/vnd.oci.image.manifest.v1+json", manifest)
    entry["platform"] = {"architecture": options.arch, "os": "linux"}
    entry["annotations"] = {"org.opencontainers.image.ref.name": options.version}
    index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [entry]}
    # docker load reads this one.
    docker = [{"Config": place(config), "RepoTags": [f"iosonde:{options.version}"], "Layers": [place(packed)]}]
    files = [
        ("oci-layout", encoded({"imageLayoutVersion": "1.0.0"})),
        ("index.json", encoded(index)),
        ("manifest.json", encoded(docker)),
        *((place(blob), blob) for blob in (manifest, config, packed)),
    ]
    with tarfile.open(options.out, "w", format=tarfile.USTAR_FORMAT) as archive:
        for folder in ("blobs", "blobs/sha256"):
            add(archive, folder, None, options.epoch)
        for name, content in files:
            add(archive, name, content, options.epoch)


def root(options):
    """The only layer: the program, its licences, a folder for notebook and reports, and /tmp."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as layer:
        for folder in ("usr", "usr/bin", "usr/share", "usr/share/doc", "usr/share/doc/iosonde", "var", "var/lib"):
            add(layer, folder, None, options.epoch)
        # Any user may run the image.
        for folder in (STORE, "tmp"):
            add(layer, folder, None, options.epoch, 0o1777)
        with open(options.program, "rb") as program:
            add(layer, "usr/bin/iosonde", program.read(), options.epoch, 0o755)
        for path in options.licences:
            with open(path, "rb") as licence:
                add(layer, f"usr/share/doc/iosonde/{os.path.basename(path)}", licence.read(), options.epoch)
    return out.getvalue()


def configuration(options, layer):
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(options.epoch))
    return {
        "created": created,
        "architecture": options.arch,
        "os": "linux",
        "config": {
            "Entrypoint": ["/usr/bin/iosonde"],
            "Cmd": ["--help"],
            # Never on the storage under test: that is a volume.
            "Env": [f"IOSONDE_STORE=/{STORE}/notebook.db", "PATH=/usr/bin"],
            "WorkingDir": f"/{STORE}",
            "Labels": {
                "org.opencontainers.image.title": "iosonde",
                "org.opencontainers.image.version": options.version,
                "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [layer]},
        "history": [{"created": created, "created_by": "packaging/image.py"}],
    }


def add(archive, name, content, epoch, mode=None):
    """A file, or without content a folder, that belongs to root."""
    member = tarfile.TarInfo(name)
    member.mtime = epoch
    if content is None:
        member.type = tarfile.DIRTYPE
        member.mode = mode or 0o755
        archive.addfile(member)
    else:
        member.size = len(content)
        member.mode = mode or 0o644
        archive.addfile(member, io.BytesIO(content))


def encoded(document):
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def digest(blob):
    return "sha256:" + hashlib.sha256(blob).hexdigest()


def place(blob):
    return "blobs/sha256/" + hashlib.sha256(blob).hexdigest()


def described(media_type, blob):
    return {"mediaType": media_type, "digest": digest(blob), "size": len(blob)}


if __name__ == "__main__":
    main()
