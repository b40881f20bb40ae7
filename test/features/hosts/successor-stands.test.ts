import assert from 'node:assert/strict';
import {
  assertSuccessor,
  assertWayBack,
  type SuccessorExpected,
  versionsOf,
  type WayBackExpected,
} from '../../../src/features/hosts/successor-stands.ts';
import type { Tools } from '../../../src/kernel/argv.ts';
import { Fault, Outdated } from '../../../src/kernel/fault.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import type { Cluster } from '../../../src/kernel/ports.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { object } from '../../fixtures/facts.ts';

const KIND = { group: 'crd.projectcalico.org', version: 'v1', kind: 'HostEndpoint', plural: 'hostendpoints', namespaced: false };
const SETTINGS = { ...KIND, kind: 'KubeControllersConfiguration', plural: 'kubecontrollersconfigurations' };
const CREATED_BY = { [calico.labels.createdBy]: calico.labels.createdByValue };
const CLI = { program: '/bin/calicoctl', args: ['--config=x'] };

const expected: SuccessorExpected = {
  type: 'successor',
  node: { node: 'n1', labels: { role: 'host' } },
  old: [{ name: 'old-1', uid: 'u', resourceVersion: '7' }],
  signs: calico.labels,
  apiGroup: calico.apiGroup,
  setting: {
    ...calico.controllersConfiguration,
    field: 'spec.controllers.node.hostEndpoint.autoCreate',
    overriddenBy: 'AUTO_HOST_ENDPOINTS',
  },
  from: { kind: KIND, settings: SETTINGS },
  judgedBy: [],
};

const endpoint = (name: string, metadata: object, expectedIPs: readonly string[] = ['10.0.0.1']) =>
  object('crd.projectcalico.org/v1', `HostEndpoint/${name}`, { metadata, spec: { node: 'n1', interfaceName: '*', expectedIPs } });
const automatic = (labels: object, ips?: readonly string[]) => endpoint('n1-auto-hep', { labels: { ...labels, ...CREATED_BY } }, ips);
const old = (resourceVersion: string, uid = 'u') => endpoint('old-1', { uid, resourceVersion });
const setting = (autoCreate: string, given?: string) =>
  object('crd.projectcalico.org/v1', 'KubeControllersConfiguration/default', {
    spec: { controllers: { node: { hostEndpoint: { autoCreate } } } },
    ...(given === undefined ? {} : { status: { environmentVars: { AUTO_HOST_ENDPOINTS: given } } }),
  });

/** As the CLI answers: a list, the bare object, an array of several; what is not there is a failure beside what is (cli notes 1.5). */
function cliGet(objects: readonly KubeObject[], [plural, ...names]: readonly string[]) {
  const items = objects.filter(({ kind }) => `${kind.toLowerCase()}s` === plural);
  if (names.length === 0) return { exitCode: 0, stdout: JSON.stringify({ kind: 'List', items }), stderr: '' };
  const found = items.filter(({ metadata }) => names.includes(metadata.name));
  const absent = names.filter((name) => !found.some(({ metadata }) => metadata.name === name));
  const warning = 'I1121 10:00:00.000000       1 warnings.go:107] "Warning: unknown field"\n';
  const stderr = warning + absent.map((name) => `resource does not exist: HostEndpoint(${name}) with error: <nil>\n`).join('');
  return { exitCode: absent.length > 0 ? 1 : 0, stdout: JSON.stringify(found.length > 1 ? found : (found[0] ?? null)), stderr };
}

/** Words of the CLI's calls. */
const asked: string[] = [];

/** The same question where the API stores them, and where only the CLI sees them. */
function bothPorts(objects: readonly KubeObject[]): { readonly cluster: Cluster; readonly tools: Tools } {
  const cluster = {
    get: async ({ kind }: { readonly kind: string }, name: string) =>
      objects.find((one) => one.kind === kind && one.metadata.name === name),
    list: async ({ kind }: { readonly kind: string }) => objects.filter((one) => one.kind === kind),
  } as unknown as Cluster;
  const tools = {
    run: async ({ args }: { readonly args: readonly string[] }) => {
      assert.deepEqual(args.slice(-3), ['-o', 'json', '--config=x']);
      asked.push(args.slice(0, -3).join(' '));
      return { ...cliGet(objects, args.slice(1, -3)), durationMs: 1 };
    },
  } as unknown as Tools;
  return { cluster, tools };
}

function askBoth(objects: readonly KubeObject[]): readonly (() => Promise<void>)[] {
  const ports = bothPorts(objects);
  return [() => assertSuccessor(ports, expected), () => assertSuccessor(ports, { ...expected, from: { cli: CLI } })];
}

const { setting: SETTING, from: FROM } = expected;

function askWayBack(objects: readonly KubeObject[], needs: Pick<WayBackExpected, 'standing' | 'off'>): readonly (() => Promise<void>)[] {
  const ports = bothPorts(objects);
  const wayBack = { type: 'way-back', setting: SETTING, ...needs } as const;
  return [() => assertWayBack(ports, { ...wayBack, from: FROM }), () => assertWayBack(ports, { ...wayBack, from: { cli: CLI } })];
}

const whole = [automatic({ role: 'host' }), old('7'), setting('Enabled')];

const changed: Readonly<Record<string, readonly [objects: readonly KubeObject[], because: RegExp]>> = {
  'the automatic endpoint is gone': [whole.slice(1), /^n1: no automatic endpoint yet$/],
  'the automatic endpoint has no addresses any more': [[automatic({ role: 'host' }, []), ...whole.slice(1)], /has no addresses yet/],
  'the automatic endpoint lost a copied label': [[automatic({}), ...whole.slice(1)], /lacks the labels role/],
  'the node got a label by which other policies may select it': [
    [automatic({ role: 'host', zone: 'b' }), ...whole.slice(1)],
    /has got the labels zone meanwhile/,
  ],
  'automatic endpoints were switched off, and those that are there will go': [
    [...whole.slice(0, 2), setting('Disabled')],
    /does not ask for automatic host endpoints any more/,
  ],
  'the running controllers were given a variable that switches automatic endpoints off': [
    [...whole.slice(0, 2), setting('Enabled', 'disabled')],
    /^AUTO_HOST_ENDPOINTS=disabled of the controllers that run beats default/,
  ],
  'the controllers’ configuration is gone': [whole.slice(0, 2), /does not ask for automatic host endpoints any more/],
  'the old endpoint was changed: a label of it may be new, and it was kept as it was': [
    [automatic({ role: 'host' }), old('8'), setting('Enabled')],
    /old-1 changed meanwhile/,
  ],
  'the old endpoint is another one of that name': [
    [automatic({ role: 'host' }), old('7', 'v'), setting('Enabled')],
    /old-1 changed meanwhile/,
  ],
  'the old endpoint is gone': [[automatic({ role: 'host' }), setting('Enabled')], /old-1 is gone/],
};

describe('right before the old endpoints of a node are deleted', () => {
  it('they may be where all is as it was judged', async () => {
    for (const ask of askBoth(whole)) await ask();
  });

  it('they stay where a policy came, went or changed since the host was judged by it', async () => {
    const policy = (name: string, resourceVersion: string) =>
      object('crd.projectcalico.org/v1', `GlobalNetworkPolicy/${name}`, { metadata: { uid: 'p', resourceVersion } });
    const judged = [policy('a', '1'), policy('b', '1')];
    const kind = { ...KIND, kind: 'GlobalNetworkPolicy', plural: 'globalnetworkpolicys' };
    const ask = (now: readonly KubeObject[]) => {
      const ports = bothPorts([...whole, ...now]);
      const by = { plural: kind.plural, versions: versionsOf(judged) };
      return [
        assertSuccessor(ports, { ...expected, judgedBy: [{ ...by, kind }] }),
        assertSuccessor(ports, { ...expected, from: { cli: CLI }, judgedBy: [by] }),
      ];
    };
    await Promise.all(ask(judged.toReversed()));
    for (const now of [[policy('a', '1')], [...judged, policy('c', '1')], [policy('a', '2'), policy('b', '1')]])
      for (const asking of ask(now)) await assert.rejects(asking, /^Error: globalnetworkpolicys changed meanwhile/);
  });

  it('they are asked for by their names, never as a list of the fleet, where the CLI alone sees them', async () => {
    asked.length = 0;
    await askBoth(whole)[1]?.();
    assert.deepEqual(asked.toSorted(), ['get hostendpoints n1-auto-hep old-1', 'get kubecontrollersconfigurations default']);
  });

  it('they may be where the name of the automatic one had to be shortened: it is found in the list', async () => {
    asked.length = 0;
    const { metadata, ...rest } = automatic({ role: 'host' });
    const ask = askBoth([{ ...rest, metadata: { ...metadata, name: 'f00-auto-hep' } }, ...whole.slice(1)])[1];
    await ask?.();
    assert.ok(asked.includes('get hostendpoints'));
  });

  it('nobody knows where the CLI fails for another reason: it is told, and nothing is deleted', async () => {
    for (const stderr of ['connection is unauthorized: forbidden', 'resource does not exist: HostEndpoint(old-1)\nEOF']) {
      const run = async ({ args }: { readonly args: readonly string[] }) =>
        args[1] === 'hostendpoints'
          ? { exitCode: 1, stdout: JSON.stringify(whole.slice(0, 2)), stderr, durationMs: 1 }
          : { ...cliGet(whole, args.slice(1, -3)), durationMs: 1 };
      const tools = { run } as unknown as Tools;
      const asking = assertSuccessor({ cluster: {} as Cluster, tools }, { ...expected, from: { cli: CLI } });
      await assert.rejects(asking, (thrown) => thrown instanceof Fault && thrown.message.includes(stderr.split('\n').at(-1) ?? ''));
    }
  });

  it('they may be where old controllers took the word in small letters', async () => {
    for (const ask of askBoth([...whole.slice(0, 2), setting('enabled')])) await ask();
  });

  for (const [title, [objects, words]] of Object.entries(changed)) {
    it(`they may not be where ${title}`, async () => {
      for (const ask of askBoth(objects))
        await assert.rejects(ask(), (thrown) => thrown instanceof Outdated && words.test(thrown.message) && thrown.outcome?.done === false);
    });
  }
});

describe('right before the way back goes on', () => {
  const isOutdated = (words: RegExp) => (thrown: unknown) => thrown instanceof Outdated && words.test(thrown.message);

  it('automatic endpoints are switched off where every old one stands, whatever else there is', async () => {
    for (const ask of askWayBack(whole, { standing: ['old-1'] })) await ask();
  });

  it('they are not where an old one is not there', async () => {
    for (const ask of askWayBack(whole, { standing: ['old-1', 'old-2'] }))
      await assert.rejects(ask(), isOutdated(/^the host endpoint old-2/));
  });

  it('labels are removed where automatic endpoints are off, or were never asked for', async () => {
    for (const objects of [[setting('Disabled')], []]) for (const ask of askWayBack(objects, { off: true })) await ask();
  });

  it('they are not while the running controllers have a variable that keeps them on, whatever the setting says', async () => {
    for (const ask of askWayBack([setting('Disabled', 'Enabled')], { off: true }))
      await assert.rejects(ask(), isOutdated(/^AUTO_HOST_ENDPOINTS=Enabled of the controllers that run beats default: /));
  });

  it('they are where that variable switches them off', async () => {
    for (const ask of askWayBack([setting('Enabled', 'disabled')], { off: true })) await ask();
  });

  it('they are not while automatic endpoints are on', async () => {
    for (const word of ['Enabled', 'enabled'])
      for (const ask of askWayBack([setting(word)], { off: true })) await assert.rejects(ask(), isOutdated(/^default still asks/));
  });
});
