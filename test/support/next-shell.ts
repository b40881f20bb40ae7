import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { K } from '../../src/kernel/kinds.ts';
import { apiVersionOf, type Kind, type KubeObject } from '../../src/kernel/object.ts';
import { SERVER_VERSION } from '../../src/sandbox/sandbox-cluster.ts';
import type { JudgedWorld } from './judged-worlds.ts';
import { type Seen, sendJson, sendStatus, serve } from './loopback-server.ts';
import { patient } from './patience.ts';
import { sendDiscovery } from './served-sandbox.ts';

type Row = readonly [group: string, version: string, kind: string, plural: string, namespaced?: true];

/** Kinds that next steps name, beside those that this program reads by itself. */
const MORE: readonly Row[] = [
  ['', 'v1', 'ResourceQuota', 'resourcequotas', true],
  ['', 'v1', 'LimitRange', 'limitranges', true],
  ['admissionregistration.k8s.io', 'v1', 'ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings'],
  ['crd.projectcalico.org', 'v1', 'FelixConfiguration', 'felixconfigurations'],
  ['crd.projectcalico.org', 'v1', 'IPPool', 'ippools'],
  ['crd.projectcalico.org', 'v1', 'Tier', 'tiers'],
  ['crd.projectcalico.org', 'v1', 'BGPPeer', 'bgppeers'],
  ['crd.projectcalico.org', 'v1', 'BlockAffinity', 'blockaffinities'],
  ['crd.projectcalico.org', 'v1', 'HostEndpoint', 'hostendpoints'],
  ['crd.projectcalico.org', 'v1', 'KubeControllersConfiguration', 'kubecontrollersconfigurations'],
  ['crd.projectcalico.org', 'v1', 'GlobalNetworkPolicy', 'globalnetworkpolicies'],
  ['crd.projectcalico.org', 'v1', 'NetworkPolicy', 'networkpolicies', true],
  ['policy.networking.k8s.io', 'v1alpha1', 'AdminNetworkPolicy', 'adminnetworkpolicies'],
  ['policy.networking.k8s.io', 'v1alpha2', 'ClusterNetworkPolicy', 'clusternetworkpolicies'],
  ['operator.tigera.io', 'v1', 'Installation', 'installations'],
  ['operator.tigera.io', 'v1', 'TigeraStatus', 'tigerastatuses'],
  ['operator.tigera.io', 'v1', 'GatewayAPI', 'gatewayapis'],
  ['operator.tigera.io', 'v1', 'APIServer', 'apiservers'],
  ['crd.netsvc.io', 'v1', 'Settings', 'settings'],
  ['b', 'v1', 'A', 'a'],
];

const kinds: readonly Kind[] = [
  ...Object.values(K),
  { ...K.SelfSubjectAccessReview, kind: 'SelfSubjectRulesReview', plural: 'selfsubjectrulesreviews' },
  ...MORE.map(([group, version, kind, plural, namespaced = false]) => ({ group, version, kind, plural, namespaced })),
];

/** What other programs are asked for; anything else is no command of theirs. */
const OTHERS: Readonly<Record<string, string>> = {
  helm: 'version|"history "*" --namespace "*|"show chart "*|"show values "*|"get manifest "*" --namespace "*|"get values "*" --namespace "*|"plugin list"',
  calicoctl: 'version|"ipam check --show-problem-ips"|"get "*" -o yaml"*',
  curl: '"-fLO https://dl.k8s.io/release/v"*',
  flux: '"suspend "*',
  argocd: '"app set "*',
};

const BLANK = 'for word; do case "$word" in *" "*) echo "no name: $word"; exit 1 ;; esac; done';
const script = (program: string, known: string) =>
  `#!/bin/sh\n${program === 'helm' ? BLANK : ''}\ncase "$*" in ${known}) echo "$*" ;; *) echo "unknown: $*"; exit 1 ;; esac\n`;

/** A shell with a real kubectl before a server that has what the check of a world saw. */
export async function shellOn() {
  let world: JudgedWorld | undefined;
  const server = await serve((request, response) => answer(world, request, response));
  const home = await mkdtemp(join(tmpdir(), 'next-steps-'));
  const [name, cluster] = ['it', { server: server.url }];
  const config = { clusters: [{ name, cluster }], contexts: [{ name, context: { cluster: name } }], 'current-context': name };
  const kubeconfig = join(home, 'config');
  await writeFile(kubeconfig, JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...config }));
  for (const [program, known] of Object.entries(OTHERS)) await writeFile(join(home, program), script(program, known), { mode: 0o755 });
  // A hundred kubectls that live for a tenth of a second need no garbage collected.
  const quick = { GOGC: 'off', GOMAXPROCS: '1' };
  const env = { ...quick, HOME: home, PATH: `${home}:${process.env.PATH}`, KUBECONFIG: kubeconfig, KUBE_EDITOR: 'true', TMPDIR: home };
  return {
    /** What becomes of a next step that is no command of this program, and of a repair. */
    run(of: JudgedWorld, step: string): Promise<{ readonly exit: number; readonly text: string }> {
      world = of;
      // Folders of a world are not of this machine.
      const line = step.replace(/^(df -h|ls -ld) .*/, '$1 .');
      return new Promise((resolve) => {
        execFile('/bin/sh', ['-c', line], { env, cwd: home, timeout: patient(60_000) }, (error, stdout, stderr) =>
          resolve({ exit: error === null ? 0 : Number(error.code ?? 1), text: `${stdout}${stderr}`.trim() }),
        );
      });
    },
    async close() {
      await server.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

function answer(world: JudgedWorld | undefined, { method, url }: Seen, response: ServerResponse): void {
  const { pathname } = new URL(url, 'http://localhost');
  // A schema without a type: nothing is validated.
  if (pathname === '/openapi/v2') response.writeHead(200, { 'content-type': OPENAPI }).end();
  else if (pathname === '/api' || pathname === '/apis') sendDiscovery(response, kinds, pathname === '/api');
  else {
    const found = pathname === '/version' ? SERVER_VERSION : atPlace(world, method, pathname);
    if (found) sendJson(response, found, method === 'POST' ? 201 : 200);
    else sendStatus(response, 404, 'NotFound', `${pathname} not found`);
  }
}

function atPlace(world: JudgedWorld | undefined, method: string, path: string): object | undefined {
  const place = placeOf(path);
  if (!place) return undefined;
  const { kind, name } = place;
  if (method === 'POST') return { ...made(kind, 'new'), ...reviewed(kind) };
  if (method === 'DELETE') return { kind: 'Status', apiVersion: 'v1', status: 'Success', details: {} };
  if (path.endsWith('/scale')) return { ...made(kind, name ?? ''), kind: 'Scale', apiVersion: 'autoscaling/v1' };
  if (name !== undefined) return seen(world, kind, name);
  return { kind: `${kind.kind}List`, apiVersion: apiVersionOf(kind), metadata: {}, items: listed(world, kind) };
}

const OPENAPI = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

function placeOf(path: string): { readonly kind: Kind; readonly name: string | undefined } | undefined {
  const [, group = '', rest = ''] = /^\/(?:api|apis\/([^/]+))\/[^/]+\/(.+)$/.exec(path) ?? [];
  const [plural, name] = rest.replace(/^namespaces\/[^/]+\/(?=.)/, '').split('/');
  const kind = kinds.find((one) => one.group === group && one.plural === plural);
  return kind && { kind, name: name === undefined ? undefined : decodeURIComponent(name) };
}

/** An object that the check saw, or that is named in what it saw. */
function seen(world: JudgedWorld | undefined, kind: Kind, name: string): object | undefined {
  const { next: _, steps: _s, hint = '', ...said } = world?.finding ?? {};
  const all = JSON.stringify([world?.facts, said, hint.replaceAll(/^fix: .*$/gm, '')]);
  return all.includes(name) || kind === K.APIService ? made(kind, name) : undefined;
}

/** Definitions by their names; no other list is looked into. */
function listed(world: JudgedWorld | undefined, kind: Kind): readonly object[] {
  if (kind !== K.CustomResourceDefinition) return [];
  const names = JSON.stringify([world?.facts, world?.finding]).match(/[a-z]+\.(?:[a-z.]+\.org|[a-z.]*netsvc\.io)\b/g) ?? [];
  return [...new Set(names)].map((name) => made(kind, name));
}

function made(kind: Kind, name: string): KubeObject & { readonly spec: object } {
  const metadata = { name, uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: { ...metadata, ...(kind.namespaced ? { namespace: 'kube-system' } : {}) },
    spec: kind.kind === 'Deployment' ? { paused: true, replicas: 0, selector: {}, template: { spec: { containers: [] } } } : {},
  };
}

const reviewed = (kind: Kind) =>
  kind.kind.startsWith('SelfSubject') ? { status: { allowed: true, resourceRules: [], nonResourceRules: [] } } : {};
