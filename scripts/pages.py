"""Stories in a real browser: every page, at desktop and phone width, light and dark.

    scripts/pages            starts a server of its own and calls this
    pages.py URL AXE DIR PROGRAM

URL is a running `vizard demo`, VIZARD_ADMIN_KEY its admin key; AXE the file
axe.min.js; DIR where screenshots go; PROGRAM the
binary, for a server with an issuer. Every page is held against
axe-core's rules (WCAG 2.2 A and AA and best practice) and against its own
Content-Security-Policy: no violation, no report, no error in the console.
At the end stands a table of the pages: how large, how soon.
"""

import base64
import http.client
import json
import os
import pathlib
import re
import shutil
import statistics
import sys
import tempfile
import threading
import time
import traceback
import urllib.error
import urllib.parse
import urllib.request

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

import pages_consent
import pages_issuer

WIDTHS = {"desktop": (1280, 900), "phone": (390, 844)}
SECONDS_MAX = 30
STARTS_MAX = 3
PAGE_BYTES_MAX = 100 * 1024
# Stories that are told at a time: the machine of CI has two cores.
TOGETHER = 2
SAMPLE = pathlib.Path("sample/records.csv").resolve()
KEYS = {
    "all": ["steward", "uploader", "consent", "auditor", "analyst"],
    "analyst": ["analyst"],
    "auditor": ["auditor"],
}
SCRIPT, IMAGE, BIDI = "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "a\u202eb\u2066c"


def browser(scripts=True):
    options = webdriver.ChromeOptions()
    for flag in ["headless=new", "no-sandbox", "disable-gpu", "hide-scrollbars", "force-device-scale-factor=1"]:
        options.add_argument(f"--{flag}")
    if not scripts:
        options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = started(options)
    show(driver, "desktop", False)
    return driver


def started(options):
    """A machine that is busy may be too slow for a browser's start: that says nothing of a page."""
    for left in reversed(range(STARTS_MAX)):
        try:
            return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        except WebDriverException:
            if not left:
                raise


def show(driver, width, dark):
    """The same page in another window and another light."""
    scheme = {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", scheme)
    size = {"width": WIDTHS[width][0], "height": WIDTHS[width][1], "deviceScaleFactor": 1, "mobile": width == "phone"}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def window(width, dark, scripts=True):
    """A browser that stays in one window and one light."""
    driver = browser(scripts)
    show(driver, width, dark)
    return driver


class Stories:
    def __init__(self, url, keys, axe, folder):
        self.url, self.keys, self.folder = url, keys, folder
        self.axe = axe.read_text()
        self.faults, self.looked, self.sizes = [], set(), {}

    def fault(self, text):
        print(f"  ✗ {text}")
        self.faults.append(text)

    def look(self, driver, name):
        """Takes pictures of a page, and holds it against the rules."""
        # All rules at both widths; what light changes are contrasts alone.
        for width, dark, rules in [("desktop", False, None), ("desktop", True, "color-contrast"), ("phone", True, None), ("phone", False, "color-contrast")]:
            show(driver, width, dark)
            self.hold(driver, f"{name}-{width}-{'dark' if dark else 'light'}", rules)
        show(driver, "desktop", False)
        place = re.sub(r"(_)[0-9a-f-]{36}", r"\1…", urllib.parse.urlsplit(driver.current_url).path)
        self.sizes[name] = (driver.current_url, place, self.noted(driver, name))

    def look_once(self, driver, name):
        """The same in the window as it is."""
        self.hold(driver, name, None)
        self.noted(driver, name)

    def hold(self, driver, mark, rules):
        driver.execute_script(self.axe)
        self.picture(driver, mark)
        wanted = {"resultTypes": ["violations"]} | ({"runOnly": {"type": "rule", "values": [rules]}} if rules else {})
        found = driver.execute_async_script(
            "const done = arguments[arguments.length - 1];"
            "axe.run(arguments[0]).then(found => done(found.violations), error => done([{id: String(error), nodes: []}]))",
            wanted,
        )
        for violation in found:
            where = "; ".join(str(node["target"]) for node in violation["nodes"][:3])
            self.fault(f"{mark}: axe: {violation['id']}: {violation.get('help', '')} ({where})")

    def noted(self, driver, name):
        """What the console says, and the bytes of the page."""
        self.console(driver, name)
        sent = driver.execute_script("const page = performance.getEntriesByType('navigation')[0]; return page ? page.decodedBodySize : 0")
        if sent > PAGE_BYTES_MAX:
            self.fault(f"{name}: {sent} bytes")
        self.looked.add(name)
        return sent

    def picture(self, driver, mark):
        size = driver.execute_script("return [document.documentElement.scrollWidth, document.documentElement.clientWidth, document.documentElement.scrollHeight]")
        if size[0] > size[1]:
            self.fault(f"{mark}: the page is wider than the window ({size[0]} > {size[1]})")
        clip = {"x": 0, "y": 0, "width": size[1], "height": min(size[2], 6000), "scale": 1}
        picture = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
        (self.folder / f"{mark}.png").write_bytes(base64.b64decode(picture["data"]))

    def console(self, driver, name):
        for entry in driver.get_log("browser"):
            is_status = entry["source"] == "network" and "status of 4" in entry["message"]
            if entry["level"] in ("SEVERE", "WARNING") and not is_status:
                self.fault(f"{name}: console: {entry['message'][:200]}")

    def go(self, driver, place):
        driver.get(self.url + place)

    def press(self, driver, text, tag="button"):
        found = [one for one in driver.find_elements(By.CSS_SELECTOR, f"{tag}:not([aria-hidden])") if text in one.text]
        if not found:
            raise AssertionError(f"no {tag} “{text}” at {driver.current_url}")
        found[0].click()

    def turn(self, driver, press):
        """Does what loads another page, and waits for that."""
        old = driver.find_element(By.TAG_NAME, "html")
        press()

        def is_new(it):
            try:
                old.is_enabled()
                return False
            except WebDriverException:
                return it.execute_script("return document.readyState") == "complete"

        self.wait(driver, "another page", is_new)

    def wait(self, driver, what, until, seconds=SECONDS_MAX):
        # A question may meet the page that is just being replaced: it is asked again.
        asked = WebDriverWait(driver, seconds, poll_frequency=0.1, ignored_exceptions=[WebDriverException])
        asked.until(until, f"{what} at {driver.current_url}")

    def heading(self, driver):
        return driver.find_element(By.TAG_NAME, "h1").text

    def text(self, driver):
        return driver.find_element(By.TAG_NAME, "main").text

    def sign_in(self, driver, role):
        """By keyboard alone: the field has the focus when the page is there."""
        self.go(driver, "/signin")
        self.wait(driver, "the sign-in page", lambda it: it.find_elements(By.ID, "key"))
        driver.switch_to.active_element.send_keys(self.keys[role] + Keys.ENTER)
        self.wait(driver, "the first page", lambda it: "What waits" in self.heading(it))
        held = [cookie for cookie in driver.get_cookies() if cookie["name"] == "__Host-vizard"]
        assert len(held) == 1 and held[0]["httpOnly"] and held[0]["secure"], held
        assert driver.execute_script("return document.cookie") == ""

    def sign_out(self, driver):
        self.press(driver, "Sign out")
        self.wait(driver, "the way in", lambda it: it.find_elements(By.LINK_TEXT, "Sign in"))
        assert not [cookie for cookie in driver.get_cookies() if cookie["name"] == "__Host-vizard"]

    def ways(self, driver):
        return [link.text for link in driver.find_elements(By.CSS_SELECTOR, "header nav a")]

    def everything(self, driver):
        """Each page as who may see most of it."""
        self.go(driver, "/")
        self.look(driver, "welcome")
        self.go(driver, "/signin")
        self.look(driver, "signin")
        driver.find_element(By.ID, "key").send_keys("vz_wrong" + Keys.ENTER)
        self.wait(driver, "what is wrong", lambda it: it.find_elements(By.CSS_SELECTOR, "[role=alert]"))
        self.look(driver, "signin-wrong")
        self.sign_in(driver, "all")
        self.look(driver, "home")
        for place in ["datasets", "jobs", "releases"]:
            self.go(driver, f"/{place}")
            self.look(driver, place)
            self.turn(driver, driver.find_elements(By.CSS_SELECTOR, f"main a[href^='/{place}/{place[:-1]}_']")[-1].click)
            self.look(driver, place[:-1])
            if place == "datasets":
                self.turn(driver, lambda: self.press(driver, "Risk", "a"))
                self.look(driver, "risk")
        self.go(driver, "/releases/release_00000000-0000-7000-8000-000000000000")
        self.look(driver, "nothing")
        self.go(driver, "/")
        self.sign_out(driver)

    def from_file_to_publication(self, driver):
        """A steward: an export, its proposal, a job, the release, published."""
        self.sign_in(driver, "all")
        self.go(driver, "/datasets")
        self.press(driver, "New dataset", "a")
        self.wait(driver, "the file", lambda it: it.find_elements(By.ID, "file"))
        self.look(driver, "new-dataset")
        driver.find_element(By.ID, "file").send_keys(str(SAMPLE))
        self.wait(driver, "the proposal", lambda it: it.find_elements(By.ID, "keep"))
        self.look(driver, "new-dataset-proposal")
        role = driver.find_element(By.CSS_SELECTOR, "select[data-attribute=profession]")
        Select(role).select_by_value("insensitive")
        schema = driver.execute_script("return document.getElementById('schema').value")
        roles = {one["name"]: one["role"] for one in json.loads(schema)["schema"]["attributes"]}
        assert roles["profession"] == "insensitive", roles
        Select(role).select_by_value("quasi_identifier")
        driver.find_element(By.ID, "keep").click()
        self.wait(driver, "the dataset", lambda it: it.find_elements(By.LINK_TEXT, "New job") or it.find_elements(By.CSS_SELECTOR, "#wrong [role=alert]"))
        wrong = driver.find_elements(By.CSS_SELECTOR, "#wrong [role=alert]")
        assert not wrong, wrong[0].text
        self.look(driver, "new-dataset-made")
        self.press(driver, "New job", "a")
        self.wait(driver, "the questions", lambda it: it.find_elements(By.CLASS_NAME, "choices"))
        self.look(driver, "new-job")
        driver.find_element(By.CSS_SELECTOR, ".choices a[href$=mondrian]").click()
        self.wait(driver, "the parameters", lambda it: it.find_elements(By.NAME, "parameter.k"))
        self.look(driver, "new-job-mondrian")
        driver.find_element(By.NAME, "parameter.l").send_keys("2")
        Select(driver.find_element(By.NAME, "parameter.diversity")).select_by_value("recursive")
        self.press(driver, "Run the job")
        self.wait(driver, "what is wrong", lambda it: it.find_elements(By.CSS_SELECTOR, "[role=alert]"))
        self.look(driver, "new-job-wrong")
        assert driver.find_element(By.NAME, "parameter.l").get_attribute("value") == "2"
        Select(driver.find_element(By.NAME, "parameter.diversity")).select_by_value("")
        self.press(driver, "Run the job")
        self.wait(driver, "the job", lambda it: "/jobs/" in it.current_url)
        # The page comes back by itself when the job has ended.
        self.wait(driver, "the end of the job", lambda it: it.find_elements(By.LINK_TEXT, "To the release"))
        self.look(driver, "job-ended")
        self.press(driver, "To the release", "a")
        self.wait(driver, "the draft", lambda it: it.find_elements(By.CLASS_NAME, "decision"))
        self.look(driver, "release-draft")
        self.press(driver, "Publish")
        self.wait(driver, "the publication", lambda it: "Take it back?" in it.page_source)
        self.look(driver, "release-published")

    def from_catalogue_to_query(self, driver):
        """An analyst sees what is published, how it is read, and asks it."""
        self.sign_in(driver, "analyst")
        assert self.ways(driver) == ["Catalogue", "API"], self.ways(driver)
        self.go(driver, "/datasets")
        assert "role" in self.text(driver)
        self.go(driver, "/releases")
        self.look(driver, "catalogue")
        self.turn(driver, driver.find_elements(By.CSS_SELECTOR, "main .choices a")[-1].click)
        for summary in driver.find_elements(By.CSS_SELECTOR, "main summary"):
            summary.click()
        self.look(driver, "release-analyst")
        assert not driver.find_elements(By.CLASS_NAME, "decision")
        assert driver.find_elements(By.CSS_SELECTOR, ".data tbody tr")
        self.turn(driver, lambda: self.press(driver, "Ask it", "a"))
        self.look(driver, "query")
        for name in ["district", "age", "insurance"]:
            Select(driver.find_element(By.ID, "add")).select_by_visible_text(name)
            self.turn(driver, lambda: self.press(driver, "Add a condition"))
        assert driver.switch_to.active_element.get_attribute("name") == "test.2"
        Select(driver.find_element(By.NAME, "value.0")).select_by_visible_text("Eastmark")
        driver.find_element(By.NAME, "value.1").send_keys("30")
        self.turn(driver, lambda: driver.find_element(By.NAME, "value.1").send_keys(Keys.ENTER))
        # Every condition that is not whole is told beside it.
        assert "Give a value" in driver.find_element(By.CSS_SELECTOR, "[role=alert]").text
        self.look(driver, "query-wrong")
        driver.find_element(By.NAME, "upper.1").send_keys("69")
        self.turn(driver, driver.find_element(By.CSS_SELECTOR, "button[value='remove.2']").click)
        driver.find_element(By.XPATH, "//label[normalize-space()='sex']/input[@name='group']").click()
        driver.find_element(By.XPATH, "//label[normalize-space()='cost']/input[@name='average']").click()
        self.turn(driver, lambda: self.press(driver, "Ask"))
        assert len(driver.find_elements(By.CSS_SELECTOR, "#answer tbody tr")) == 2, self.text(driver)
        driver.find_element(By.CSS_SELECTOR, "#answer summary").click()
        self.look(driver, "query-answer")
        self.go(driver, driver.current_url.removeprefix(self.url))
        driver.find_element(By.XPATH, "//label[normalize-space()='diagnosis']/input[@name='group']").click()
        self.turn(driver, lambda: self.press(driver, "Ask"))
        assert len(driver.find_elements(By.CSS_SELECTOR, ".answer .bar")) == 40
        self.look(driver, "query-answer-large")

    def from_exploration_to_choice(self, driver):
        """A steward explores, follows it, and chooses a candidate."""
        self.sign_in(driver, "all")
        self.go(driver, "/datasets")
        self.turn(driver, driver.find_element(By.LINK_TEXT, "admissions-2026-q3").click)
        self.turn(driver, lambda: self.press(driver, "Explore settings", "a"))
        self.look(driver, "explore")
        box = driver.find_element(By.ID, "k")
        box.clear()
        box.send_keys("five")
        self.turn(driver, lambda: self.press(driver, "Explore"))
        assert "numbers with commas" in driver.find_element(By.CSS_SELECTOR, "[role=alert]").text
        box = driver.find_element(By.ID, "k")
        box.clear()
        box.send_keys("5, 20")
        box = driver.find_element(By.ID, "l")
        box.clear()
        box.send_keys("5")
        driver.find_element(By.CSS_SELECTOR, "form details summary").click()
        driver.find_element(By.NAME, "shared.lgb").send_keys('{"generalization": "mdp", "attributes": {"sex": {"t_closeness": 0.2}}}')
        self.turn(driver, lambda: self.press(driver, "Explore"))
        self.look(driver, "exploration-begun")
        # The page goes on by itself.
        self.wait(driver, "its end", lambda it: "done" in it.find_element(By.CSS_SELECTOR, "#exploration .state").text, 120)
        self.look(driver, "exploration")
        sign = driver.find_element(By.CSS_SELECTOR, ".scatter a")
        place = sign.get_attribute("aria-label").replace("Setting ", "setting-")
        driver.execute_script("arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}))", sign)
        self.wait(driver, "the row", lambda it: it.current_url.endswith(f"#{place}"))
        assert driver.find_elements(By.CSS_SELECTOR, f"tr#{place}:target")
        self.turn(driver, lambda: self.press(driver, "Choose it"))
        assert "Publish it?" in self.text(driver)

    def corrected_hierarchy(self, driver):
        """A steward finds a label, corrects it, and puts the revision to use."""
        self.sign_in(driver, "all")
        self.go(driver, "/datasets")
        self.turn(driver, driver.find_element(By.LINK_TEXT, "admissions-2026-q3").click)
        self.turn(driver, driver.find_element(By.LINK_TEXT, "diagnosis").click)
        self.look(driver, "hierarchy")
        driver.find_element(By.ID, "q").send_keys("heart")
        self.turn(driver, lambda: self.press(driver, "Search"))
        assert driver.find_elements(By.TAG_NAME, "mark")
        self.look(driver, "hierarchy-search")
        self.turn(driver, driver.find_element(By.CSS_SELECTOR, ".tree a[href*='at=Heart']").click)
        driver.find_element(By.ID, "rename").send_keys("Heart and valves")
        self.turn(driver, lambda: self.press(driver, "Rename"))
        assert "It is not in use yet" in self.text(driver)
        driver.find_element(By.ID, "leaf").send_keys("I50 Heart failure")
        self.turn(driver, lambda: self.press(driver, "Add"))
        assert "already" in driver.find_element(By.CSS_SELECTOR, "[role=alert]").text
        self.look(driver, "hierarchy-wrong")
        self.turn(driver, lambda: self.press(driver, "Read the records"))
        assert "It is not in use yet" not in self.text(driver)
        self.look(driver, "hierarchy-in-use")

    def audited(self, driver):
        """An auditor: the log, some rows of it, the chain, the ledger."""
        self.sign_in(driver, "auditor")
        assert self.ways(driver) == ["Audit", "API"], self.ways(driver)
        self.go(driver, "/audit")
        self.look(driver, "audit")
        self.press(driver, "Some rows only", "summary")
        driver.find_element(By.ID, "action").send_keys("publish_release")
        self.turn(driver, lambda: self.press(driver, "Show these rows"))
        said = {row.text for row in driver.find_elements(By.CSS_SELECTOR, "tbody td:nth-child(4)")}
        assert said == {"publish release"}, said
        self.look(driver, "audit-some")
        for way, name in [("Check the chain", "chain"), ("Ledger", "ledger")]:
            self.go(driver, "/audit")
            self.turn(driver, lambda: self.press(driver, way, "a"))
            self.look(driver, name)

    def by_keyboard(self, driver):
        """Tab, Enter, Space and what is typed: from signing in to an answer."""
        self.sign_in(driver, "analyst")
        self.tab_to(driver, "Catalogue")
        self.turn(driver, lambda: driver.switch_to.active_element.send_keys(Keys.ENTER))
        self.tab_to(driver, "Release by lgb")
        self.turn(driver, lambda: driver.switch_to.active_element.send_keys(Keys.ENTER))
        self.tab_to(driver, "Ask it")
        self.turn(driver, lambda: driver.switch_to.active_element.send_keys(Keys.ENTER))
        self.tab_to(driver, "sex", lambda it: it.get_attribute("name") == "group")
        driver.switch_to.active_element.send_keys(Keys.SPACE)
        self.tab_to(driver, "Add a condition")
        self.turn(driver, lambda: driver.switch_to.active_element.send_keys(Keys.SPACE))
        # The condition that was added has the focus.
        assert driver.switch_to.active_element.get_attribute("name") == "test.0"
        self.tab_to(driver, "Value of age")
        driver.switch_to.active_element.send_keys("30" + Keys.TAB)
        self.turn(driver, lambda: driver.switch_to.active_element.send_keys("59" + Keys.ENTER))
        rows = driver.find_elements(By.CSS_SELECTOR, "#answer tbody tr")
        assert len(rows) == 2, self.text(driver)
        self.looked.add("by keyboard")

    def tab_to(self, driver, text, fits=lambda it: True):
        """Presses Tab until what has the focus has this name; it is seen there."""
        for _ in range(150):
            driver.switch_to.active_element.send_keys(Keys.TAB)
            focus = driver.switch_to.active_element
            said = driver.execute_script(
                "const it = arguments[0]; return [it.getAttribute('aria-label') || it.innerText || (it.labels && it.labels[0] ? it.labels[0].innerText : ''), getComputedStyle(it).outlineStyle]",
                focus,
            )
            if text in (said[0] or "") and fits(focus):
                assert said[1] != "none", f"nobody sees the focus on {text}"
                return
        raise AssertionError(f"no way to {text} by Tab at {driver.current_url}")

    def without_scripts(self, driver):
        """Reading pages need none: everything but progress is there; a form asks."""
        self.go(driver, "/signin")
        driver.find_element(By.ID, "key").send_keys(self.keys["all"] + Keys.ENTER)
        self.wait(driver, "the first page", lambda it: "What waits" in self.heading(it))
        self.go(driver, "/datasets/new")
        assert "needs scripts" in self.text(driver), "scripts run"
        for place, wanted in [("/datasets", "main table"), ("/releases", ".choices a"), ("/audit", "main table"), ("/audit/ledger", "main table"), ("/audit/chain", ".yes")]:
            self.go(driver, place)
            assert driver.find_elements(By.CSS_SELECTOR, wanted), place
        self.go(driver, "/datasets")
        driver.find_element(By.LINK_TEXT, "admissions-2026-q3").click()
        self.wait(driver, "the dataset", lambda it: it.find_elements(By.LINK_TEXT, "profession"))
        driver.find_element(By.LINK_TEXT, "profession").click()
        self.wait(driver, "the tree", lambda it: it.find_elements(By.CSS_SELECTOR, ".tree details[open] summary"))
        self.go(driver, "/releases")
        driver.find_elements(By.CSS_SELECTOR, ".choices a")[-1].click()
        self.wait(driver, "the release", lambda it: it.find_elements(By.CSS_SELECTOR, ".data tbody tr"))
        self.press(driver, "Ask it", "a")
        self.wait(driver, "the form", lambda it: it.find_elements(By.ID, "add"))
        self.press(driver, "Add a condition")
        self.wait(driver, "the condition", lambda it: it.find_elements(By.NAME, "value.0"))
        driver.find_element(By.NAME, "value.0").send_keys("30")
        driver.find_element(By.NAME, "upper.0").send_keys("40")
        self.press(driver, "Ask")
        self.wait(driver, "the answer", lambda it: it.find_elements(By.CSS_SELECTOR, "#answer svg"))
        self.looked.add("without scripts")

    def hostile_texts(self, driver):
        """Names, values and a file name that want to be markup are text."""
        dataset, release = hostile_release(self)
        self.sign_in(driver, "all")
        places = [f"/datasets/{dataset}", f"/datasets/{dataset}/risk", f"/datasets/{dataset}/explore"]
        hierarchy = urllib.parse.quote(IMAGE, safe="")
        places += [f"/datasets/{dataset}/hierarchies/{hierarchy}", f"/datasets/{dataset}/hierarchies/{hierarchy}?at={urllib.parse.quote(SCRIPT)}"]
        places += ["/", "/datasets", "/releases", f"/releases/{release}", f"/releases/{release}/report", f"/releases/{release}/query", "/audit"]
        for place in places:
            self.go(driver, place)
            self.unharmed(driver, place, place != "/audit")
        self.go(driver, f"/releases/{release}/query")
        for name in [IMAGE, BIDI]:
            Select(driver.find_element(By.ID, "add")).select_by_visible_text(name)
            self.turn(driver, lambda: self.press(driver, "Add a condition"))
        Select(driver.find_element(By.NAME, "value.0")).select_by_visible_text(SCRIPT)
        Select(driver.find_element(By.NAME, "value.1")).select_by_index(0)
        for box in driver.find_elements(By.NAME, "group"):
            box.click()
        self.turn(driver, lambda: self.press(driver, "Ask"))
        driver.find_element(By.CSS_SELECTOR, "#answer summary").click()
        self.unharmed(driver, "an answer", True)
        program = driver.find_element(By.CSS_SELECTOR, "#answer pre").get_attribute("textContent")
        assert '"a\\u202eb\\u2066c"' in program, program
        self.look(driver, "hostile-answer")
        self.go(driver, f"/releases/{release}")
        self.look(driver, "hostile-release")
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / '"><img src=x onerror=alert(1)><script>alert(1)<.csv'
            file.write_text(SAMPLE.read_text().replace("sex", "<b>sex<img src=x>", 1))
            self.go(driver, "/datasets/new")
            driver.find_element(By.ID, "file").send_keys(str(file))
            self.wait(driver, "the proposal", lambda it: it.find_elements(By.CSS_SELECTOR, "#keep, #wrong [role=alert]"))
            self.unharmed(driver, "a proposal", False)
            assert "<b>sex<img src=x>" in driver.find_element(By.TAG_NAME, "body").text
            self.look(driver, "hostile-proposal")

    def unharmed(self, driver, place, is_shown):
        """No element came of a text, nothing ran, nothing was refused by the policy."""
        elements = driver.find_elements(By.CSS_SELECTOR, "img, script:not([src]), [onerror], [src='x'], main b:not(.card b)")
        if elements:
            self.fault(f"hostile: {place}: {elements[0].get_attribute('outerHTML')[:100]}")
        source = driver.find_element(By.TAG_NAME, "body").get_attribute("textContent")
        if is_shown and not (SCRIPT in source or IMAGE in source):
            self.fault(f"hostile: {place}: the text is not shown")
        self.console(driver, f"hostile: {place}")

    def sizes_and_times(self):
        """A table of the pages: bytes of the HTML, time to the first byte."""
        url = urllib.parse.urlsplit(self.url)
        connection = http.client.HTTPConnection(url.netloc)
        form = urllib.parse.urlencode({"key": self.keys["all"]})
        headers = {"Origin": self.url, "Content-Type": "application/x-www-form-urlencoded"}
        connection.request("POST", "/signin", form, headers)
        signed_in = connection.getresponse()
        signed_in.read()
        cookie = signed_in.getheader("Set-Cookie").split(";")[0]
        for name, place in [("consent", "/consent"), ("receipt", "/my-preferences/receipt")]:
            self.sizes[name] = (self.url + place, place, 0)
        print(f"{'view':<22}{'page':<44}{'bytes':>8}{'ms':>6}")
        for name, (address, place, sent) in sorted(self.sizes.items(), key=lambda one: one[1][1]):
            parts = urllib.parse.urlsplit(address)
            times = []
            for _ in range(5):
                begun = time.perf_counter()
                connection.request("GET", parts.path + (f"?{parts.query}" if parts.query else ""), headers={"Cookie": cookie})
                answer = connection.getresponse()
                answer.read(1)
                times.append((time.perf_counter() - begun) * 1000)
                size = 1 + len(answer.read())
            if size > PAGE_BYTES_MAX:
                self.fault(f"{name}: {size} bytes")
            print(f"{name:<22}{place:<44}{max(size, sent):>8}{statistics.median(times):>6.0f}")

    def tell(self, story, scripts=True):
        """One story in a browser of its own; what it could not find is a fault."""

        def with_browser():
            driver = browser(scripts)
            try:
                story(driver)
            except Exception:
                (self.folder / f"{story.__name__}.html").write_text(driver.page_source)
                raise
            finally:
                driver.quit()

        self.told(story.__name__, with_browser)

    def told(self, name, story):
        begun = time.monotonic()
        try:
            story()
        except Exception as error:
            lines = [f"{pathlib.Path(frame.filename).name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
            ours = [line for line in lines if line.startswith("pages")]
            self.fault(f"{name}, {' > '.join(ours[-4:])}: {type(error).__name__}: {str(error).splitlines()[:1]}")
        print(f"  {name}: {time.monotonic() - begun:.0f} s", flush=True)


def hostile_release(stories):
    """A dataset whose names and values want to be markup, and a release of it."""
    call = lambda method, path, body, kind="application/json": asked(stories.url, stories.keys["all"], (method, path), (body, kind))
    attributes = [
        {"name": "id", "role": "identifier"},
        {"name": IMAGE, "role": "quasi_identifier", "type": "categorical", "hierarchy": IMAGE},
        {"name": BIDI, "role": "quasi_identifier", "type": "categorical"},
        {"name": SCRIPT, "role": "sensitive", "type": "categorical"},
    ]
    schema = {"name": f"{SCRIPT} {BIDI}", "subject_key": "id", "attributes": attributes}
    dataset = call("POST", "/v1/datasets", json.dumps(schema))["id"]
    quoted = lambda text: '"' + text.replace('"', '""') + '"'
    tree = f"{SCRIPT};{quoted(IMAGE)};*\nplain;{quoted(IMAGE)};*\nother;b;*\n"
    name = urllib.parse.quote(IMAGE, safe="")
    call("PUT", f"/v1/datasets/{dataset}/hierarchies/{name}", tree, "text/csv")
    rows = [["id", IMAGE, BIDI, SCRIPT]]
    for at in range(200):
        rows.append([f"p{at}", [SCRIPT, "plain", "other"][at % 3], [BIDI, IMAGE][at % 2], [IMAGE, SCRIPT, "x", "y"][at // 2 % 4]])
    csv = "".join(",".join(quoted(cell) for cell in row) + "\n" for row in rows)
    call("POST", f"/v1/datasets/{dataset}/records", csv, "text/csv")
    job = {"dataset": dataset, "engine": "mondrian", "parameters": {"k": 5, "l": 2}, "publish": "automatic", "report": {"queries": 20}}
    job = call("POST", "/v1/jobs", json.dumps(job))["id"]
    ended = call("GET", f"/v1/jobs/{job}?wait=60", None)
    assert ended["release"], ended
    return dataset, ended["release"]


def asked(url, token, request, body):
    """What the API answers."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": body[1]}
    data = body[0].encode() if body[0] is not None else None
    request = urllib.request.Request(url + request[1], data, headers, method=request[0])
    try:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise AssertionError(f"{request.full_url}: {error.read().decode()}") from None


def main():
    url, axe, folder, program = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    admin = os.environ["VIZARD_ADMIN_KEY"]
    wishes = {name: json.dumps({"name": "pages", "roles": roles, "datasets": None}) for name, roles in KEYS.items()}
    keys = {name: asked(url, admin, ("POST", "/v1/keys"), (wish, "application/json"))["token"] for name, wish in wishes.items()}
    stories = Stories(url, keys, pathlib.Path(axe), folder)
    told = [
        stories.from_exploration_to_choice,
        stories.from_file_to_publication,
        stories.everything,
        stories.from_catalogue_to_query,
        stories.hostile_texts,
        stories.by_keyboard,
        stories.audited,
        stories.without_scripts,
        stories.corrected_hierarchy,
    ]
    left = [(story.__name__, lambda story=story: stories.tell(story, story.__name__ != "without_scripts")) for story in told]
    others = {"consent": lambda: pages_consent.tell(stories, window), "issuer": lambda: pages_issuer.story(stories, window, program)}
    left = [(name, lambda name=name, other=other: stories.told(name, other)) for name, other in others.items()] + left
    only = os.environ.get("STORY")
    left = [tell for name, tell in left if not only or name == only]

    def teller():
        while left:
            left.pop(0)()

    tellers = [threading.Thread(target=teller) for _ in range(TOGETHER)]
    for one in tellers:
        one.start()
    for one in tellers:
        one.join()
    stories.told("sizes_and_times", stories.sizes_and_times)
    # Once more, where who reads the end of a long log sees them.
    for fault in stories.faults:
        print(f"✗ {fault}")
    print(f"{len(stories.looked)} views, {len(stories.faults)} faults")
    sys.exit(1 if stories.faults else 0)


main()
