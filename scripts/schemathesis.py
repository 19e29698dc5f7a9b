"""What scripts/schemathesis needs beyond openapi.yaml: data, and ids of it.

As a program: makes a dataset with records, preferences, a published release
with a row that another steward asked for, and a draft on the server at URL, writes their ids to FILE, prints the token of
a key that has all roles.

    schemathesis.py URL FILE

As schemathesis' hooks: half of the made-up ids in paths are replaced by those,
for a made-up one is never found, and what follows after finding would not be
called at all.
"""

import json
import os
import re
import sys
import time
import urllib.request

ROLES = ["analyst", "consent", "uploader", "steward", "auditor", "admin"]
SCHEMA = {
    "name": "wards",
    "subject_key": "patient",
    "attributes": [
        {"name": "patient", "role": "identifier"},
        {"name": "age", "role": "semi_sensitive", "type": "integer"},
        {"name": "sex", "role": "semi_sensitive", "type": "categorical"},
        {"name": "ward", "role": "quasi_identifier", "type": "categorical", "hierarchy": "ward"},
        {"name": "cost", "role": "sensitive", "type": "integer"},
    ],
}
TAGS = re.compile(r'^(\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$')
HIERARCHY = "red;warm;*\norange;warm;*\nblue;cold;*\nviolet;cold;*\n"


def records():
    wards = ["red", "orange", "blue", "violet"]
    lines = ["patient,age,sex,ward,cost"]
    for at in range(60):
        lines.append(f"p{at},{20 + at * 13 % 60},{'FM'[at % 2]},{wards[at * 7 // 3 % 4]},{100 + at * 37 % 900}")
    return "\n".join(lines) + "\n"


def make(url, path):
    """Makes the data; the token of a key that has all roles."""
    token = os.environ["VIZARD_ADMIN_KEY"]

    def call(method, where, body=None, media_type="application/json", by=None):
        data = body if media_type != "application/json" else json.dumps(body)
        request = urllib.request.Request(
            url + where,
            method=method,
            data=None if body is None else data.encode(),
            headers={"authorization": f"Bearer {by or token}", "content-type": media_type},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def release(dataset):
        job = call("POST", "/v1/jobs", {"dataset": dataset, "engine": "lgb", "parameters": {"k": 2, "l": 2}})
        while True:
            seen = call("GET", f"/v1/jobs/{job['id']}")
            if seen["state"] not in ("queued", "running"):
                return seen["id"], seen["release"]
            time.sleep(0.1)

    token = call("POST", "/v1/keys", {"name": "made-up requests", "roles": ROLES, "datasets": None})["token"]
    call("PUT", "/v1/hierarchies/ward", HIERARCHY, "text/csv")
    dataset = call("POST", "/v1/datasets", SCHEMA)["id"]
    call("POST", f"/v1/datasets/{dataset}/records", records(), "text/csv")
    call("PUT", f"/v1/datasets/{dataset}/preferences/p7", {"exclude": True})
    job, published = release(dataset)
    call("POST", f"/v1/releases/{published}/publish", {})
    other = {"name": "another steward", "roles": ["steward"], "datasets": None}
    other = call("POST", "/v1/keys", other)["token"]
    question = {"table": "microdata", "row": 1, "reason": "an incidental finding"}
    questions = [call("POST", f"/v1/releases/{published}/reidentifications", question, by=other) for _ in range(2)]
    _, draft = release(dataset)
    ids = {
        "datasets": [dataset],
        "jobs": [job],
        "releases": [published, draft],
        "reidentifications": [question["id"] for question in questions],
        "name": ["ward"],
        "subject": ["p7", "p8"],
        "table": ["microdata", "buckets"],
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(ids, file)
    return token


def hooks():
    """Registers the hook that puts real ids into paths."""
    import schemathesis
    from hypothesis import strategies

    with open(os.environ["VIZARD_IDS"], encoding="utf-8") as file:
        ids = json.load(file)

    @schemathesis.serializer("application/x-ndjson", "application/vnd.apache.parquet")
    def as_it_is(ctx, value):
        return value if isinstance(value, bytes) else str(value).encode()

    @schemathesis.hook
    def before_call(context, case, kwargs):
        """Mends what is meant to be right and is not."""
        if case.meta is None or case.meta.generation.mode.name != "POSITIVE":
            return
        for name in list(case.headers):
            # Bodies come as they are: those that are packed have tests of their own.
            if name.lower() == "content-encoding":
                del case.headers[name]
            # The coverage phase does not look at the pattern of a header.
            if name.lower() in ("if-match", "if-none-match") and not TAGS.match(str(case.headers[name])):
                case.headers[name] = '"7"'

    @schemathesis.hook
    def filter_case(context, case):
        """Leaves out bodies of text that are meant to be of a wrong type: sent, they are text."""
        is_text = case.media_type not in (None, "application/json")
        return not (is_text and isinstance(case.body, (list, dict, bool, int, float, type(None))))

    @schemathesis.hook
    def before_generate_path_parameters(context, strategy):
        resource = context.operation.path.split("/")[2] if context.operation.path.startswith("/v1/") else ""

        def known(name):
            return ids.get(name) or (ids.get(resource) if name == "id" else None)

        def with_ids(drawn):
            made, choice = drawn
            # What is not a plain dictionary is meant to be wrong; and what is
            # deleted would be missed by the others.
            if not isinstance(made, dict) or context.operation.method == "delete":
                return made
            return {
                name: known(name)[choice % len(known(name))] if choice < 4 and known(name) else value
                for name, value in made.items()
            }

        return strategies.tuples(strategy, strategies.integers(0, 7)).map(with_ids)


if __name__ == "__main__":
    print(make(sys.argv[1], sys.argv[2]))
elif "VIZARD_IDS" in os.environ:
    hooks()
