"""U1 to U7: what is lost."""

from data import arx_loss
from work import run

TREES = {5: "mondrian-trees-k5-best.json", 10: "mondrian-trees-k10-best.json"}


def measure(goals, vizard, figures_program, data):
    adult = data / "adult"
    if goals.wants("U1"):
        refined(goals, vizard, data / "acs100k")
    if goals.wants("U2"):
        flat(goals, vizard, adult)
    if goals.wants("U3"):
        persons(goals, vizard, data / "informs05")
    if goals.wants("U4"):
        refining_partition(goals, vizard, adult)
    if goals.wants("U5"):
        queries(goals, figures_program, data / "acs100k")
    if goals.wants("U6"):
        beside_arx(goals, vizard, adult)
    if goals.wants("U7"):
        close(goals, vizard, adult)


def refined(goals, vizard, acs):
    losses = []
    for job in ("lgb-ncp.json", "lgb-mdp.json"):
        vizard.anonymize(acs, job)()
        losses.append(vizard.measure("ncp"))
    told = f"{losses[0]:.3f} ÷ {losses[1]:.3f}"
    found = losses[0] / losses[1]
    goals.row("U1", "NCP, lgb ncp (fast) ÷ lgb mdp, acs100k", found, 0.6, more=told)


def flat(goals, vizard, adult):
    for effort, most in (("fast", 0.078), ("best", 0.066)):
        one = vizard.anonymize(adult, f"mondrian-flat-{effort}.json")()
        told = f"engine {one.timings['engine_ms'] / 1000:.2f} s"
        what = f"mondrian adult, no trees, k 10, {effort}: tight NCP"
        goals.row("U2", what, vizard.measure("ncp"), most, "{:.4f}", told)


def persons(goals, vizard, informs):
    ways = [(effort, {"effort": effort}) for effort in ("none", "fast", "best")]
    # Unions only where no release exists without them, unless they are asked for.
    ways.append(("fast, unions always", {"effort": "fast", "sibling_unions": "always"}))
    for way, parameters in ways:
        job = vizard.anonymize(informs, "one_to_many-even.json", parameters=parameters)
        told = f"engine {job().timings['engine_ms'] / 1000:.2f} s"
        for name, title, most in (("qid_ncp", "QID-NCP", 0.17), ("sa_ncp", "SA-NCP", 0.070)):
            what = f"one_to_many informs05, k 10, l 5, even tree, {way}: {title}"
            goals.row("U3", what, vizard.measure(name), most, "{:.4f}", told)


def refining_partition(goals, vizard, adult):
    # Low is not simply good: a search that brought GLP to its floor told the
    # values of people with equal quasi-identifiers. Its peer is what is printed.
    def largest():
        attributes = vizard.measure("glp", "attributes")
        return max(figures["glp"] for figures in attributes.values())

    vizard.anonymize(adult, "arp-paper.json")()
    printed = largest()
    one = vizard.anonymize(adult, "arp.json")()
    goals.row("U4", "arp adult, l 5: GLP ÷ that of the printed algorithm", largest() / printed, 1.0, "{:.4f}")
    goals.row("U4", "same, whole process, seconds", one.seconds, 2.0, "{:.2f}")


def queries(goals, figures_program, acs):
    # An example prints them: no job publishes mondrian's groups with anatomy's
    # buckets, so that table is put together from two releases.
    figures = run([figures_program, "query_error", acs]).timings
    what = "1,000 counting queries, acs100k, k 5, l 5: {} relative error of lgb {} ÷ mondrian + anatomy"
    for name, title in (("lgb_mdp", "mdp"), ("lgb_ncp_fast", "ncp, fast"), ("lgb_ncp_best", "ncp, best")):
        for part in ("mean", "median"):
            ours = figures[name]["relative_error"][part]
            theirs = figures["mondrian_anatomy"]["relative_error"][part]
            told = f"{ours:.4f} ÷ {theirs:.4f}"
            goals.row("U5", what.format(part, title), ours / theirs, 1.0, more=told)


def beside_arx(goals, vizard, adult):
    for k, most in ((5, 0.0524), (10, 0.0770)):
        for effort in ("fast", "best"):
            job = vizard.anonymize(adult, TREES[k], parameters={"effort": effort})
            one = job()
            told = f"whole process {one.processor_seconds:.1f} processor seconds"
            found = arx_loss(vizard.release / "microdata.csv", adult, TREES[k])
            what = f"mondrian adult, trees, k {k}, {effort}: loss as ARX counts it"
            goals.row("U6", what, found, most, "{:.4f}", told)


def close(goals, vizard, adult):
    for effort in ("none", "fast"):
        parameters = {"effort": effort, "t_closeness": 0.2}
        roles = {"occupation": "sensitive"}
        one = vizard.anonymize(adult, TREES[5], parameters=parameters, roles=roles)()
        told = f"whole process {one.processor_seconds:.1f} processor seconds"
        what = f"mondrian adult, 8 trees, k 5, t 0.2 on occupation, {effort}: NCP"
        goals.row("U7", what, vizard.measure("ncp"), 0.4, more=told)
