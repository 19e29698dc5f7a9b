"""Stories in a real browser: every page, at desktop and phone width, light and dark.

    scripts/pages            starts a server of its own and calls this
    pages.py URL AXE DIR PROGRAM

URL is a running `vizard demo`, VIZARD_ADMIN_KEY its admin key; AXE the file
axe.min.js; DIR where screenshots go; PROGRAM
the binary, for a server with an issuer. Every page is held against
axe-core's rules (WCAG 2.2 A and AA and best practice) and against its own
Content-Security-Policy: no violation, no report, no error in the console.
"""

import base64
import json
import os
import pathlib
import shutil
import sys
import urllib.request

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

import pages_consent
import pages_issuer

WIDTHS = {"desktop": (1280, 900), "phone": (390, 844)}
SECONDS_MAX = 30
PAGE_BYTES_MAX = 100 * 1024
SAMPLE = pathlib.Path("sample/records.csv").resolve()
KEYS = {"all": ["steward", "uploader", "consent", "auditor", "analyst"], "analyst": ["analyst"]}


def browser(width, dark, scripts=True):
    options = webdriver.ChromeOptions()
    for flag in ["headless=new", "no-sandbox", "disable-gpu", "hide-scrollbars", "force-device-scale-factor=1"]:
        options.add_argument(f"--{flag}")
    if dark:
        options.add_argument("--force-dark-mode")
        options.add_argument("--blink-settings=preferredColorScheme=0")
    if not scripts:
        options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    driver.set_window_size(*WIDTHS[width])
    if dark:
        media = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": WIDTHS[width][0], "height": WIDTHS[width][1], "deviceScaleFactor": 1, "mobile": width == "phone"},
    )
    return driver


class Stories:
    def __init__(self, url, keys, axe, folder):
        self.url, self.keys, self.folder = url, keys, folder
        self.axe = axe.read_text()
        self.faults = []
        self.looked = set()

    def fault(self, text):
        print(f"  ✗ {text}")
        self.faults.append(text)

    def look(self, driver, name):
        """Takes a picture of a page, and holds it against the rules."""
        size = driver.execute_script("return [document.documentElement.scrollWidth, document.documentElement.clientWidth, document.documentElement.scrollHeight]")
        if size[0] > size[1]:
            self.fault(f"{name}: the page is wider than the window ({size[0]} > {size[1]})")
        picture = driver.execute_cdp_cmd(
            "Page.captureScreenshot",
            {"captureBeyondViewport": True, "clip": {"x": 0, "y": 0, "width": size[1], "height": min(size[2], 6000), "scale": 1}},
        )
        (self.folder / f"{name}.png").write_bytes(base64.b64decode(picture["data"]))
        driver.execute_script(self.axe)
        found = driver.execute_async_script(
            "const done = arguments[arguments.length - 1];"
            "axe.run({resultTypes: ['violations']}).then(found => done(found.violations), error => done([{id: String(error), nodes: []}]))"
        )
        for violation in found:
            where = "; ".join(" ".join(node["target"]) for node in violation["nodes"][:3])
            self.fault(f"{name}: axe: {violation['id']}: {violation.get('help', '')} ({where})")
        for entry in driver.get_log("browser"):
            is_status = entry["source"] == "network" and "status of 4" in entry["message"]
            if entry["level"] in ("SEVERE", "WARNING") and not is_status:
                self.fault(f"{name}: console: {entry['message'][:200]}")
        bytes_sent = driver.execute_script("const page = performance.getEntriesByType('navigation')[0]; return page ? page.decodedBodySize : 0")
        if bytes_sent > PAGE_BYTES_MAX and "report" not in name:
            self.fault(f"{name}: {bytes_sent} bytes")
        self.looked.add(name)

    def go(self, driver, place):
        driver.get(self.url + place)

    def press(self, driver, text, tag="button"):
        found = [one for one in driver.find_elements(By.TAG_NAME, tag) if text in one.text]
        if not found:
            raise AssertionError(f"no {tag} “{text}” at {driver.current_url}")
        found[0].click()

    def wait(self, driver, what, until):
        WebDriverWait(driver, SECONDS_MAX).until(until, what)

    def heading(self, driver):
        return driver.find_element(By.TAG_NAME, "h1").text

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

    def everything(self, width, dark):
        """Each page as who may see most of it."""
        mark = f"{width}-{'dark' if dark else 'light'}"
        driver = browser(width, dark)
        try:
            self.go(driver, "/")
            self.look(driver, f"welcome-{mark}")
            self.go(driver, "/signin")
            self.look(driver, f"signin-{mark}")
            driver.find_element(By.ID, "key").send_keys("vz_wrong" + Keys.ENTER)
            self.wait(driver, "what is wrong", lambda it: it.find_elements(By.CSS_SELECTOR, "[role=alert]"))
            self.look(driver, f"signin-wrong-{mark}")
            self.sign_in(driver, "all")
            self.look(driver, f"home-{mark}")
            for place, name in [("/datasets", "datasets"), ("/jobs", "jobs"), ("/releases", "releases"), ("/audit", "audit"), ("/audit/chain", "chain")]:
                self.go(driver, place)
                self.look(driver, f"{name}-{mark}")
                links = driver.find_elements(By.CSS_SELECTOR, f"main tbody a[href^='{place}/']")
                if name != "audit" and links:
                    links[0].click()
                    self.wait(driver, "a page below", lambda it: it.find_elements(By.CSS_SELECTOR, "nav.above"))
                    self.look(driver, f"{name[:-1]}-{mark}")
                    if name == "datasets":
                        self.press(driver, "Risk", "a")
                        self.wait(driver, "the risk", lambda it: "Risk" in self.heading(it))
                        self.look(driver, f"risk-{mark}")
            self.go(driver, "/releases/release_00000000-0000-7000-8000-000000000000")
            self.look(driver, f"nothing-{mark}")
            self.go(driver, "/")
            self.sign_out(driver)
        finally:
            driver.quit()

    def from_file_to_publication(self):
        """A steward: an export, its proposal, a job, the release, published."""
        driver = browser("desktop", False)
        try:
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
            self.look(driver, "job-begun")
            # The page comes back by itself when the job has ended.
            self.wait(driver, "the end of the job", lambda it: it.find_elements(By.LINK_TEXT, "To the release"))
            self.press(driver, "To the release", "a")
            self.wait(driver, "the draft", lambda it: it.find_elements(By.CLASS_NAME, "decision"))
            self.look(driver, "release-draft")
            self.press(driver, "Publish")
            self.wait(driver, "the publication", lambda it: "Take it back?" in it.page_source)
            self.look(driver, "release-published")
        finally:
            driver.quit()

    def without_scripts(self):
        """Reading pages need none: everything but progress is there."""
        driver = browser("desktop", False, scripts=False)
        try:
            self.sign_in_plain(driver)
            self.go(driver, "/datasets/new")
            assert "needs scripts" in driver.find_element(By.TAG_NAME, "main").text, "scripts run"
            for place in ["/datasets", "/releases", "/audit"]:
                self.go(driver, place)
                assert driver.find_elements(By.CSS_SELECTOR, "main table"), place
            self.looked.add("without scripts")
        finally:
            driver.quit()

    def sign_in_plain(self, driver):
        self.go(driver, "/signin")
        driver.find_element(By.ID, "key").send_keys(self.keys["all"] + Keys.ENTER)
        self.wait(driver, "the first page", lambda it: "What waits" in self.heading(it))

    def by_role(self):
        """An analyst sees what is published, and nothing of how it is made."""
        driver = browser("desktop", False)
        try:
            self.sign_in(driver, "analyst")
            ways = [link.text for link in driver.find_elements(By.CSS_SELECTOR, "header nav a")]
            assert ways == ["Releases", "API"], ways
            self.go(driver, "/datasets")
            assert "role" in driver.find_element(By.TAG_NAME, "main").text
            self.go(driver, "/releases")
            driver.find_element(By.CSS_SELECTOR, "main tbody a").click()
            self.wait(driver, "the release", lambda it: it.find_elements(By.CLASS_NAME, "questions"))
            self.look(driver, "release-analyst")
            assert not driver.find_elements(By.CLASS_NAME, "decision")
        finally:
            driver.quit()


def key(url, roles):
    """A new key with these roles."""
    wish = {"name": "pages", "roles": roles, "datasets": None}
    headers = {"Authorization": f"Bearer {os.environ['VIZARD_ADMIN_KEY']}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{url}/v1/keys", json.dumps(wish).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["token"]


def main():
    url, axe, folder, program = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    keys = {name: key(url, roles) for name, roles in KEYS.items()}
    stories = Stories(url, keys, pathlib.Path(axe), folder)
    for width in WIDTHS:
        for dark in (False, True):
            stories.everything(width, dark)
    stories.from_file_to_publication()
    stories.by_role()
    stories.without_scripts()
    pages_consent.tell(stories, browser)
    pages_issuer.story(stories, browser, program)
    print(f"{len(stories.looked)} views, {len(stories.faults)} faults")
    sys.exit(1 if stories.faults else 0)


main()
