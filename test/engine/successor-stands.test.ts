import assert from 'node:assert/strict';
import type { SuccessorExpected } from '../../src/core/action.ts';
import type { KubeObject } from '../../src/core/object.ts';
import type { Cluster, Tools } from '../../src/core/ports.ts';
import { Outdated } from '../../src/engine/outdated.ts';
import { assertSuccessor } from '../../src/engine/successor-stands.ts';
import { calico } from '../../src/profiles/calico.ts';
import { object } from '../fixtures/facts.ts';

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
  setting: { ...calico.controllersConfiguration, field: 'spec.controllers.node.hostEndpoint.autoCreate' },
  from: { kind: KIND, settings: SETTINGS },
};

const endpoint = (name: string, metadata: object, expectedIPs: readonly string[] = ['10.0.0.1']) =>
  object('crd.projectcalico.org/v1', `HostEndpoint/${name}`, { metadata, spec: { node: 'n1', interfaceName: '*', expectedIPs } });
const automatic = (labels: object, ips?: readonly string[]) => endpoint('n1-auto-hep', { labels: { ...labels, ...CREATED_BY } }, ips);
const old = (resourceVersion: string, uid = 'u') => endpoint('old-1', { uid, resourceVersion });
const setting = (autoCreate: string) =>
  object('crd.projectcalico.org/v1', 'KubeControllersConfiguration/default', {
    spec: { controllers: { node: { hostEndpoint: { autoCreate } } } },
  });

/** The same question where the API stores them, and where only the CLI sees them. */
function askBoth(objects: readonly KubeObject[]): readonly (() => Promise<void>)[] {
  const cluster = {
    get: async ({ kind }: { readonly kind: string }, name: string) =>
      objects.find((one) => one.kind === kind && one.metadata.name === name),
    list: async ({ kind }: { readonly kind: string }) => objects.filter((one) => one.kind === kind),
  } as unknown as Cluster;
  const tools = {
    run: async ({ args }: { readonly args: readonly string[] }) => {
      assert.deepEqual(args.slice(2), ['-o', 'json', '--config=x']);
      const items = objects.filter(({ kind }) => `${kind.toLowerCase()}s` === args[1]);
      return { exitCode: 0, stdout: JSON.stringify({ kind: 'List', items }), stderr: '', durationMs: 1 };
    },
  } as unknown as Tools;
  return [
    () => assertSuccessor({ cluster, tools }, expected),
    () => assertSuccessor({ cluster, tools }, { ...expected, from: { cli: CLI } }),
  ];
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

  it('they may be where old controllers took the word in small letters', async () => {
    for (const ask of askBoth([...whole.slice(0, 2), setting('enabled')])) await ask();
  });

  for (const [title, [objects, words]] of Object.entries(changed)) {
    it(`they may not be where ${title}`, async () => {
      for (const ask of askBoth(objects)) await assert.rejects(ask(), (thrown) => thrown instanceof Outdated && words.test(thrown.message));
    });
  }
});
