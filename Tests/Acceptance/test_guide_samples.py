"""The code samples of the guides: all are parsed, Java is compiled, and JavaScript runs."""

import html
import json
import os
import re
import shutil
import subprocess

import pytest
import tree_sitter_kotlin
import tree_sitter_objc
import tree_sitter_swift
from tree_sitter import Language, Parser

from support.program import ROOT
from support.rest import claims, ok
from test_connect import namesakes  # noqa: F401, a fixture
from test_guides import GUIDES, Reader, opened

PARTS = ROOT / "Templates/guides/en"
FILES = ROOT / "Tests/Acceptance/samples"
MODULES = {
    "firebase": {"./auth": "./firebase-auth.mjs", "./app": "./firebase-app.mjs"},
    "jose": {".": "./jose.mjs"},
}
GRAMMARS = {"kotlin": tree_sitter_kotlin, "swift": tree_sitter_swift, "objc": tree_sitter_objc}
SAMPLES = [
    (f"{path.stem}: {heading}", language, code)
    for path in sorted(PARTS.glob("*.md"))
    for heading, language, code in re.findall(
        r"^### ([^\n]*)\n\n(?:[^#`\n][^\n]*\n\n)?```(\w+)\n(.*?)^```$", path.read_text(),
        re.M | re.S)
]


def written_in(*languages):
    found = [sample for sample in SAMPLES if sample[1] in languages]
    assert len(found) >= 9, languages
    return [pytest.param(*sample, id=sample[0]) for sample in found]


def test_every_sample_below_a_heading_is_found():
    # The others are the calls of the walkthroughs, which test_guides.py runs.
    fences = sum(
        text.count("```kotlin\n") + text.count("```java\n") + text.count("```swift\n")
        + text.count("```objc\n") + text.count("```js\n")
        for text in (path.read_text() for path in PARTS.glob("*.md")))
    assert fences == len([each for each in SAMPLES if each[1] in ("js", "java", *GRAMMARS)])


def in_class(code):
    """An Objective-C sample as a whole file: methods in a class, statements in a method."""
    head, body = code.split("\n\n", 1) if code.startswith("typedef ") else ("", code)
    if not re.search(r"^- \(", body, re.M):
        body = f"- (void)sample {{\n{body}}}\n"
    return f"{head}\n@implementation Sample\n{body}\n@end\n"


@pytest.mark.parametrize("name, language, code", written_in(*GRAMMARS))
def test_a_sample_has_the_syntax_of_its_language(name, language, code):
    parser = Parser(Language(GRAMMARS[language].language()))
    text = (in_class(code) if language == "objc" else code).encode()
    waiting = [parser.parse(text).root_node]
    while waiting:
        node = waiting.pop()
        assert not (node.is_error or node.is_missing), f"{node.start_point}: {node.text.decode()}"
        waiting += node.children


def test_a_mistake_is_found():
    for language, code in [
        ("kotlin", "fun f() { if (a }"), ("swift", "func f() { let = 1 }"),
        ("objc", in_class("[self f:^(NSString *a) { }];;]")),
    ]:
        tree = Parser(Language(GRAMMARS[language].language())).parse(code.encode())
        assert tree.root_node.has_error, language


def test_the_java_samples_compile(tmp_path):
    members = []
    for number, (_, language, code) in enumerate(SAMPLES):
        if language == "java":
            is_method = re.match(r"(?://.*\n)*(?:void|String) \w+\(", code)
            members.append(code if is_method else f"void sample{number}() {{\n{code}}}\n")
    # In one file, since the stubs are in no package.
    stubs = (FILES / "FirebaseStubs.java").read_text()
    (tmp_path / "Sample.java").write_text(
        f"{stubs}\nabstract class Sample extends Application {{\n{''.join(members)}}}\n")
    done = subprocess.run(
        ["javac", "-d", tmp_path / "out", "-Xlint:all,-serial", "-Werror",
         tmp_path / "Sample.java"],
        capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def samples_of(page, end):
    """Returns the code of the samples whose label has this end, as a reader copies it."""
    found = re.findall(
        r'<pre[^>]*aria-label="([^"]*)"[^>]*><code>(.*?)</code></pre>', page, re.S)
    return {
        label.split(":")[0]: html.unescape(re.sub(r"<[^>]+>", "", code))
        for label, code in found if label.endswith(f": {end}")}


def run(folder, *parts, **variables):
    """Runs parts of a program as one, with each import once."""
    for name, exports in MODULES.items():
        module = folder / "node_modules" / name
        module.mkdir(parents=True, exist_ok=True)
        for file in exports.values():
            shutil.copy(FILES / file, module)
        (module / "package.json").write_text(json.dumps({"exports": exports}))
    names, program = {}, "\n".join(parts)
    for imported, module in re.findall(r'^import \{([^}]*)\} from "([^"]+)";$', program, re.M):
        names.setdefault(module, set()).update(imported.replace(",", " ").split())
    program = re.sub(r'^import \{[^}]*\} from "[^"]+";$', "", program, flags=re.M)
    imports = "".join(
        f'import {{ {", ".join(sorted(each))} }} from "{module}";\n'
        for module, each in names.items())
    (folder / "program.mjs").write_text(imports + program)
    return subprocess.run(
        ["node", folder / "program.mjs"], capture_output=True, text=True, timeout=120,
        env={**os.environ, **variables})


# What a person does with the application, and what has to come of it.
STORIES = {
    "common": """
      const secret = await beginEnrollment(auth, page);
      page.show(secret);
      {
        const [user, canvas, link, text] = [auth.currentUser, {}, {}, {}];
        const drawQrCode = () => {};
        OPEN_THE_APP
        expect(link.href.startsWith("otpauth://totp/") && text.textContent.includes(" "), "secret");
      }
      const early = auth.currentUser.token;
      await finishEnrollment(auth.currentUser, secret, page);
      expect((await claims()).sign_in_second_factor === "totp", "enrollment");
      auth.currentUser = null;
      await signIn(auth, EMAIL, PASSWORD, page);
      expect((await claims()).sign_in_second_factor === "totp", "sign-in");
      await reauthenticate(auth, page);
      expect((await claims()).sign_in_second_factor === "totp", "re-authentication");
      expect((await claims()).tenant === process.env.TENANT, "tenant");
      // A session that passed no second factor is asked for one.
      auth.currentUser.token = early;
      await removeFactor(auth, multiFactor(auth.currentUser).enrolledFactors[0], page);
      expect(multiFactor(auth.currentUser).enrolledFactors.length === 0, "removal");
    """,
    "mandatory": """
      await checkAgain();
      const secret = await beginEnrollment(auth, page);
      page.show(secret);
      await finishEnrollment(auth.currentUser, secret, page);
      await new Promise((done) => setTimeout(done, 100));
      expect(shown.includes("enroll") && shown.at(-1) === "home", "pages");
    """,
    "skippable": """
      await offer(auth, { offerIsDue: false }, page);
      expect(shown.length === 0, "no offer");
      await offer(auth, { offerIsDue: true }, page);
      expect((await claims()).sign_in_second_factor === "totp" && shown.length === 1, "enrollment");
      await offer(auth, { offerIsDue: true }, page);
      expect(shown.length === 1, "no second offer");
    """,
    "account": """
      let actions;
      const section = {
        showOff: () => shown.push("off"),
        showOn: (name, date, each) => { shown.push(name); actions = each; },
        startEnrollment: () => shown.push("start"),
      };
      await drawSecurity(auth, section, page);
      const secret = await beginEnrollment(auth, page);
      page.show(secret);
      await finishEnrollment(auth.currentUser, secret, page);
      await drawSecurity(auth, section, page);
      await actions.changePhone();
      await drawSecurity(auth, section, page);
      expect(shown.join() === "off,Pixel 9,start,off", "section");
    """,
    "step-up": """
      const request = async (token) => {
        const claims = JSON.parse(Buffer.from(token.split(".")[1], "base64url"));
        const { status, body } = guard("pay-out", claims);
        shown.push(status);
        return new Response(JSON.stringify(body ?? {}), { status });
      };
      expect((await withStepUp(auth, request, page)).status === 200, "enrollment");
      auth.currentUser = null;
      await signIn(auth, EMAIL, PASSWORD, page);
      freshness["pay-out"] = -10;
      const before = (await auth.currentUser.getIdTokenResult()).claims.auth_time;
      await withStepUp(auth, request, page);
      expect(shown.join() === "403,200,403,403", "guard");
      const after = (await auth.currentUser.getIdTokenResult()).claims.auth_time;
      expect(after >= before, "step-up");
    """,
}


@pytest.mark.parametrize("of_tenant", [False, True], ids=["project", "tenant"])
@pytest.mark.parametrize("name", ["common", *GUIDES])
def test_the_web_samples_of_a_guide_work(request, owner, tmp_path, name, of_tenant):
    api = request.getfixturevalue("tenant_api" if of_tenant else "api")
    api.switch_totp_on(10)
    email = f"{name}-web@example.com"
    api.user(email)
    shared = samples_of(opened(owner, "common/build", api), "web")
    open_the_app = shared.pop("Open the app")
    if not of_tenant:
        # As the comment of the sample says.
        shared["Connect"] = re.sub(r"^auth\.tenantId = .*\n", "", shared["Connect"], flags=re.M)
    own = []
    if name != "common":
        page = opened(owner, f"{name}/build", api)
        own = [*samples_of(page, "web").values()]
        own += [code for label, code in samples_of(page, "your backend").items() if label == "Guard"]
    done = run(
        tmp_path, *shared.values(), (FILES / "reader.mjs").read_text(), *own,
        "await signIn(auth, EMAIL, PASSWORD, page);",
        STORIES[name].replace("OPEN_THE_APP", open_the_app),
        EMAIL=email, PASSWORD="bright-swordfish", **({"TENANT": api.tenant} if of_tenant else {}))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("of_tenant", [False, True], ids=["project", "tenant"])
def test_the_rest_samples_that_all_guides_share_work(request, owner, of_tenant):
    api = request.getfixturevalue("tenant_api" if of_tenant else "api")
    api.switch_totp_on(10)
    reader = Reader("common-rest@example.com", token="")
    api.user(reader.words["EMAIL"], reader.words["PASSWORD"])
    samples = samples_of(opened(owner, "common/build", api), "REST")
    made = 0
    # The second sign-in is with the factor.
    for name in ("Connect", "Enroll", "Connect", "Sign in", "Remove"):
        for address, field, body in re.findall(
                r"^POST (\S+)\n(.+)\n\n((?:.+\n?)+)", samples[name], re.M):
            reader.run(f"curl -s '{address}' -H '{field}' -d '{body}'")
            made += 1
        if name == "Sign in":
            assert claims(reader.words["ID_TOKEN"])["firebase"]["sign_in_second_factor"] == "totp"
    assert made == 6
    last = ok(api.sign_in(reader.words["EMAIL"], reader.words["PASSWORD"]))
    assert "mfaPendingCredential" not in last


def test_the_sample_that_checks_tokens_refuses_all_others(owner, namesakes, tmp_path):  # noqa: F811
    for pool, _ in namesakes:
        check = samples_of(opened(owner, "common/build", pool), "your backend")["Check tokens"]
        for other, token in namesakes:
            head, body, signature = token.split(".")
            forged = f"{head}.{body}.{signature[:20]}AAAA{signature[24:]}"
            for each, passes in [(token, other is pool), (forged, False)]:
                done = run(
                    tmp_path, check, "console.log((await claimsOf(process.env.TOKEN)).sub);",
                    TOKEN=each)
                assert (done.returncode == 0) is passes, done.stderr
                assert done.stdout.strip() == ("namesake" if passes else "")


def test_the_samples_of_a_backend_decide_as_they_say(tmp_path):
    code = {name: code for name, language, code in SAMPLES if language == "js"}
    done = run(tmp_path, code["skippable-build: Offer: when it is due"], """
      const user = { emailVerified: true, firstFactor: "password", refusals: 0 };
      const due = (more, now = 0) => offerIsDue({ ...user, ...more }, now);
      const pause = { refusals: 1, lastRefusal: 0 };
      console.log(JSON.stringify([
        due({ finishedFirstTask: true }), due({ finishedFirstTask: false }),
        due({ finishedFirstTask: true, firstFactor: "phone" }), due(pause, 20 * DAY),
        due(pause, 21 * DAY), due({ refusals: 4, lastRefusal: 0 }, 999 * DAY),
      ]));
    """)
    assert done.stdout.strip() == "[true,false,false,false,true,false]", done.stderr
    node = code["common-build: Turn TOTP on: Node.js"]
    (tmp_path / "node.mjs").write_text(node)
    assert subprocess.run(["node", "--check", tmp_path / "node.mjs"], timeout=60).returncode == 0
