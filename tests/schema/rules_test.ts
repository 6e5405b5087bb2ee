/** What JSON Schema cannot say about a manifest. */
import assert from "node:assert/strict";
import type { Bendable } from "./support.ts";
import { brief, complete, errorsOf, minimal, warningsOf } from "./support.ts";

Deno.test("the manifest with every field has nothing to report", async () => {
  assert.deepEqual(brief(await errorsOf(complete())), []);
  const warnings = brief(await warningsOf(complete()));
  assert.deepEqual(warnings, []);
});

Deno.test("a scope that no capability declares is an error", async () => {
  const scopes: Record<string, string> = {
    read_memory: "cyberos:memory:read",
    write_memory: "cyberos:memory:write",
    execute_workflow: "cyberos:cuo:execute",
    list_skills: "cyberos:skill:list",
    invoke_skill: "cyberos:skill:invoke",
    publish_skill: "cyberos:skill:publish",
    route_natural_language: "cyberos:cuo:route",
  };
  for (const [capability, scope] of Object.entries(scopes)) {
    const text = (declared: unknown) =>
      minimal((m) => {
        m.capabilities = { [capability]: declared };
        m.tools[0].scopes = [scope];
        m.auth.scopes = [scope];
      });
    assert.deepEqual(await errorsOf(text(true)), [], capability);
    assert.deepEqual(brief(await errorsOf(text(false))), [
      "/tools/0/scopes/0 scope_capability",
    ]);
  }
});

Deno.test("a capability without its scope is an error, but for those of the specification's example", async () => {
  const undeclared = (capability: string) =>
    minimal((m) => m.capabilities = { [capability]: true });
  for (
    const capability of [
      "write_memory",
      "invoke_skill",
      "publish_skill",
      "route_natural_language",
    ]
  ) {
    assert.deepEqual(brief(await errorsOf(undeclared(capability))), [
      `/capabilities/${capability} capability_scope`,
    ]);
  }
  for (const capability of ["read_memory", "execute_workflow", "list_skills"]) {
    assert.deepEqual(await errorsOf(undeclared(capability)), []);
    assert.ok(
      brief(await warningsOf(undeclared(capability)))
        .includes(`/capabilities/${capability} capability_scope`),
    );
  }
});

Deno.test("scopes of tools and of login agree", async () => {
  const missing = minimal((m) => m.tools[0].scopes = ["cyberos:crm:read"]);
  assert.deepEqual(brief(await errorsOf(missing)), [
    "/tools/0/scopes/0 auth_scope",
  ]);
  const unused = minimal((m) => m.auth.scopes.push("cyberos:crm:read"));
  assert.deepEqual(await errorsOf(unused), []);
  assert.ok(
    brief(await warningsOf(unused)).includes("/auth/scopes/1 unused_scope"),
  );
});

Deno.test("tool names are different, also as hosts spell them", async () => {
  const twice = (second: string) =>
    minimal((m) => {
      m.tools[0].name = "cyberos.crm.list_all";
      m.tools.push({ ...m.tools[0], name: second });
    });
  assert.deepEqual(await errorsOf(twice("cyberos.crm.list_some")), []);
  assert.deepEqual(brief(await errorsOf(twice("cyberos.crm.list_all"))), [
    "/tools/1/name unique_name",
  ]);
  const folded = await errorsOf(twice("cyberos.crm_list.all"));
  assert.ok(brief(folded).includes("/tools/1/name distinct_name"));
});

Deno.test("a write scope without write or destructive is a warning", async () => {
  const writing = (annotations: Bendable) =>
    minimal((m) => {
      m.capabilities = { write_memory: true };
      m.tools[0].name = "cyberos.crm.add_note";
      m.tools[0].scopes = m.auth.scopes = ["cyberos:memory:write"];
      if (annotations) m.tools[0].annotations = annotations;
    });
  for (const silent of [undefined, {}, { write: false }]) {
    assert.ok(
      brief(await warningsOf(writing(silent)))
        .includes("/tools/0/scopes write_annotation"),
    );
  }
  for (const said of [{ write: true }, { destructive: true }]) {
    assert.ok(
      !brief(await warningsOf(writing(said))).join().includes("annotation"),
    );
  }
});

Deno.test("a tool of CyberOS with other scopes than the bridge's is a warning", async () => {
  const text = minimal((m) => m.tools[0].name = "cyberos.cuo.route");
  assert.ok(
    brief(await warningsOf(text)).includes("/tools/0/scopes known_tool"),
  );
});

Deno.test("VAL-05 formats are asserted: only https URLs outside loopback", async () => {
  const pointers = ["authorize_url", "token_url"];
  const refused = [
    "javascript:alert(1)",
    "http:/x",
    "http://example.com/token",
    "not a uri",
    "https://exa mple",
    "//x",
    "https://",
    "ftp://example.com",
    "https://user:secret@example.com/",
    "https://user@example.com/",
    "https://:secret@example.com/",
    "https://example.com/?api_key=abc",
    "https://example.com/?a=b&access_token=abc",
    "https://example.com/#fragment",
    "http://127.0.0.1.example.com/",
    "http://localhost.example.com/",
    "",
  ];
  const accepted = [
    "https://example.com",
    "https://example.com:8443/a/b?c=d",
    "http://localhost:8080/token",
    "http://127.0.0.1/token",
    "http://[::1]:8080/token",
    "https://münchen.example/".replace("ü", "xn--u"),
  ];
  for (const member of pointers) {
    for (const url of refused) {
      const errors = await errorsOf(minimal((m) => m.auth[member] = url));
      assert.deepEqual(
        errors.map(({ json_pointer }) => json_pointer),
        [`/auth/${member}`],
        url,
      );
    }
    for (const url of accepted) {
      const text = minimal((m) => m.auth[member] = url);
      assert.deepEqual(brief(await errorsOf(text)), [], url);
    }
  }
});

Deno.test("VAL-05 authors' e-mails and home pages are asserted", async () => {
  const author = (member: string, value: string) =>
    errorsOf(minimal((m) => m.authors[0][member] = value));
  for (const email of ["a@b@c", "a", "@example.com", "a b@example.com", ""]) {
    assert.deepEqual(brief(await author("email", email)), [
      "/authors/0/email format",
    ], email);
  }
  assert.deepEqual(await author("email", "jane.doe+x@example.com"), []);
  for (const url of ["javascript:alert(1)", "http:/x", "example.com", "//x"]) {
    assert.deepEqual(brief(await author("url", url)), [
      "/authors/0/url format",
    ], url);
  }
  assert.deepEqual(await author("url", "http://example.com/me"), []);
});

Deno.test("licences are SPDX expressions", async () => {
  const licence = (text: string) => errorsOf(minimal((m) => m.license = text));
  for (
    const good of [
      "MIT",
      "BUSL-1.1",
      "MIT OR Apache-2.0",
      "(MIT AND BSD-3-Clause) OR GPL-2.0-only WITH Classpath-exception-2.0",
      "LicenseRef-Proprietary",
      "0BSD",
    ]
  ) assert.deepEqual(await licence(good), [], good);
  for (
    const bad of [
      "apache 2",
      "UNLICENSED",
      "SEE LICENSE IN LICENSE.md",
      "MIT OR",
      "mit",
      " MIT",
      "(".repeat(100) + "MIT" + ")".repeat(100),
    ]
  ) assert.deepEqual(brief(await licence(bad)), ["/license spdx"], bad);
});

Deno.test("a placeholder signature is a warning until it is signed", async () => {
  assert.deepEqual(
    brief(await warningsOf(minimal())).filter((text) =>
      text.startsWith("/signature")
    ),
    [
      "/signature/sigstore_bundle signature_form",
      "/signature/rekor_uuid signature_form",
    ],
  );
  assert.deepEqual(
    brief(await errorsOf(minimal((m) => m.signature.rekor_uuid = ""))),
    ["/signature/rekor_uuid minLength"],
  );
});

Deno.test("the audit rows of a plugin's life are warned about where missing", async () => {
  const text = minimal((m) =>
    m.audit.kinds = [
      "plugin.installed",
      "plugin.updated",
      "plugin.auth_refreshed",
      "plugin.scope_denied",
    ]
  );
  assert.deepEqual(await errorsOf(text), []);
  const warning = (await warningsOf(text)).find(({ constraint }) =>
    constraint === "audit_kinds"
  );
  assert.match(warning?.message ?? "", /plugin\.uninstalled, plugin\.invoked/);
});

Deno.test("commands and skills are named once", async () => {
  const errors = await errorsOf(minimal((m) => {
    const command = { name: "/ab", file: "commands/ab.md" };
    const skill = { id: "ab", path: "skills/ab/SKILL.md" };
    m.commands = [command, { ...command, file: "commands/b.md" }, command];
    m.skills = [skill, skill];
  }));
  assert.deepEqual(brief(errors), [
    "/commands/1/name unique_name",
    "/commands/2/name unique_name",
    "/commands/2/file unique_name",
    "/skills/1/id unique_name",
    "/skills/1/path unique_name",
  ]);
});

Deno.test("tool names that a target would drop are warned about", async () => {
  const long = (target: string, length: number) =>
    minimal((m) => {
      m.targets = [target];
      m.tools[0].name = `cyberos.crm.${"a".repeat(length - 12)}`;
    });
  const warned = async (text: string) =>
    brief(await warningsOf(text)).includes("/tools/0/name host_name_length");
  assert.equal(await warned(long("cursor", 53)), false);
  assert.equal(await warned(long("cursor", 54)), true);
  assert.equal(await warned(long("codex-cli", 54)), false);
  assert.equal(await warned(long("claude-code", 99)), false);
  assert.equal(await warned(long("claude-code", 100)), true);
});

Deno.test("a name or description with characters that nobody sees is an error", async () => {
  const bends: readonly (readonly [string, (m: Bendable) => void])[] = [
    ["/name", (m) => m.name = "Cyber\u001b[31mOS"],
    ["/description", (m) => m.description += "\u{e0041}\u{e0042}"],
    ["/authors/0/name", (m) => m.authors[0].name = "Jane\u202eeoD"],
    ["/tools/0/description", (m) => m.tools[0].description += "\u200b"],
  ];
  for (const [pointer, bend] of bends) {
    const found = brief(await errorsOf(minimal(bend)));
    assert.deepEqual(found, [`${pointer} hidden_text`]);
  }
  const plain = minimal((m) => {
    m.name = "Công ty 公司 👩‍💻";
    m.description += "\nÉté – “ja”\u00a0…";
  });
  assert.deepEqual(await errorsOf(plain), []);
});
