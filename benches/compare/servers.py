"""Throw-away servers on this machine: PostgreSQL, Vizard, and one for static files."""

import contextlib
import http.client
import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from work import Failed

ADMIN_KEY = "an-admin-key-for-benches-with-32-characters"
STARTS_WITHIN_S = 60


@contextlib.contextmanager
def ended(process, by=signal.SIGTERM):
    """Ends a process of ours, however its use ended."""
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(by)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
        process.wait()


def postgres_programs():
    """The folder with `initdb` and `postgres`, the newest; None without."""
    versions = Path("/usr/lib/postgresql").glob("[0-9]*/bin")
    folders = sorted(versions, key=lambda folder: -int(folder.parent.name))
    folders += [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep)]
    for folder in folders:
        if all((folder / name).is_file() for name in ("initdb", "postgres")):
            return folder
    return None


def unprivileged():
    """Arguments for a child of PostgreSQL's, which refuses to run as root."""
    if os.getuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            account = pwd.getpwnam(name)
            return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    raise Failed("PostgreSQL refuses to run as root, and there is no user to run it as")


class Postgres:
    """A server on a Unix socket in `home`, as it is installed: with fsync."""

    def __init__(self, programs, home):
        self.programs = programs
        self.home = home

    def url(self, database="postgres"):
        return f"postgres://postgres@localhost:5432/{database}?host={self.home}"

    def psql(self, *statements, database="postgres"):
        """Runs statements or `\\copy`; a command for `run`."""
        command = ["psql", "--quiet", "--no-psqlrc", "--set", "ON_ERROR_STOP=1"]
        command += ["--dbname", self.url(database)]
        for statement in statements:
            command += ["--command", statement]
        return command


@contextlib.contextmanager
def postgres():
    """A cluster that goes when its use ends."""
    programs = postgres_programs()
    if programs is None or shutil.which("psql") is None:
        raise Failed("PostgreSQL's server or psql is not installed")
    owner = unprivileged()
    # Paths of sockets are limited to about 100 bytes: a short name.
    home = Path(tempfile.mkdtemp(prefix="vizard-pg-"))
    try:
        if owner:
            os.chown(home, owner["user"], owner["group"])
        data = home / "data"
        made = subprocess.run(
            [programs / "initdb", "--no-locale", "--encoding=UTF8", "--auth=trust"]
            + ["--username=postgres", "--pgdata", data],
            cwd="/",
            capture_output=True,
            text=True,
            **owner,
        )
        if made.returncode != 0:
            raise Failed(f"initdb ended with {made.returncode}:\n{made.stderr}")
        command = [programs / "postgres", "-D", data, "-k", home, "-p", "5432"]
        command += ["-c", "listen_addresses="]
        with open(home / "log", "w") as log:
            server = subprocess.Popen(command, cwd="/", stdout=log, stderr=log, **owner)
        with ended(server, by=signal.SIGINT):
            wait_until(lambda: "ready" in state_of(data), server, home / "log")
            yield Postgres(programs, home)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def state_of(data):
    """The eighth line of the server's file, which is its state."""
    with contextlib.suppress(OSError, IndexError):
        return (data / "postmaster.pid").read_text().splitlines()[7]
    return ""


def wait_until(is_ready, process, log):
    begin = time.monotonic()
    while not is_ready():
        if process.poll() is not None or time.monotonic() - begin > STARTS_WITHIN_S:
            raise Failed(f"a server did not start:\n{log.read_text()[-2000:]}")
        time.sleep(0.02)


class Client:
    """Calls of one token over one connection."""

    def __init__(self, address, token):
        self.connection = http.client.HTTPConnection(*address, timeout=600)
        self.token = token

    def call(self, method, path, body=None, kind="application/json"):
        """The answer as JSON; an error where it is not 2xx. `body` is a file, or
        what becomes JSON."""
        headers = {"Authorization": f"Bearer {self.token}"}
        if body is not None:
            headers["Content-Type"] = kind
            if hasattr(body, "read"):
                headers["Content-Length"] = str(os.fstat(body.fileno()).st_size)
            else:
                body = json.dumps(body)
        self.connection.request(method, path, body, headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status // 100 != 2:
            raise Failed(f"{method} {path}: {answer.status} {text[:500].decode(errors='replace')}")
        return json.loads(text) if text else None


class Service:
    """A running `vizard serve`."""

    def __init__(self, process, address):
        self.process = process
        self.address = address

    def client(self, *roles):
        """A client with a key of these roles."""
        key = {"name": "benches", "roles": roles, "datasets": None}
        made = Client(self.address, ADMIN_KEY).call("POST", "/v1/keys", key)
        return Client(self.address, made["token"])

    def resident_bytes(self, which="VmRSS"):
        """Resident memory; with `VmHWM` the most since `forget_peak`."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(which + ":"):
                return int(line.split()[1]) * 1024
        raise Failed("the system does not tell the memory of a process")

    def forget_peak(self):
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")


@contextlib.contextmanager
def vizard(program, store):
    """A service with workers on a free port."""
    with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as stack:
        said = Path(place) / "log"
        command = [program, "serve", "--listen", "127.0.0.1:0", "--store", store]
        command += ["--data", Path(place) / "data"]
        environment = {**os.environ, "VIZARD_ADMIN_KEY": ADMIN_KEY}
        with open(said, "w") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        stack.enter_context(ended(process))
        wait_until(lambda: "listening on http://" in said.read_text(), process, said)
        line = said.read_text().split("listening on http://")[1].split()[0]
        host, port = line.rsplit(":", 1)
        yield Service(process, (host, int(port)))


@contextlib.contextmanager
def static_files(folder):
    """Address of a server of the files of `folder`: a process of its own that
    answers by sendfile(2), which is the least that a server of files can do."""
    with tempfile.TemporaryDirectory() as place:
        log, port = Path(place) / "log", Path(place) / "port"
        command = [sys.executable, "-c", SENDFILE, folder, port]
        with open(log, "w") as written:
            process = subprocess.Popen(command, stdout=written, stderr=written)
        with ended(process):
            wait_until(port.exists, process, log)
            yield "127.0.0.1", int(port.read_text())


SENDFILE = """
import os, socket, sys
folder, told = sys.argv[1:]
listener = socket.create_server(("127.0.0.1", 0))
with open(told + ".new", "w") as out:
    out.write(str(listener.getsockname()[1]))
os.rename(told + ".new", told)
while True:
    with listener.accept()[0] as peer:
        name = os.path.basename(peer.recv(65536).split(b" ")[1].decode())
        with open(os.path.join(folder, name), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            head = f"HTTP/1.1 200 OK\\r\\nContent-Length: {size}\\r\\nConnection: close\\r\\n\\r\\n"
            peer.sendall(head.encode())
            peer.sendfile(file)
"""
