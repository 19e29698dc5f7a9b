"""A person's story on the consent pages: from the link in a letter to the withdrawal.

Called by pages.py with what its own stories are told with. Every page in every
language, at phone and desktop width, in light and dark; by keyboard alone; without
scripts, with the code pasted; and as it is printed.
"""

import json
import os
import time
import urllib.request

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

LANGUAGES = {"en": "My data may be included", "de": "Meine Daten dürfen dabei sein", "fr": "Mes données peuvent y figurer", "es": "Mis datos pueden incluirse"}
TABS_MAX = 40
RECORDS = 120


def text(**by_language):
    return by_language


def schema(name):
    """A schema with words for people in all languages."""
    return {
        "name": name,
        "subject_key": "patient",
        "title": text(en="Stays at St Mary’s Hospital", de="Aufenthalte im Marienkrankenhaus", fr="Séjours à l’hôpital Sainte-Marie", es="Estancias en el hospital Santa María"),
        "purpose": text(
            en="Researchers want to find out how long people stay in hospital, and why.\nThe tables are public: everybody can download them.",
            de="Forschende möchten herausfinden, wie lange Menschen im Krankenhaus bleiben und warum.\nDie Tabellen sind öffentlich: Alle können sie herunterladen.",
            fr="Des chercheurs veulent savoir combien de temps les gens restent à l’hôpital, et pourquoi.\nLes tableaux sont publics\u00a0: tout le monde peut les télécharger.",
            es="Se quiere investigar cuánto tiempo permanecen las personas en el hospital y por qué.\nLas tablas son públicas: cualquiera puede descargarlas.",
        ),
        "contact": text(
            en="St Mary’s Hospital, data office\nTelephone 555 0100, data@stmary.example",
            de="Marienkrankenhaus, Datenstelle\nTelefon 555 0100, daten@marien.example",
            fr="Hôpital Sainte-Marie, service des données\nTéléphone 555 0100, donnees@sainte-marie.example",
            es="Hospital Santa María, oficina de datos\nTeléfono 555 0100, datos@santamaria.example",
        ),
        "attributes": [
            {"name": "patient", "role": "identifier", "title": text(en="Patient number", de="Patientennummer", fr="Numéro de patient", es="Número de paciente")},
            {
                "name": "age",
                "role": "semi_sensitive",
                "type": "integer",
                "title": text(en="Age", de="Alter", fr="Âge", es="Edad"),
                "description": text(en="In whole years, at the time of your stay.", de="In ganzen Jahren, zur Zeit Ihres Aufenthalts.", fr="En années révolues, au moment de votre séjour.", es="En años cumplidos, en el momento de su estancia."),
            },
            {"name": "sex", "role": "semi_sensitive", "type": "categorical", "title": text(en="Sex", de="Geschlecht", fr="Sexe", es="Sexo")},
            {"name": "ward", "role": "quasi_identifier", "type": "categorical", "title": text(en="Ward", de="Station", fr="Service", es="Planta")},
            {
                "name": "cost",
                "role": "sensitive",
                "type": "integer",
                "title": text(en="Cost of the stay", de="Kosten des Aufenthalts", fr="Coût du séjour", es="Coste de la estancia"),
                "description": text(en="What the hospital charged, in euros.", de="Was das Krankenhaus berechnet hat, in Euro.", fr="Ce que l’hôpital a facturé, en euros.", es="Lo que facturó el hospital, en euros."),
            },
        ],
    }


def records():
    lines = ["patient,age,sex,ward,cost"]
    for at in range(RECORDS):
        ward = ["surgery", "children", "heart", "eyes"][at * 7 // 3 % 4]
        lines.append(f"p{at},{20 + at * 13 % 60},{'FM'[at % 2]},{ward},{100 + at * 37 % 900}")
    return "\n".join(lines) + "\n"


class Service:
    """The API, with a key that may do all of this."""

    def __init__(self, url):
        self.url = url
        self.token = os.environ["VIZARD_ADMIN_KEY"]
        wish = {"name": "consent pages", "roles": ["uploader", "consent", "steward"], "datasets": None}
        self.token = self.call("POST", "/v1/keys", wish)["token"]

    def call(self, method, path, document=None, kind="application/json"):
        body = document if isinstance(document, str) or document is None else json.dumps(document)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": kind}
        body = None if body is None else body.encode()
        request = urllib.request.Request(self.url + path, body, headers, method=method)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def dataset(self, described):
        made = self.call("POST", "/v1/datasets", described)["id"]
        self.call("POST", f"/v1/datasets/{made}/records", records(), "text/csv")
        return made

    def codes(self, dataset, subjects):
        made = self.call("POST", f"/v1/datasets/{dataset}/subject-tokens", {"subjects": subjects})
        return [item["token"] for item in made["items"]]

    def publish(self, dataset):
        wish = {"dataset": dataset, "engine": "lgb", "parameters": {"k": 5, "l": 2}, "report": {"queries": 20}}
        job = self.call("POST", "/v1/jobs", wish)["id"]
        while (found := self.call("GET", f"/v1/jobs/{job}"))["state"] in ("queued", "running"):
            time.sleep(0.1)
        assert found["state"] == "succeeded", found
        self.call("POST", f"/v1/releases/{found['release']}/publish", {})


class Person:
    """Somebody with a browser, in one of the stories."""

    def __init__(self, stories, driver, mark):
        self.stories, self.driver, self.mark = stories, driver, mark

    def look(self, name):
        self.stories.look_once(self.driver, f"consent-{name}-{self.mark}")

    def find(self, selector):
        self.wait(selector)
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def wait(self, selector):
        self.stories.wait(self.driver, selector, lambda it: it.find_elements(By.CSS_SELECTOR, selector))

    def open(self, place):
        self.driver.get(self.stories.url + place)

    def in_language(self, language):
        # A link in a letter may say the language: what is behind `#` stays apart.
        return f"?lang={language}"

    def begin(self, place, code, language, selector):
        """By the link in a letter: the code goes at once, and leaves the address."""
        self.open(f"{place}{self.in_language(language)}#{code}")
        self.wait(selector)
        assert "#" not in self.driver.current_url and code not in self.driver.current_url, self.driver.current_url
        assert self.find("html").get_attribute("lang") == language
        assert self.driver.execute_script("return document.cookie") == ""
        assert self.driver.execute_script("return localStorage.length + sessionStorage.length") == 0
        hosts = self.driver.execute_script("return performance.getEntriesByType('resource').map(one => new URL(one.name).origin)")
        assert set(hosts) <= {self.stories.url}, hosts

    def choose(self, people):
        """With the data in, the age hidden, the sex shown."""
        self.find("#in").click()
        self.look("choices")
        self.find("input[name='hide.sex'][value=no]").click()
        self.find(f"#people-{people}").click()
        self.find("form button").click()
        self.wait("button[name=confirm]")
        self.look("confirm")

    def confirm(self):
        self.find("button[name=confirm]").click()
        self.wait(".spoken")
        return self.find(".spoken").text

    def tab_to(self, selector):
        """Goes on with the key Tab until the focus is there."""
        wanted = self.find(selector)
        for _ in range(TABS_MAX):
            focus = self.driver.switch_to.active_element
            if focus == wanted:
                return focus
            focus.send_keys(Keys.TAB)
        raise AssertionError(f"{selector} is not reached by Tab")


def whole(stories, service, browser, dataset, subject, language, width, dark):
    """Choices, confirmation, receipt, what became of it, withdrawal: each looked at."""
    [code] = service.codes(dataset, [subject])
    driver = browser(width, dark)
    person = Person(stories, driver, f"{language}-{width}-{'dark' if dark else 'light'}")
    try:
        person.open(f"/consent{person.in_language(language)}")
        person.look("code")
        person.find("#code").send_keys("vs_wrong" + Keys.ENTER)
        person.wait("[role=alert]")
        # Enter goes on: it presses none of the buttons for languages.
        assert person.find("html").get_attribute("lang") == language
        person.look("code-wrong")
        person.begin("/consent", code, language, "#in")
        assert not person.find("#in").is_selected() and not person.find("#out").is_selected()
        assert LANGUAGES[language] in driver.find_element(By.TAG_NAME, "main").text
        person.look("choices-begun")
        person.choose(5)
        receipt = person.confirm()
        person.look("receipt")
        printed(person)
        service.publish(dataset)
        plain = receipt.replace(" ", "")
        person.begin("/my-preferences/receipt", plain, language, ".data")
        person.look("lookup")
        person.find("form button.bad").click()
        person.wait("button[name=confirm]")
        person.look("withdrawal")
        second = person.confirm()
        assert second != receipt
        person.look("receipt-withdrawn")
        # As it stands on paper, with the language that the page had.
        person.find("main a").click()
        person.wait("#code")
        person.find("#code").send_keys(receipt + Keys.ENTER)
        person.wait(".said")
        person.look("lookup-replaced")
    finally:
        driver.quit()


def printed(person):
    """What comes out of a printer: the receipt without buttons."""
    person.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert not person.find("nav").is_displayed()
    assert person.find(".spoken").is_displayed()
    person.stories.look_once(person.driver, f"consent-printed-{person.mark}")
    person.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def switching(stories, service, browser, dataset):
    """Another language on every page, by its button: nothing that was selected is lost."""
    [code] = service.codes(dataset, ["p2"])
    driver = browser("phone", False)
    person = Person(stories, driver, "switched")

    def switch(language):
        person.find(f"button[value={language}]").click()
        person.wait(f"html[lang={language}]")

    try:
        person.open("/consent?lang=en")
        person.find("#code").send_keys(code)
        switch("de")
        assert person.find("#code").get_attribute("value") == code
        person.find("#code").send_keys(Keys.ENTER)
        person.wait("#in")
        person.find("#in").click()
        person.find("#people-10").click()
        switch("fr")
        assert person.find("#in").is_selected() and person.find("#people-10").is_selected()
        person.find("form button").click()
        person.wait("button[name=confirm]")
        switch("es")
        receipt = person.confirm()
        switch("de")
        assert person.find(".spoken").text == receipt
        assert "10 Personen" in driver.find_element(By.TAG_NAME, "main").text
    finally:
        driver.quit()


def by_keyboard(stories, service, browser, dataset):
    """From the pasted code to the receipt without a pointer."""
    [code] = service.codes(dataset, ["p3"])
    driver = browser("phone", False)
    person = Person(stories, driver, "keyboard")
    try:
        person.open("/consent?lang=en")
        person.tab_to("#code").send_keys(code + Keys.ENTER)
        person.wait("#in")
        # One Tab reaches a group, arrows go on in it.
        person.tab_to("#out").send_keys(Keys.ARROW_DOWN)
        assert person.find("#in").is_selected()
        person.tab_to("input[name='hide.age']:checked").send_keys(Keys.ARROW_DOWN)
        person.tab_to("input[name=people]:checked").send_keys(Keys.ARROW_UP)
        assert person.find("#people-10").is_selected()
        person.tab_to("form button").send_keys(Keys.ENTER)
        person.wait("button[name=confirm]")
        said = person.find(".said").text
        assert "shown: Age" in said and "10 people" in said, said
        person.tab_to("button[name=confirm]").send_keys(Keys.SPACE)
        person.wait(".spoken")
    finally:
        driver.quit()


def without_scripts(stories, service, browser, dataset):
    """The code is pasted: what stands behind `#` stays where it is."""
    [code] = service.codes(dataset, ["p4"])
    driver = browser("phone", False, scripts=False)
    person = Person(stories, driver, "no-script")
    try:
        person.open(f"/consent?lang=en#{code}")
        person.wait("#code")
        assert person.find("#code").get_attribute("value") == ""
        person.find("#code").send_keys(code)
        person.find("form button").click()
        person.wait("#out")
        person.find("#out").click()
        # The finer controls go away: there is nothing to say any more.
        assert not person.find(".finer").is_displayed()
        person.find("form button").click()
        person.wait("button[name=confirm]")
        receipt = person.confirm()
        person.open("/my-preferences/receipt?lang=en")
        person.find("#code").send_keys(receipt)
        person.find("form button").click()
        person.wait(".said")
        assert "in force" in person.find(".said").text
    finally:
        driver.quit()


def hostile(stories, service, browser):
    """Texts of a schema that would be something else than text."""
    described = schema("hostile consent")
    evil = "<script>document.title='x'</script>\"><img src=x onerror=alert(1)>"
    for place in ("title", "purpose", "contact"):
        described[place] = {"en": evil}
    for one in described["attributes"]:
        one["title"] = {"en": evil}
    dataset = service.dataset(described)
    [code] = service.codes(dataset, ["p1"])
    driver = browser("phone", False)
    person = Person(stories, driver, "hostile")
    try:
        person.begin("/consent", code, "en", "#in")
        person.choose(20)
        assert evil in driver.find_element(By.TAG_NAME, "body").text
        assert not driver.find_elements(By.CSS_SELECTOR, "main img, main script")
        person.confirm()
        person.look("receipt")
    finally:
        driver.quit()


def tell(stories, browser):
    service = Service(stories.url)
    for at, language in enumerate(LANGUAGES):
        # Datasets of their own: what is published of one is beside nothing else.
        dataset = service.dataset(schema(f"consent {language}"))
        whole(stories, service, browser, dataset, "p1", language, "phone", at % 2 == 1)
    dataset = service.dataset(schema("consent wide"))
    whole(stories, service, browser, dataset, "p1", "de", "desktop", False)
    dataset = service.dataset(schema("consent dark"))
    whole(stories, service, browser, dataset, "p1", "en", "desktop", True)
    switching(stories, service, browser, dataset)
    by_keyboard(stories, service, browser, dataset)
    without_scripts(stories, service, browser, dataset)
    hostile(stories, service, browser)
