"""Signing in at an issuer, in a real browser.

A browser holds cookies back by rules that no test of the service's own can
show: it was another site that sent it here. So an issuer answers at `localhost`
and a service at `127.0.0.1`, which are two sites to a browser. The issuer
signs with a key of its own (RS256) and asks nobody anything.
"""

import base64
import hashlib
import http.server
import json
import pathlib
import secrets
import socket
import subprocess
import tempfile
import threading
import time
import urllib.parse
import urllib.request

SECONDS_MAX, STARTS_MAX = 30, 3
CLIENT, AUDIENCE = "pages", "vizard"
# RFC 8017, 9.2: what stands before a SHA-256 in a signature.
SHA256_INFO = bytes.fromhex("3031300d060960864801650304020105000420")


def is_prime(number):
    """Miller and Rabin's test, forty rounds."""
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for _ in range(40):
        power = pow(secrets.randbelow(number - 3) + 2, odd, number)
        if power in (1, number - 1):
            continue
        for _ in range(twos - 1):
            power = power * power % number
            if power == number - 1:
                break
        else:
            return False
    return True


def prime(bits, exponent):
    while True:
        found = secrets.randbits(bits) | 1 | 3 << bits - 2
        if found % exponent != 1 and all(found % small for small in (3, 5, 7, 11, 13)) and is_prime(found):
            return found


def text(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Key:
    """An RSA key of 2,048 bits, for this test alone."""

    exponent = 65537

    def __init__(self):
        one, other = prime(1024, self.exponent), prime(1024, self.exponent)
        self.modulus = one * other
        self.private = pow(self.exponent, -1, (one - 1) * (other - 1))

    def public(self):
        size = (self.exponent.bit_length() + 7) // 8
        return {"kty": "RSA", "kid": "one", "use": "sig", "alg": "RS256",
                "n": text(self.modulus.to_bytes(256, "big")), "e": text(self.exponent.to_bytes(size, "big"))}

    def token(self, claims):
        parts = [text(json.dumps(part).encode()) for part in ({"alg": "RS256", "kid": "one", "typ": "JWT"}, claims)]
        message = ".".join(parts)
        digest = SHA256_INFO + hashlib.sha256(message.encode()).digest()
        padded = b"\x00\x01" + b"\xff" * (253 - len(digest)) + b"\x00" + digest
        signature = pow(int.from_bytes(padded, "big"), self.private, self.modulus)
        return f"{message}.{text(signature.to_bytes(256, 'big'))}"


class Issuer(http.server.ThreadingHTTPServer):
    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answers)
        self.name = f"http://localhost:{self.server_port}"
        self.key, self.asked = Key(), {}
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Answers(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def say(self, document):
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        issuer, place = self.server, urllib.parse.urlsplit(self.path)
        if place.path == "/.well-known/openid-configuration":
            self.say({"issuer": issuer.name, "jwks_uri": f"{issuer.name}/keys",
                      "authorization_endpoint": f"{issuer.name}/authorize", "token_endpoint": f"{issuer.name}/token"})
        elif place.path == "/keys":
            self.say({"keys": [issuer.key.public()]})
        elif place.path == "/authorize":
            asked = dict(urllib.parse.parse_qsl(place.query))
            code = secrets.token_urlsafe(16)
            issuer.asked[code] = asked
            back = urllib.parse.urlencode({"code": code, "state": asked["state"], "iss": issuer.name})
            self.send_response(302)
            self.send_header("Location", f"{asked['redirect_uri']}?{back}")
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self.send_error(404)

    def do_POST(self):
        issuer = self.server
        given = dict(urllib.parse.parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
        asked = issuer.asked.pop(given["code"])
        challenge = text(hashlib.sha256(given["code_verifier"].encode()).digest())
        assert challenge == asked["code_challenge"], "another verifier"
        now = int(time.time())
        claims = {"iss": issuer.name, "aud": CLIENT, "sub": "eve", "iat": now, "exp": now + 300,
                  "nonce": asked["nonce"], "roles": ["analyst", "auditor"]}
        self.say({"id_token": issuer.key.token(claims), "access_token": "opaque", "token_type": "Bearer"})


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def serve(program, issuer, folder):
    """A service whose people sign in at the issuer; the process and its address."""
    # Somebody else may take the port in between: another one, then.
    for _ in range(STARTS_MAX):
        if found := started(program, issuer, folder):
            return found
    raise AssertionError((folder / "log").read_text())


def started(program, issuer, folder):
    """The process and its address; nothing when it ended or did not answer."""
    url = f"http://127.0.0.1:{free_port()}"
    options = ["--listen", url.removeprefix("http://"), "--data", str(folder), "--oidc-issuer", issuer.name,
               "--oidc-audience", AUDIENCE, "--oidc-client-id", CLIENT, "--public-url", url]
    log = open(folder / "log", "wb")
    process = subprocess.Popen([program, "serve", *options], stdout=log, stderr=log)
    begun = time.monotonic()
    while time.monotonic() < begun + SECONDS_MAX and process.poll() is None:
        try:
            urllib.request.urlopen(f"{url}/healthz").close()
            return process, url
        except OSError:
            time.sleep(0.1)
    process.kill()
    process.wait()
    return None


def story(stories, browser, program):
    """Somebody opens a page, is sent to the issuer, and comes back to that page."""
    issuer = Issuer()
    with tempfile.TemporaryDirectory() as folder:
        process, url = serve(program, issuer, pathlib.Path(folder))
        driver = browser("desktop", False)
        try:
            driver.get(f"{url}/audit")
            stories.wait(driver, "the sign-in page", lambda it: it.find_elements("id", "key"))
            stories.look_once(driver, "signin-issuer")
            stories.press(driver, "Sign in at localhost", "a")
            stories.wait(driver, "the page that was asked for", lambda it: it.current_url == f"{url}/audit")
            stories.wait(driver, "the log", lambda it: it.find_elements("css selector", "main table"))
            names = {cookie["name"] for cookie in driver.get_cookies()}
            assert names == {"__Host-vizard"}, names
            stories.sign_out(driver)
            # Somebody else's way back opens nothing in this browser.
            driver.get(f"{url}/signin/callback?code=x&state=y")
            stories.wait(driver, "what is wrong", lambda it: it.find_elements("css selector", "[role=alert]"))
            stories.look_once(driver, "signin-issuer-refused")
            assert not driver.get_cookies()
        finally:
            driver.quit()
            process.terminate()
            process.wait()
            issuer.shutdown()
