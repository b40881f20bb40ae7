import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { parse, stringify } from 'yaml';
import { judgeBySchema } from '../../src/features/install-manifest/schema.ts';
import { targetCrds } from '../../src/features/install-manifest/target-checks.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { startControlPlane } from '../control-plane/control-plane.ts';
import { shared } from '../support/installed-cluster.ts';
import { manifestFile } from '../support/releases.ts';
import { CALICO_TARGET } from '../support/target.ts';
import { assertSucceeded } from '../support/upgrade-process.ts';

const pool = { cidr: '10.0.0.0/16', ipipMode: 'Never', vxlanMode: 'Never', natOutgoing: true, nodeSelector: 'all()' };
const policy = (destination: object) => ({ selector: 'all()', types: ['Egress'], egress: [{ action: 'Allow', destination }] });
const services = { name: 'a', namespace: 'b' };
const filter = (rule: object) => ({ importV4: [{ action: 'Accept', ...rule }] });
const peer = { localWorkloadSelector: 'all()', asNumber: 64512 };
const clusterIPs = (cidr: string) => ({ serviceClusterIPs: [{ cidr }] });

/** Each is judged here and by the API server, and both must agree. */
const cases: readonly (readonly [kind: string, name: string, spec: object])[] = [
  ['IPPool', 'a', pool],
  ['IPPool', 'a', { ...pool, allowedUses: ['LoadBalancer'] }],
  ['IPPool', 'a', { ...pool, allowedUses: ['LoadBalancer'], ipipMode: 'Always' }],
  ['IPPool', 'a', { ...pool, allowedUses: ['LoadBalancer'], vxlanMode: 'Always' }],
  ['BGPFilter', 'a', filter({})],
  ['BGPFilter', 'a', filter({ cidr: '10.0.0.0/8' })],
  ['BGPFilter', 'a', filter({ cidr: '10.0.0.0/8', matchOperator: 'In' })],
  ['BGPFilter', 'a', filter({ cidr: '010.0.0.0/8', matchOperator: 'In' })],
  ['BGPFilter', 'a', filter({ cidr: '10.0.0.0/33', matchOperator: 'In' })],
  ['BGPFilter', 'a', filter({ prefixLength: { min: 8 } })],
  ['BGPFilter', 'a', filter({ action: 'Reject', operations: [{ setPriority: { value: 1 } }] })],
  ['BGPPeer', 'a', peer],
  ['BGPPeer', 'a', { localWorkloadSelector: 'all()' }],
  ['BGPPeer', 'a', { ...peer, peerIP: '10.0.0.1' }],
  ['BGPPeer', 'a', { ...peer, peerSelector: 'all()' }],
  ['FelixConfiguration', 'default', {}],
  ['FelixConfiguration', 'default', { nodeSelector: 'all()' }],
  ['FelixConfiguration', 'node.a', { nodeSelector: 'all()' }],
  ['FelixConfiguration', 'mine', { nodeSelector: 'all()' }],
  ['FelixConfiguration', 'default', { bpfEnabled: null }],
  ['Tier', 'default', { order: 1 }],
  ['Tier', 'default', { order: 1, defaultAction: null }],
  ['Tier', 'default', { order: 1, defaultAction: 'Pass' }],
  ['Tier', 'kube-admin', { order: 1 }],
  ['Tier', 'kube-admin', { order: 1, defaultAction: 'Pass' }],
  ['Tier', 'mine', {}],
  ['GlobalNetworkPolicy', 'a', policy({ services })],
  ['GlobalNetworkPolicy', 'a', policy({ services, ports: [80] })],
  ['GlobalNetworkPolicy', 'a', policy({ services, notPorts: [80] })],
  ...['10.96.0.0/12', 'not-a-cidr', '', 'fd00::/108', 'fd00::/129', '::ffff:10.0.0.0/104', '10.0.0.0/08'].map(
    (cidr) => ['BGPConfiguration', 'default', clusterIPs(cidr)] as const,
  ),
];

describe('what NS-501 says of stored resources', function () {
  this.timeout(240_000);
  const plane = shared(() => startControlPlane({ maxMinutes: 5 }));
  const crds = readFileSync(manifestFile(CALICO_TARGET, 'calico.yaml'), 'utf8')
    .split(/^---$/m)
    .filter((part) => /^kind: CustomResourceDefinition$/m.test(part));
  const targets = targetCrds(crds.map((part) => parse(part) as KubeObject));
  const kubectl = (...args: readonly string[]) =>
    execa(plane.programs.kubectl, ['--kubeconfig', plane.kubeconfigPath, ...args], { reject: false });

  before(async () => {
    const file = join(plane.dir, 'crds.yaml');
    writeFileSync(file, crds.join('\n---\n'));
    assertSucceeded(await kubectl('apply', '--server-side', '-f', file));
    await kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s');
  });

  for (const [kind, name, spec] of cases) {
    it(`of ${kind} ${name} ${JSON.stringify(spec)} is what the server says`, async () => {
      const target = targets.find((one) => one.kind === kind) ?? assert.fail(kind);
      const object = { apiVersion: `${target.group}/v1`, kind, metadata: { name }, spec };
      const file = join(plane.dir, 'object.yaml');
      writeFileSync(file, stringify(object));
      const server = await kubectl('create', '--dry-run=server', '-f', file);
      const own = judgeBySchema(object, target.schemas.v1 ?? {}).violations;
      assert.equal(own.length > 0, server.exitCode !== 0, `${JSON.stringify(own)}\n${server.stderr}`);
    });
  }
});
