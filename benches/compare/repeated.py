"""Many records from those there are, made by DuckDB.

The records of a folder come again and again; from the second time on whole
numbers are shifted by -2 to 2 and kept within their range. Which shift a cell
gets is a hash of its subject, its attribute and the number of the repetition,
so that the same number of records is the same data, whatever the threads.
"""

import json
import shutil
import tempfile

import duckdb

HASHED = "hash(concat_ws('|', {subject}, '{name}', round, 7))"


def repeated(folder, records, out):
    """A folder with as many records, one a subject, and their preferences."""
    schema = json.loads((folder / "mondrian.json").read_text())["schema"]
    key = schema["subject_key"]
    shifted = {one["name"] for one in schema["attributes"] if one.get("type") == "integer"}
    copy_rest(folder, out)
    database = opened(folder)
    names = [column for (column, *_) in database.execute("DESCRIBE base").fetchall()]
    columns = ", ".join(
        subject_text(name) if name == key else shift(key, name) if name in shifted else name
        for name in names
        if name != "line"
    )
    count = database.execute("SELECT count(*) FROM base").fetchone()[0]
    rounds = -(-records // count)
    chosen = f"FROM base, range({rounds}) AS rounds(round) WHERE round * {count} + line < {records}"
    for name in shifted:
        bounds = f"min({name}::BIGINT) AS low_{name}, max({name}::BIGINT) AS high_{name}"
        database.execute(f"CREATE TABLE range_{name} AS SELECT {bounds} FROM base")
    ranges = "".join(f", range_{name}" for name in sorted(shifted))
    chosen = chosen.replace(" WHERE", f"{ranges} WHERE")
    write(database, f"SELECT {columns} {chosen} ORDER BY round, line", out / "records.csv")
    terms = f"SELECT {subject_text('subject')}, preferences.* EXCLUDE (subject) "
    terms += f"FROM preferences JOIN base ON subject = {key}, range({rounds}) AS rounds(round) "
    terms += f"WHERE round * {count} + line < {records} ORDER BY round, line"
    write(database, terms, out / "preferences.csv")
    return out


def repeated_persons(folder, schema, records, out):
    """A folder with about as many records, several a subject, whole subjects
    alone; and their number. The shift of an attribute with a hierarchy counts
    places among its leaves."""
    key = schema["subject_key"]
    copy_rest(folder, out)
    database = opened(folder)
    count = database.execute("SELECT count(*) FROM base").fetchone()[0]
    rounds = max(1, round(records / count))
    columns, places, before, after = [], "", "", ""
    for one in schema["attributes"]:
        name = one["name"]
        if name == key:
            columns.append(subject_text(key))
        elif one["role"] == "quasi_identifier":
            leaves = folder / "hierarchies" / f"{one['hierarchy']}.csv"
            database.execute(LEAVES.format(name=name, path=leaves))
            most = database.execute(f"SELECT max(place) FROM leaves_{name}").fetchone()[0]
            steps = f"round_shift({HASHED.format(subject=key, name=name)}, round)"
            places += f", least({most}, greatest(0, from_{name}.place + {steps})) AS place_{name}"
            before += f" JOIN leaves_{name} AS from_{name} ON from_{name}.leaf = base.{name}"
            after += f" JOIN leaves_{name} AS to_{name} ON to_{name}.place = place_{name}"
            columns.append(f"to_{name}.leaf AS {name}")
        else:
            columns.append(f"shifted.{name}")
    shifted = f"SELECT base.*, round{places} FROM base CROSS JOIN range({rounds}) AS rounds(round)"
    chosen = f"FROM ({shifted}{before}) AS shifted{after} ORDER BY round, line"
    write(database, f"SELECT {', '.join(columns)} {chosen}", out / "records.csv")
    return out, rounds * count


LEAVES = """
CREATE TABLE leaves_{name} AS
SELECT leaf, row_number() OVER (ORDER BY leaf::BIGINT) - 1 AS place FROM (
    SELECT split_part(line, ';', 1) AS leaf
    FROM read_csv('{path}', header = false, delim = '\t', quote = '', columns = {{'line': 'VARCHAR'}})
)
"""


def opened(folder):
    """A database with the records as `base`, numbered by `line`, and the
    preferences; every cell is text as it was written."""
    database = duckdb.connect()
    database.execute("SET threads = 2")
    # What does not fit into memory goes where all else goes that is thrown away.
    database.execute(f"SET temp_directory = '{tempfile.gettempdir()}/duckdb'")
    for table, file in (("base", "records.csv"), ("preferences", "preferences.csv")):
        read = f"read_csv('{folder / file}', header = true, all_varchar = true, parallel = false)"
        number = ", row_number() OVER () - 1 AS line" if table == "base" else ""
        database.execute(f"CREATE TABLE {table} AS SELECT *{number} FROM {read}")
    database.execute(
        "CREATE MACRO round_shift(drawn, round) AS "
        "CASE WHEN round = 0 THEN 0 ELSE (drawn % 5)::BIGINT - 2 END"
    )
    return database


def subject_text(name):
    return f"CASE WHEN round = 0 THEN {name} ELSE {name} || '-' || round END AS {name}"


def shift(key, name):
    steps = f"round_shift({HASHED.format(subject=key, name=name)}, round)"
    return f"least(high_{name}, greatest(low_{name}, {name}::BIGINT + {steps})) AS {name}"


def write(database, query, path):
    database.execute(f"COPY ({query}) TO '{path}' (HEADER)")


def copy_rest(folder, out):
    """Job files and hierarchies."""
    shutil.copytree(folder / "hierarchies", out / "hierarchies", dirs_exist_ok=True)
    for path in folder.glob("*.json"):
        shutil.copy(path, out / path.name)
