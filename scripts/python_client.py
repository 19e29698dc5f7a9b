"""The story of the sample, told with the generated client (scripts/python_client).

    python_client.py URL

Every module is imported; then keys, hierarchies, a dataset, records and
preferences as CSV, a job with the engine's own parameters, publication, a
table. Shapes that the server does not send raise an error in the client.
"""

import importlib
import io
import json
import os
import pkgutil
import sys
import time

import vizard_client
from vizard_client import AuthenticatedClient
from vizard_client.api.datasets import create_dataset, upload_records
from vizard_client.api.hierarchies import put_hierarchy
from vizard_client.api.jobs import create_job, get_job, list_engines
from vizard_client.api.keys import create_key
from vizard_client.api.preferences import import_preferences
from vizard_client.api.releases import get_release, publish_release
from vizard_client.models import KeyRequest, LgbJob, LgbParameters, Schema
from vizard_client.types import File


def imported():
    """Imports every module of the client; their number."""
    modules = list(pkgutil.walk_packages(vizard_client.__path__, "vizard_client."))
    for module in modules:
        importlib.import_module(module.name)
    return len(modules)


def file(path):
    """A file of the sample as a body."""
    with open(path, "rb") as opened:
        return File(payload=io.BytesIO(opened.read()))


def done(answer, status=200):
    """What an operation answered, if it did what was asked."""
    if answer.status_code != status:
        sys.exit(f"status {int(answer.status_code)}: {answer.content.decode(errors='replace')}")
    return answer.parsed


def released(client, job):
    """The release of a job, when it is there."""
    for _ in range(600):
        seen = done(get_job.sync_detailed(job, client=client))
        if str(seen.state.value) not in ("queued", "running"):
            return seen.release
        time.sleep(0.1)
    sys.exit("the job did not end")


def main():
    """Tells the story."""
    modules, url = imported(), sys.argv[1]
    operator = AuthenticatedClient(base_url=url, token=os.environ["VIZARD_ADMIN_KEY"])
    wanted = {"name": "client", "roles": ["uploader", "consent", "steward", "analyst"], "datasets": None}
    key = done(create_key.sync_detailed(client=operator, body=KeyRequest.from_dict(wanted)), 201)
    client = AuthenticatedClient(base_url=url, token=key.token)

    with open("sample/spec.json", encoding="utf-8") as opened:
        spec = json.load(opened)
    for name in ("diagnosis", "district", "profession"):
        body = file(f"sample/hierarchies/{name}.csv")
        done(put_hierarchy.sync_detailed(name, client=client, body=body), 201)
    body = Schema.from_dict(spec["schema"])
    dataset = done(create_dataset.sync_detailed(client=client, body=body), 201).id
    body = file("sample/records.csv")
    version = done(upload_records.sync_detailed(dataset, client=client, body=body), 201)
    body = file("sample/preferences.csv")
    given = done(import_preferences.sync_detailed(dataset, client=client, body=body))

    job = LgbJob.from_dict({"dataset": dataset, **spec["job"]})
    if not isinstance(job.parameters, LgbParameters):
        sys.exit("the parameters of an engine have no type of their own")
    job = done(create_job.sync_detailed(client=client, body=job), 202)
    release = released(client, job.id)
    done(publish_release.sync_detailed(release, client=client))
    seen = done(get_release.sync_detailed(release, client=client))
    table = rows_of(client, release)
    engines = done(list_engines.sync_detailed(client=client)).items
    if not (version.records == 4000 and given.accepted > 0 and table > 3000 and len(engines) >= 10):
        sys.exit("the story ended otherwise than it should")
    print(f"{modules} modules imported; {version.records} records in, release {seen.id}, {table} rows out")


def rows_of(client, release):
    """The rows of the table that was published."""
    answer = client.get_httpx_client().get(f"/v1/releases/{release}/tables/microdata?format=csv")
    return len(answer.text.splitlines()) - 1


if __name__ == "__main__":
    main()
