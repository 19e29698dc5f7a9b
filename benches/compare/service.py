"""B7 and B9: the service beside PostgreSQL's own copy and a server of files."""

import json
import socket
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import servers
from work import Failed, in_turn, median, ratio, run, seconds

DATABASE = "vizard"
POLL_S = 0.1
RECEIVED_AT_ONCE = 1 << 20


@dataclass
class Took:
    seconds: float
    bytes: int = 0


def measure(goals, program, data, times):
    if not goals.wants("B7", "B9"):
        return
    acs = data / "acs500k"
    with servers.postgres() as cluster:
        run(cluster.psql(f"CREATE DATABASE {DATABASE}"))
        with servers.vizard(program, cluster.url(DATABASE)) as service:
            dataset = Datasets(service, acs, "mondrian.json")
            if goals.wants("B7"):
                upload(goals, service, cluster, dataset, times)
            if goals.wants("B9"):
                download(goals, service, dataset, times)


class Datasets:
    """Datasets of one folder, on a service."""

    def __init__(self, service, folder, job):
        spec = json.loads((folder / job).read_text())
        self.schema = spec["schema"]
        self.job = spec["job"]
        self.records = folder / "records.csv"
        self.client = service.client("uploader", "steward", "analyst")
        for attribute in self.schema["attributes"]:
            name = attribute.get("hierarchy")
            if name:
                with open(folder / "hierarchies" / f"{name}.csv", "rb") as file:
                    self.client.call("PUT", f"/v1/hierarchies/{name}", file, "text/csv")

    def create(self):
        return self.client.call("POST", "/v1/datasets", self.schema)["id"]

    def upload(self, dataset):
        with open(self.records, "rb") as file:
            path = f"/v1/datasets/{dataset}/records?mode=append"
            return self.client.call("POST", path, file, "text/csv")


def upload(goals, service, cluster, datasets, times):
    """Each upload goes into a new dataset, each copy into a new table."""
    idle = service.resident_bytes()
    peaks = []

    def ours():
        dataset = datasets.create()
        service.forget_peak()
        begin = time.monotonic()
        datasets.upload(dataset)
        took = Took(time.monotonic() - begin)
        peaks.append(service.resident_bytes("VmHWM") - idle)
        return took

    with open(datasets.records) as file:
        columns = file.readline().strip().split(",")
    numbers = {
        attribute["name"]
        for attribute in datasets.schema["attributes"]
        if attribute.get("type") == "integer"
    }
    types = ", ".join(f"{name} {'integer' if name in numbers else 'text'}" for name in columns)
    made = f"DROP TABLE IF EXISTS plain; CREATE TABLE plain ({types})"
    copy = f"\\copy plain FROM '{datasets.records}' WITH (FORMAT csv, HEADER)"

    def theirs():
        run(cluster.psql(made))
        return run(cluster.psql(copy))

    one, other = in_turn(ours, theirs, times=times)
    told = f"{median(one, seconds):.2f} s ÷ {median(other, seconds):.2f} s"
    what = "upload of acs500k over HTTP into PostgreSQL ÷ psql \\copy into a plain table"
    goals.row("B7", what, ratio(one, other, seconds), 1.0, "{:.2f}", told)
    what = "same: resident memory of the server above idle, most of all uploads, MiB"
    told = f"first upload {peaks[0] / 2**20:.0f}, idle {idle / 2**20:.0f}"
    goals.row("B7", what, max(peaks) / 2**20, 64.0, "{:.0f}", told)


def download(goals, service, datasets, times):
    path = released(datasets)
    token = datasets.client.token
    with tempfile.TemporaryDirectory() as place:
        table = Path(place) / "table.csv"
        with open(table, "wb") as file:
            received(service.address, path, token, file.write)
        with servers.static_files(place) as address:
            ours = lambda: fetched(service.address, path, token)
            theirs = lambda: fetched(address, f"/{table.name}", token)
            one, other = in_turn(ours, theirs, times=max(times, 5))
        size = table.stat().st_size
        if any(took.bytes < size for took in one + other):
            raise Failed("a download was cut short")
    told = f"{median(one, seconds) * 1000:.0f} ms ÷ {median(other, seconds) * 1000:.0f} ms"
    told += f", {size / 2**20:.0f} MiB"
    what = "download of mondrian acs500k as CSV over loopback ÷ a process that only calls sendfile(2)"
    goals.row("B9", what, ratio(one, other, seconds), 3.0, "{:.2f}", told)


def released(datasets):
    """The path of a published table of 500,000 rows."""
    dataset = datasets.create()
    datasets.upload(dataset)
    client = datasets.client
    job = client.call("POST", "/v1/jobs", {"dataset": dataset, **datasets.job})
    while job["state"] in ("queued", "running"):
        time.sleep(POLL_S)
        job = client.call("GET", f"/v1/jobs/{job['id']}")
    if job["state"] != "succeeded":
        raise Failed(f"the job ended as {job['state']}: {job.get('problem')}")
    client.call("POST", f"/v1/releases/{job['release']}/publish")
    return f"/v1/releases/{job['release']}/tables/microdata?format=csv"


def fetched(address, path, token):
    """Downloads and throws away."""
    begin = time.monotonic()
    size = received(address, path, token, None)
    return Took(time.monotonic() - begin, size)


def received(address, path, token, write):
    """Bytes of the body of an answer, as they come off a connection of its own;
    framing of chunks, where there is any, is counted with them."""
    buffer = bytearray(RECEIVED_AT_ONCE)
    with socket.create_connection(address) as peer:
        peer.sendall(
            f"GET {path} HTTP/1.0\r\nHost: {address[0]}\r\n"
            f"Authorization: Bearer {token}\r\nConnection: close\r\n\r\n".encode()
        )
        head = b""
        while b"\r\n\r\n" not in head:
            more = peer.recv(4096)
            if not more:
                raise Failed(f"{path}: the connection ended")
            head += more
        head, body = head.split(b"\r\n\r\n", 1)
        if b" 200 " not in head.splitlines()[0]:
            raise Failed(f"{path}: {head.splitlines()[0].decode()}")
        size = len(body)
        if write:
            write(body)
        while count := peer.recv_into(buffer):
            size += count
            if write:
                write(memoryview(buffer)[:count])
    return size
