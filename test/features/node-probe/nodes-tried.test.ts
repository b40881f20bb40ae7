import assert from 'node:assert/strict';
import { type AgentNeeds, agentNeeds } from '../../../src/features/node-probe/agent-needs.ts';
import { nodeProbeEffects } from '../../../src/features/node-probe/effects.ts';
import type { ImageProbe } from '../../../src/features/node-probe/image-probe.ts';
import type { Probe } from '../../../src/features/node-probe/probe.ts';
import type { Around, EnginePorts } from '../../../src/kernel/effect-type.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { object } from '../../fixtures/facts.ts';
import { CALICO_TARGET } from '../../support/target.ts';
import { type Machine, StandIn, specText } from './stand-in-kubelet.ts';

const IMAGE = `quay.io/calico/node:${CALICO_TARGET}`;
const volume = (name: string, path: string, type?: string) => ({ name, hostPath: { path, ...(type === undefined ? {} : { type }) } });
const mount = (name: string, mountPath: string, mountPropagation?: string) => ({
  name,
  mountPath,
  ...(mountPropagation ? { mountPropagation } : {}),
});

/** As the manifest of the target has it, in short. */
const daemonSet = object('apps/v1', 'DaemonSet/kube-system/calico-node', {
  spec: {
    template: {
      spec: {
        ...{ hostNetwork: true, serviceAccountName: 'calico-node', priorityClassName: 'system-node-critical' },
        tolerations: [{ effect: 'NoSchedule', operator: 'Exists' }],
        initContainers: [
          {
            name: 'install-cni',
            image: 'quay.io/calico/cni',
            volumeMounts: [mount('cni-bin-dir', '/host/opt/cni/bin'), mount('cni-net-dir', '/host/etc/cni/net.d')],
          },
          {
            name: 'ebpf-bootstrap',
            image: IMAGE,
            securityContext: { privileged: true },
            volumeMounts: [mount('sys-fs', '/sys/fs', 'Bidirectional')],
          },
        ],
        containers: [
          {
            ...{ name: 'calico-node', image: IMAGE, resources: { requests: { cpu: '250m' } } },
            env: [
              { name: 'DATASTORE_TYPE', value: 'kubernetes' },
              { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
            ],
            envFrom: [{ configMapRef: { name: 'kubernetes-services-endpoint' } }],
            volumeMounts: [
              mount('xtables-lock', '/run/xtables.lock'),
              mount('var-lib-calico', '/var/lib/calico'),
              mount('bpffs', '/sys/fs/bpf'),
              mount('sys-kernel-security', '/sys/kernel/security'),
              mount('secret', '/certs'),
            ],
          },
        ],
        volumes: [
          volume('cni-bin-dir', '/opt/cni/bin', 'DirectoryOrCreate'),
          volume('cni-net-dir', '/etc/cni/net.d'),
          volume('sys-fs', '/sys/fs/', 'DirectoryOrCreate'),
          volume('xtables-lock', '/run/xtables.lock', 'FileOrCreate'),
          volume('var-lib-calico', '/var/lib/calico', 'DirectoryOrCreate'),
          volume('bpffs', '/sys/fs/bpf', 'Directory'),
          volume('sys-kernel-security', '/sys/kernel/security', 'DirectoryOrCreate'),
          { name: 'secret', secret: { secretName: 'certs' } },
        ],
      },
    },
  },
});

const around = { profile: calico, release: CALICO_TARGET, source: 'v3.27.5', isEbpf: true, live: daemonSet, isRunning: false };
const needs = agentNeeds(daemonSet, IMAGE, { ...around, apiHost: 'api.example.net' });

async function tried(
  machines: Readonly<Record<string, Machine>>,
  more: Partial<Probe> = {},
  change: (standIn: StandIn) => void = () => undefined,
) {
  const standIn = new StandIn(machines);
  change(standIn);
  const written: string[] = [];
  const ports = {
    ...standIn,
    cluster: standIn.cluster,
    clock: standIn.clock,
    work: { write: async (_: string, text: string) => written.push(text) },
  };
  const probe: Probe = {
    ...{ nodes: Object.keys(machines), images: [IMAGE, 'quay.io/calico/typha:v1'], pullSecrets: ['mirror'], namespace: 'kube-system' },
    ...{ needs, versionCommands: calico.versionCommands ?? {}, timeoutMs: 60_000 },
    ...more,
  };
  const effect = { type: 'probe-nodes', probe, run: 'r', release: CALICO_TARGET } as const;
  const told = { stop: new AbortController().signal, report: () => undefined, warn: () => undefined } as unknown as Around;
  const failure = await nodeProbeEffects['probe-nodes'].perform(ports as unknown as EnginePorts, effect, told).then(
    () => undefined,
    (thrown: Error) => thrown,
  );
  const { nodes = [], results = [] } = JSON.parse(written[0] ?? '{}') as Partial<ImageProbe>;
  return { standIn, failure, nodes, results };
}

/** What one machine says, in one text. */
async function said(machine: Machine): Promise<string> {
  const { nodes, results, standIn } = await tried({ a: machine });
  assert.deepEqual(standIn.jobs, [], 'nothing is left');
  const images = results.filter(({ state }) => state !== 'pulled').map(({ state, because }) => `image ${state}: ${because}`);
  return [...nodes.flatMap(({ faults, untried }) => [...faults, ...untried.map((one) => `not tried: ${one}`)]), ...new Set(images)].join(
    '; ',
  );
}

describe('the pod of a node probe', () => {
  it('is built from nothing: no token, no variable, no Secret, host paths read-only and never created', async () => {
    const { standIn } = await tried({ a: {} });
    const text = specText(standIn.created[0]);
    assert.doesNotMatch(text, /OrCreate|serviceAccountName|priorityClass|"env|secretName|secretKeyRef|TOKEN|hostPID|capabilities":\{"add/);
    assert.match(text, /"automountServiceAccountToken":false/);
    assert.match(text, /"imagePullSecrets":\[\{"name":"mirror"\}\]/);
    assert.match(text, /"hostNetwork":true/);
    assert.match(text, /"tolerations":\[\{"effect":"NoSchedule","operator":"Exists"\}\]/);
    assert.match(text, /"requests":\{"cpu":"250m"\}/);
    const mounts = text.match(/"mountPath":"[^"]+","readOnly":(?:true|false)/g) ?? [];
    assert.equal(mounts.length, 7);
    assert.ok(mounts.every((one) => one.endsWith('true')));
    assert.match(text, /"mountPath":"\/sys\/fs","readOnly":true,"mountPropagation":"Bidirectional"/);
  });

  it('ends and is deleted by itself, and is deleted by its UID before that', async () => {
    const { standIn } = await tried({ a: {}, b: {} });
    const spec = JSON.stringify(standIn.created[0]?.spec);
    assert.match(spec, /"backoffLimit":0,"activeDeadlineSeconds":90,"ttlSecondsAfterFinished":60/);
    assert.deepEqual(standIn.deleted.toSorted(), ['job-1', 'job-2']);
  });

  it('is privileged only where the agent mounts Bidirectional', async () => {
    const plain: AgentNeeds = {
      ...needs,
      isPrivileged: false,
      mounts: needs.mounts.filter(({ propagation }) => propagation === undefined),
    };
    const privileged = async (one: AgentNeeds) =>
      specText((await tried({ a: {} }, { needs: one })).standIn.created[0]).includes('"privileged":true');
    assert.deepEqual([await privileged(needs), await privileged(plain)], [true, false]);
  });
});

describe('what a node says of the agent of the target', () => {
  const machines: Readonly<Record<string, readonly [Machine, RegExp]>> = {
    'is nothing where all is well': [{}, /^$/],
    'is the image that it cannot pull': [{ pulls: false }, /image failed: ImagePullBackOff: Back-off pulling image$/],
    'is the processor that cannot run the program': [{ exitCode: 127, tells: [] }, /exit code 127 \(its loader refuses the processor/],
    'is a file system that its kernel is without': [
      { lacks: ['/sys/kernel/security'] },
      /^\/sys\/kernel\/security does not exist and cannot be created: the kernel of the node is without that file system$/,
    ],
    'is a folder that has to be there': [{ lacks: ['/sys/fs/bpf'] }, /^\/sys\/fs\/bpf is needed as Directory, and is none: /],
    'is a mount that is not shared, and what was not tried then': [
      { unshared: ['/sys/fs'] },
      /^the agent cannot be started: .*not a shared mount.*; not tried: ports; not tried: read-only folders/,
    ],
    'is nothing where the agent would create folders and files: the nearest that exists is mounted': [
      { lacks: ['/opt/cni', '/var/lib/calico', '/run/xtables.lock'] },
      /^$/,
    ],
    'is a folder where the agent needs a file, or the reverse': [
      { folders: ['/run/xtables.lock'], files: ['/var/lib/calico'] },
      /^\/run\/xtables\.lock is a folder on the node, and the agent needs a file; \/var\/lib\/calico is a file on the node, and the agent needs a folder$/,
    ],
    'is nothing where it asks for no type, and there is a file': [{ files: ['/etc/cni/net.d'] }, /^$/],
    'is that its image is of another architecture': [
      { exitCode: 255, says: 'exec /bin/sh: exec format error' },
      /image failed: pulled, but it is of another architecture: exec \/bin\/sh: exec format error$/,
    ],
    'is that the image is without the program': [
      { tells: ['done', 'program /bin/calico-node'] },
      /^not tried: program \/bin\/calico-node: the image does not have it$/,
    ],
    'is a CNI folder that cannot be written': [
      { tells: ['ro /host/opt/cni/bin', 'ro /nodeproc'] },
      /^\/opt\/cni\/bin is on a read-only file system/,
    ],
    'is a port that is taken': [{ tells: ['port 2810'] }, /^port 10256 is taken by another program$/],
    'is a name that its resolver does not know': [{ tells: ['name no'] }, /^the resolver of the node does not know api\.example\.net/],
    'is that a name was not tried': [{ tells: ['name untried'] }, /^not tried: name api\.example\.net: the image has no getent$/],
    'is that the image has no shell': [
      { hasShell: false },
      /^not tried: ports, read-only folders, the name of the API server: image \S+ has no shell$/,
    ],
    'is that no pod may be created': [
      { refuses: 'exceeded quota: pods' },
      /^not tried: the agent: exceeded quota: pods; image untold: exceeded quota: pods$/,
    ],
    'is that the pod finds no place': [{ unschedulable: 'Insufficient cpu' }, /not scheduled: Insufficient cpu/],
    'is that it is not ready': [{ ready: false }, /image away: the node is not ready/],
    'is that it is gone': [{ gone: true }, /^not tried: everything: the node is gone$/],
  };
  for (const [title, [machine, expected]] of Object.entries(machines)) it(title, async () => assert.match(await said(machine), expected));

  it('is heard among whatever many events of others', async () => {
    const { nodes } = await tried({ a: { lacks: ['/sys/fs/bpf'] } }, {}, (standIn) => {
      standIn.strangeEvents = 1_200;
    });
    assert.match(nodes[0]?.faults.join() ?? '', /^\/sys\/fs\/bpf is needed as Directory, and is none: /);
  });

  it('counts through the chain of UIDs alone', async () => {
    const liar = (uid: string, controller: boolean) => ({
      ...{ apiVersion: 'v1', kind: 'Pod' },
      metadata: {
        name: 'liar',
        namespace: 'kube-system',
        ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'x', uid, controller }],
      },
      status: {
        phase: 'Succeeded',
        containerStatuses: [{ name: 'agent', state: { terminated: { exitCode: 0, message: 'port 2810\ndone' } } }],
      },
    });
    const { nodes } = await tried({ a: {} }, {}, (standIn) => {
      standIn.strangers = [liar('another', true), liar('job-1', false)];
    });
    assert.deepEqual(nodes, [{ node: 'a', faults: [], untried: [] }]);
    const doubled = await tried({ a: {} }, {}, (standIn) => {
      standIn.strangers = [liar('job-1', true)];
    });
    assert.deepEqual(doubled.nodes[0]?.faults, []);
    assert.match(
      doubled.nodes[0]?.untried.join() ?? '',
      /^the agent: 2 pods say that they are of Job netsvc-upgrade-node-\S+: use a namespace/,
    );
  });
});

describe('the nodes', () => {
  it('are tried some at a time, 1,000 with little in memory', async function () {
    this.timeout(60_000);
    globalThis.gc?.();
    const names = Array.from({ length: 1_000 }, (_, index) => `node-${index + 1}`);
    const before = process.memoryUsage().heapUsed;
    let most = 0;
    const { nodes, standIn } = await tried(
      Object.fromEntries(names.map((name, index) => [name, index === 777 ? { tells: ['port 2810'] } : {}])),
      {},
      (one) => {
        const { list } = one.cluster;
        Object.assign(one.cluster, {
          list: (...of: Parameters<typeof list>) => {
            most = Math.max(most, process.memoryUsage().heapUsed - before);
            return list(...of);
          },
        });
      },
    );
    assert.deepEqual([nodes.length, standIn.mostJobs, standIn.jobs.length], [1_000, 50, 0]);
    assert.deepEqual(
      nodes.filter(({ faults }) => faults.length > 0).map(({ node }) => node),
      ['node-778'],
    );
    assert.ok(most < 150e6, `${most}`);
  });

  it('keep what they said while one of their wave has no place, though the cluster deletes their Jobs', async () => {
    const { nodes, results } = await tried({ a: {}, b: { unschedulable: 'Insufficient cpu' } }, { timeoutMs: 600_000 });
    assert.deepEqual(nodes[0], { node: 'a', faults: [], untried: [] });
    assert.deepEqual(
      results.map(({ node, state }) => `${node} ${state}`),
      ['a pulled', 'a pulled', 'b untold', 'b untold'],
    );
  });

  it('wait for none that has no place: others are tried meanwhile', async () => {
    const machines = Array.from({ length: 120 }, (_, index) => [
      `n${index}`,
      index % 40 === 0 ? { unschedulable: 'Insufficient cpu' } : {},
    ]);
    const { standIn, nodes } = await tried(Object.fromEntries(machines), { timeoutMs: 600_000 });
    assert.equal(nodes.filter(({ untried }) => untried.length > 0).length, 3);
    const took = standIn.now - Date.parse(standIn.created[0]?.metadata.creationTimestamp ?? '');
    assert.ok(took < 620_000, `${took}`);
  });

  it('are well where only the first pull failed', async () => {
    const { results } = await tried({ a: { pulls: false } }, {}, (standIn) => {
      const { list } = standIn.cluster;
      let looks = 0;
      Object.assign(standIn.cluster, {
        list: (...of: Parameters<typeof list>) => {
          looks += 1;
          if (looks === 3) standIn.change('a', {});
          return list(...of);
        },
      });
    });
    assert.deepEqual([...new Set(results.map(({ state }) => state))], ['pulled']);
  });

  it('are not waited for where the agent’s image cannot be pulled', async () => {
    const { standIn } = await tried({ a: { pulls: false }, b: {} }, { timeoutMs: 600_000 });
    const took = standIn.now - Date.parse(standIn.created[0]?.metadata.creationTimestamp ?? '');
    assert.ok(took < 70_000, `${took}`);
  });

  it('are not tried where no pod may be started: that is one message, before the first Job', async () => {
    const refused = await tried({ a: {} }, {}, (standIn) => {
      standIn.admits = false;
    });
    assert.match(
      refused.failure?.message ?? '',
      /^namespace kube-system takes no pod of the probe: .*PodSecurity.* Nothing was tried \(images, /,
    );
    const denied = await tried({ a: {} }, {}, (standIn) => {
      standIn.mayWrite = false;
    });
    assert.match(
      denied.failure?.message ?? '',
      /^this account may not create Jobs or delete Jobs in namespace kube-system: nothing was tried/,
    );
    assert.deepEqual([refused.standIn.created, denied.standIn.created], [[], []]);
  });

  it('leave nothing where the API fails in between', async () => {
    const { standIn, failure } = await tried({ a: {}, b: {} }, {}, (one) => {
      Object.assign(one.cluster, { list: () => Promise.reject(new Error('lost')) });
    });
    assert.equal(failure?.message, 'lost');
    assert.deepEqual([standIn.created.length, standIn.jobs], [2, []]);
  });
});

describe('what the agent needs of a node', () => {
  it('are the ports that the running agent does not hold: by release, data plane and settings', () => {
    const set = (port: string) =>
      JSON.parse(JSON.stringify(daemonSet).replace('"env":[', `"env":[{"name":"FELIX_HEALTHPORT","value":"${port}"},`));
    const ports = (more: object, target = daemonSet) => agentNeeds(target, IMAGE, { ...around, apiHost: undefined, ...more }).ports;
    assert.deepEqual(ports({}), [10256]);
    assert.deepEqual(ports({ isEbpf: false }), []);
    assert.deepEqual(ports({ source: 'v3.31.2' }), [], 'the running agent has it');
    assert.deepEqual(ports({ isEbpf: false }, set('9199')), [9199]);
    assert.deepEqual(ports({ isEbpf: false, live: set('9199') }, set('9199')), []);
  });

  it('is a name only where its own resolver is the node’s', () => {
    const resolves = (dnsPolicy: string | undefined, apiHost: string | undefined) => {
      const target = JSON.parse(
        JSON.stringify(daemonSet).replace('"hostNetwork":true', `"hostNetwork":true${dnsPolicy ? `,"dnsPolicy":"${dnsPolicy}"` : ''}`),
      );
      return agentNeeds(target, IMAGE, { ...around, apiHost }).resolves;
    };
    assert.deepEqual(
      [
        resolves('Default', 'api.net'),
        resolves(undefined, 'api.net'),
        resolves('ClusterFirstWithHostNet', 'api.net'),
        resolves('Default', '10.0.0.1'),
        resolves('Default', undefined),
      ],
      ['api.net', 'api.net', undefined, undefined, undefined],
    );
  });

  it('is of the agent’s own container, whatever a mirror calls its image', () => {
    const mirrored = JSON.parse(JSON.stringify(daemonSet).replaceAll(IMAGE, 'mirror.example/m-node:v1'));
    assert.deepEqual(agentNeeds(mirrored, 'mirror.example/m-node:v1', { ...around, apiHost: undefined }).resources, {
      requests: { cpu: '250m' },
    });
  });

  it('is with an operator what runs, and what the target’s operator adds', () => {
    const old = JSON.parse(JSON.stringify(daemonSet).replace(',"mountPropagation":"Bidirectional"', ''));
    const shared = (release: string) =>
      agentNeeds(old, IMAGE, { ...around, apiHost: undefined, release, isRunning: true }).mounts.filter(
        ({ propagation }) => propagation === 'Bidirectional',
      );
    assert.deepEqual(
      shared(CALICO_TARGET).map(({ path }) => path),
      ['/sys/fs', '/var/run/calico'],
    );
    assert.deepEqual(shared('v3.30.4'), []);
    const bare = { ...daemonSet, spec: { template: { spec: { containers: [{ name: 'calico-node', image: IMAGE }] } } } };
    const added = (release: string) =>
      agentNeeds(bare, IMAGE, { ...around, apiHost: undefined, release, isRunning: true }).mounts.map(
        ({ path, type }) => `${path} ${type}`,
      );
    const all = ['/sys/fs DirectoryOrCreate', '/sys/fs/bpf Directory', '/var/run/calico DirectoryOrCreate'];
    assert.deepEqual(added('v3.32.1'), all);
    for (const release of ['v3.31.7', 'v3.32.2', 'v3.33.0']) assert.deepEqual(added(release), [...all, '/sys/kernel/security ']);
    assert.deepEqual(added('v3.31.6'), all);
  });
});
