"""The table of goals, a row as soon as it is found."""


class Goals:
    """Which goals are asked for, and where their rows go."""

    def __init__(self, only):
        self.only = only

    def begin(self):
        print("| goal | measure | found | wanted | reached |")
        print("|---|---|---|---|---|", flush=True)

    def wants(self, *goals):
        return not self.only or any(goal in self.only for goal in goals)

    def row(self, goal, measure, found, most, form="{:.3f}", more=""):
        """A figure that should be at most `most`."""
        reached = "yes" if found <= most else "**no**"
        told = form.format(found) + (f" ({more})" if more else "")
        print(f"| {goal} | {measure} | {told} | ≤ {form.format(most)} | {reached} |", flush=True)
