import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { parse, parseAllDocuments } from "yaml";
import { SETTINGS } from "../../bridge/config/settings.ts";
import { TARGETS } from "../../scripts/compile/programs.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string) => Deno.readTextFileSync(`${ROOT}${path}`);

// deno-lint-ignore no-explicit-any -- YAML of foreign schemas.
type Yaml = any;

const compose: Yaml = parse(read("deploy/compose.yaml"));
const kubernetes: Yaml[] = parseAllDocuments(
  read("deploy/kubernetes/bridge.yaml"),
).map((document) => {
  assert.deepEqual(document.errors, []);
  return document.toJS();
});
const byKind = (kind: string): Yaml =>
  kubernetes.find((one) => one.kind === kind);

const KNOWN = new Set([
  ...Object.values(SETTINGS).flatMap(({ env }) => env ?? []),
  "OTEL_EXPORTER_OTLP_ENDPOINT",
]);
const DIGEST = /@sha256:[0-9a-f]{64}$/;

/** The variables that a Containerfile sets. */
function containerEnv(text: string): string[] {
  const block = /^ENV ((?:.*\\\n)*.*)$/gm;
  return [...text.matchAll(block)].flatMap(([, words]) =>
    (words as string).replaceAll("\\\n", " ").trim().split(/\s+/)
      .map((word) => word.split("=")[0] as string)
  );
}

Deno.test("every image of others is pinned by its digest, every one of ours by its version", () => {
  const { version } = JSON.parse(read("deno.json"));
  const froms = ["Containerfile", "Containerfile.source"].flatMap((name) =>
    read(`deploy/container/${name}`).match(/^FROM (\S+)/gm) ?? []
  );
  assert.equal(froms.length, 2);
  const images = Object.values<Yaml>(compose.services).map(({ image }) =>
    image as string
  );
  for (const image of [...froms, ...images]) {
    if (image.startsWith("cyberos-")) {
      assert.equal(image, `cyberos-mcp-bridge:${version}`);
    } else assert.match(image, DIGEST);
  }
  const { image } = byKind("Deployment").spec.template.spec.containers[0];
  assert.ok(image.endsWith(`/cyberos-mcp-bridge:${version}`));
});

Deno.test("the containers set only variables that the bridge knows", () => {
  const { bridge, migrate } = compose.services;
  const deployment = byKind("Deployment").spec.template.spec.containers[0];
  const names = [
    ...containerEnv(read("deploy/container/Containerfile")),
    ...containerEnv(read("deploy/container/Containerfile.source")),
    ...Object.keys(bridge.environment),
    ...Object.keys(migrate.environment),
    ...deployment.env.map(({ name }: Yaml) => name),
  ].filter((name) => name !== "DENO_DIR");
  assert.ok(names.length > 10);
  assert.deepEqual(names.filter((name) => !KNOWN.has(name)), []);
});

Deno.test("the Containerfile takes along what deno task compile writes, as an ordinary user, without a shell", () => {
  const text = read("deploy/container/Containerfile");
  const copied = /^COPY .*dist\/(\S+)\/cyberos-mcp-bridge /m.exec(text)?.[1];
  assert.ok(TARGETS.includes(copied as string));
  assert.match(text, /^USER 65532:65532$/m);
  assert.match(text, /^ENTRYPOINT \[/m);
  assert.match(text, /HEALTHCHECK[^\n]*\\\n\s+CMD \[.*"health"\]/);
});

Deno.test("the container of the bridge is read-only, without capabilities, and ends with patience", () => {
  const { bridge } = compose.services;
  assert.equal(bridge.read_only, true);
  assert.deepEqual(bridge.cap_drop, ["ALL"]);
  assert.deepEqual(bridge.security_opt, ["no-new-privileges:true"]);
  assert.ok(parseInt(bridge.stop_grace_period) >= 15);
  for (const service of Object.values<Yaml>(compose.services)) {
    for (const needed of Object.keys(service.depends_on ?? {})) {
      assert.ok(needed in compose.services, needed);
    }
    for (const network of service.networks) {
      assert.ok(network in compose.networks, network);
    }
  }
});

Deno.test("the Kubernetes example has two replicas that disturb nobody when one goes", () => {
  assert.deepEqual(kubernetes.map(({ kind }) => kind), [
    "Deployment",
    "Service",
    "PodDisruptionBudget",
    "NetworkPolicy",
  ]);
  const { spec } = byKind("Deployment");
  const pod = spec.template.spec;
  const [container] = pod.containers;
  const labels = spec.template.metadata.labels;
  assert.equal(spec.replicas, 2);
  assert.equal(spec.strategy.rollingUpdate.maxUnavailable, 0);
  assert.deepEqual(byKind("Service").spec.selector, labels);
  for (const kind of ["PodDisruptionBudget", "NetworkPolicy"]) {
    const { selector, podSelector } = byKind(kind).spec;
    assert.deepEqual((selector ?? podSelector).matchLabels, labels);
  }
  assert.equal(byKind("PodDisruptionBudget").spec.minAvailable, 1);
  assert.equal(pod.securityContext.runAsNonRoot, true);
  assert.equal(pod.automountServiceAccountToken, false);
  assert.deepEqual(container.securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
  const { policyTypes, ingress } = byKind("NetworkPolicy").spec;
  assert.deepEqual(policyTypes, ["Ingress", "Egress"]);
  const port = container.ports[0].containerPort;
  assert.equal(ingress[0].ports[0].port, port);
  const listen = /CYBEROS_LISTEN=\S+:(\d+)/.exec(
    read("deploy/container/Containerfile"),
  );
  assert.equal(Number(listen?.[1]), port);
});

Deno.test("the probes ask with a Host that the bridge accepts", () => {
  const [container] = byKind("Deployment").spec.template.spec.containers;
  const allowed = container.env
    .find(({ name }: Yaml) => name === "CYBEROS_ALLOWED_HOSTS").value.split(
      ",",
    );
  const probes = [container.livenessProbe, container.readinessProbe];
  assert.deepEqual(probes.map(({ httpGet }) => httpGet.path), [
    "/healthz",
    "/readyz",
  ]);
  for (const { httpGet } of probes) {
    const host = httpGet.httpHeaders.find(({ name }: Yaml) => name === "Host");
    assert.ok(allowed.includes(host.value));
  }
});

Deno.test("the workflows pin every action by its commit and start without rights", () => {
  for (const { name } of Deno.readDirSync(`${ROOT}.github/workflows`)) {
    const text = read(`.github/workflows/${name}`);
    const workflow: Yaml = parse(text);
    assert.deepEqual(workflow.permissions, { contents: "read" }, name);
    for (const [, used] of text.matchAll(/uses: (\S+)/g)) {
      assert.match(used as string, /^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
    }
    for (const [, task] of text.matchAll(/deno task (?:--quiet )?([\w:]+)/g)) {
      assert.ok(JSON.parse(read("deno.json")).tasks[task as string], task);
    }
  }
  const release = read(".github/workflows/release.yml");
  for (const target of TARGETS) assert.ok(release.includes(target), target);
});
