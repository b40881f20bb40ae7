import assert from 'node:assert/strict';
import type { HepFacts } from '../../../src/features/hosts/facts.ts';
import { hepJudged, undoJudged } from '../../../src/features/hosts/judged.ts';
import { readOverride } from '../../../src/features/hosts/obstacles.ts';
import { automaticSettings } from '../../../src/features/policy-rules/host-endpoint.ts';
import type { Datastore } from '../../../src/kernel/installation.ts';
import { K } from '../../../src/kernel/kinds.ts';
import type { Kind, KubeObject } from '../../../src/kernel/object.ts';
import { ApiFailure } from '../../../src/kernel/ports.ts';
import type { KeptItem } from '../../../src/kernel/run-record.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf, object, resource, type Wanted } from '../../fixtures/facts.ts';
import { asRead, keptItem, removed, switched } from '../../support/hep-kept.ts';

interface Cluster {
  /** `spec.controllers` of the controllers' configuration; null: there is none yet. */
  readonly settings?: object | null;
  /** Variables of the controllers, each a text or where it is from; null: there are no controllers. */
  readonly env?: Readonly<Record<string, string | object>> | null;
  readonly envFrom?: readonly object[];
  /** `status.environmentVars` of the controllers' configuration. */
  readonly given?: Readonly<Record<string, string>>;
  /** Name of the agents' DaemonSet; null: there is none. */
  readonly agents?: string | null;
  /** Status of that DaemonSet where it differs from one that is rolled out. */
  readonly status?: Readonly<Record<string, number>>;
  readonly datastore?: Datastore;
  readonly options?: Wanted;
  readonly isUndo?: boolean;
  /** What an earlier migration kept; one that enabled, unless said. */
  readonly kept?: readonly KeptItem[];
}

const ENABLED: readonly KeptItem[] = [keptItem('r1/hep/enable#1', switched('Enabled'))];

const ROLLED_OUT = {
  ...{ observedGeneration: 4, desiredNumberScheduled: 3, currentNumberScheduled: 3, updatedNumberScheduled: 3 },
  ...{ numberReady: 3, numberAvailable: 3, numberUnavailable: 0, numberMisscheduled: 0 },
};

function controllersWith(env: NonNullable<Cluster['env']>, envFrom: readonly object[]): KubeObject {
  const variables = Object.entries(env).map(([name, from]) =>
    typeof from === 'string' ? { name, value: from } : { name, valueFrom: from },
  );
  return object('apps/v1', 'Deployment/kube-system/calico-kube-controllers', {
    spec: { template: { spec: { containers: [{ name: 'calico-kube-controllers', env: variables, envFrom }] } } },
  });
}

/** ConfigMap `settings` has values, `closed` is not ours to read, any other is not there. */
const maps = {
  async get(kind: Kind, name: string, namespace?: string) {
    if (kind !== K.ConfigMap || namespace !== 'kube-system') return undefined;
    if (name === 'closed') throw new ApiFailure(403, 'Forbidden', 'configmaps "closed" is forbidden');
    if (name !== 'settings') return undefined;
    return object('v1', 'ConfigMap/kube-system/settings', {
      data: { off: 'disabled', on: 'enabled', AUTO_HOST_ENDPOINTS: 'Disabled', HOST_ENDPOINTS: 'disabled' },
    });
  },
};

/** What keeps the controllers from making endpoints: nothing, but for what `cluster` says. */
async function obstaclesIn({
  settings = {},
  env = {},
  envFrom = [],
  given,
  agents = 'calico-node',
  status,
  datastore,
  options,
  kept,
  isUndo = false,
}: Cluster) {
  const written = settings ? resource('KubeControllersConfiguration/default', { controllers: settings }) : undefined;
  const configuration = written && given ? { ...written, status: { environmentVars: given } } : written;
  const controllers = env ? controllersWith(env, envFrom) : undefined;
  const facts = {
    ...{
      nodes: [],
      cli: { missing: 'none was found' },
      rollouts: { value: [] },
      verdicts: { value: [] },
      ruleChanges: { value: [] },
      after: { value: [] },
      elsewhere: [],
    },
    installation: { datastore: datastore ?? 'api', components: [] },
    ...{ stored: [], kept: await asRead(kept ?? ENABLED) },
    override: await readOverride(maps, controllers, calico.automaticEndpointsEnv),
    settings: automaticSettings(configuration?.spec),
    ...(configuration ? { configuration } : {}),
    ...(controllers ? { controllers } : {}),
    ...(agents
      ? {
          agents: object('apps/v1', `DaemonSet/kube-system/${agents}`, {
            metadata: { generation: 4 },
            status: { ...ROLLED_OUT, ...status },
          }),
        }
      : {}),
  } as unknown as HepFacts;
  return (isUndo ? undoJudged : hepJudged)(facts, contextOf(options)).obstacles;
}

const HELD = { policyMigration: { enabled: 'Disabled' } };
const TEMPLATES = [{ generateName: 'tpl', interfaceCIDRs: ['10.9.0.0/24'], nodeSelector: 'all()' }];
const hostEndpoint = (fields: object) => ({ node: { hostEndpoint: fields } });
const ROLLING = 'Let the rolling update of the agents end first.';
const SWITCH_OFF = 'Switch the renaming of policies off first: spec.controllers.policyMigration.enabled: Disabled.';
const unfinished = (because: string, hint = ROLLING) => [
  'DaemonSet calico-node',
  `the controllers make no endpoints before it is rolled out: ${because}`,
  hint,
];
const otherName = (name: string) => [
  'DaemonSet calico-node',
  `the controllers wait for it before they make endpoints, and the agents here are called ${name}`,
  SWITCH_OFF,
];
const TAKE_OUT = 'Take AUTO_HOST_ENDPOINTS out of the controllers’ Deployment.';
const TAKE_OUT_THERE = 'Take AUTO_HOST_ENDPOINTS out of the controllers’ environment, and let them start again.';
const AUTO_CREATE = 'spec.controllers.node.hostEndpoint.autoCreate';
const CREATE_DEFAULT = 'spec.controllers.node.hostEndpoint.createDefaultHostEndpoint';
/** Without the variable the controllers would delete every automatic endpoint. */
const enableFirst = (fields: string, where = 'Deployment.') =>
  `Set ${fields} of KubeControllersConfiguration/default to Enabled first: only AUTO_HOST_ENDPOINTS keeps automatic endpoints, and without it the controllers delete them. Then take AUTO_HOST_ENDPOINTS out of the controllers’ ${where}`;
const overridden = (value: string, hint = TAKE_OUT) => [
  'AUTO_HOST_ENDPOINTS',
  `AUTO_HOST_ENDPOINTS=${value} of the controllers overrides the setting`,
  hint,
];
/** Nobody knows whether automatic endpoints stand by it. */
const unreadBecause = (because: string, hint = `Where it is enabled: ${enableFirst(AUTO_CREATE)}`) => [
  'AUTO_HOST_ENDPOINTS',
  `AUTO_HOST_ENDPOINTS of the controllers is set, and its value was not read: ${because}`,
  hint,
];
const given = (value: string, hint: string) => [
  'AUTO_HOST_ENDPOINTS',
  `AUTO_HOST_ENDPOINTS=${value} is set in the running controllers, as their configuration shows, and overrides the setting`,
  hint,
];
const mapKey = (key: string, name = 'settings') => ({ configMapKeyRef: { name, key } });
const noDefault = (because: string) => ['createDefaultHostEndpoint: Disabled', because, 'Set createDefaultHostEndpoint to Enabled.'];
const noConfiguration = (because: string) => [
  'no configuration of the controllers',
  because,
  'Let the controllers run once; they create it.',
];

const obstacles: Readonly<Record<string, readonly [Cluster, ...(readonly string[])[]]>> = {
  'a variable that switches automatic endpoints off': [{ env: { AUTO_HOST_ENDPOINTS: 'disabled' } }, overridden('disabled')],
  'a variable with a value that ends the controllers': [{ env: { AUTO_HOST_ENDPOINTS: 'yes' } }, overridden('yes')],
  'a variable that says the same as the setting will: the way back could not switch them off': [
    { env: { AUTO_HOST_ENDPOINTS: 'Enabled', OTHER: 'x' } },
    overridden('Enabled', enableFirst(AUTO_CREATE)),
  ],
  'a variable from a ConfigMap that says the same as the setting will': [
    { env: { AUTO_HOST_ENDPOINTS: mapKey('on') } },
    overridden('enabled', enableFirst(AUTO_CREATE)),
  ],
  'a variable that goes before those of a ConfigMap': [
    { env: { AUTO_HOST_ENDPOINTS: 'enabled' }, envFrom: [{ configMapRef: { name: 'settings' } }] },
    overridden('enabled', enableFirst(AUTO_CREATE)),
  ],
  'a variable by which automatic endpoints stand, though default ones are switched off too': [
    { env: { AUTO_HOST_ENDPOINTS: 'enabled' }, settings: hostEndpoint({ createDefaultHostEndpoint: 'Disabled' }) },
    overridden('enabled', enableFirst(`${AUTO_CREATE} and ${CREATE_DEFAULT}`)),
    noDefault('default endpoints are switched off'),
  ],
  'a variable that says what the setting says already': [
    { env: { AUTO_HOST_ENDPOINTS: 'enabled' }, settings: hostEndpoint({ autoCreate: 'Enabled' }) },
    overridden('enabled'),
  ],
  'a variable by which automatic endpoints stand, though the workload gives another value now': [
    { env: { AUTO_HOST_ENDPOINTS: 'disabled' }, given: { AUTO_HOST_ENDPOINTS: 'enabled' } },
    overridden('disabled', enableFirst(AUTO_CREATE)),
  ],
  'a variable from a Secret, by which automatic endpoints stand as the running controllers say': [
    { env: { AUTO_HOST_ENDPOINTS: { secretKeyRef: { name: 's', key: 'k' } } }, given: { AUTO_HOST_ENDPOINTS: 'enabled' } },
    unreadBecause('it is key k of Secret s', enableFirst(AUTO_CREATE)),
  ],
  'a variable from a Secret that keeps automatic endpoints off, as the running controllers say': [
    { env: { AUTO_HOST_ENDPOINTS: { secretKeyRef: { name: 's', key: 'k' } } }, given: { AUTO_HOST_ENDPOINTS: 'disabled' } },
    unreadBecause('it is key k of Secret s', TAKE_OUT),
  ],
  'a variable from a ConfigMap that switches them off': [{ env: { AUTO_HOST_ENDPOINTS: mapKey('off') } }, overridden('disabled')],
  'a variable from a ConfigMap that nobody lets us read': [
    { env: { AUTO_HOST_ENDPOINTS: { configMapKeyRef: { name: 'closed', key: 'off' } } } },
    unreadBecause('ConfigMap/kube-system/closed: configmaps "closed" is forbidden (403)'),
  ],
  'a variable from a Secret, whose value is not read': [
    { env: { AUTO_HOST_ENDPOINTS: { secretKeyRef: { name: 's', key: 'k' } } } },
    unreadBecause('it is key k of Secret s'),
  ],
  'a variable from anywhere else': [
    { env: { AUTO_HOST_ENDPOINTS: { fieldRef: { fieldPath: 'metadata.name' } } } },
    unreadBecause('it is taken from fieldRef'),
  ],
  'a variable among all of a ConfigMap': [{ envFrom: [{ configMapRef: { name: 'settings' } }] }, overridden('Disabled')],
  'a variable among all of a ConfigMap, put together with its prefix': [
    { envFrom: [{ prefix: 'AUTO_', configMapRef: { name: 'settings' } }] },
    overridden('disabled'),
  ],
  'a variable that the running controllers were given, wherever it was from': [
    { given: { AUTO_HOST_ENDPOINTS: 'disabled' } },
    given('disabled', TAKE_OUT_THERE),
  ],
  'a variable that only the running controllers have, and by which automatic endpoints stand': [
    { given: { AUTO_HOST_ENDPOINTS: 'enabled' } },
    given('enabled', enableFirst(AUTO_CREATE, 'environment, and let them start again.')),
  ],
  'a variable in both places, told once': [
    { env: { AUTO_HOST_ENDPOINTS: 'disabled' }, given: { AUTO_HOST_ENDPOINTS: 'disabled' } },
    overridden('disabled'),
  ],
  'default endpoints that are switched off': [
    { settings: hostEndpoint({ createDefaultHostEndpoint: 'Disabled' }) },
    noDefault('default endpoints are switched off'),
  ],
  'templates alone, which leave nodes or interfaces uncovered': [
    { settings: hostEndpoint({ autoCreate: 'Enabled', createDefaultHostEndpoint: 'Disabled', templates: TEMPLATES }) },
    noDefault('only templates make endpoints, and not on all interfaces'),
  ],
  'labels of nodes that do not reach a key-value store': [
    { datastore: 'kvstore', settings: { node: { syncLabels: 'Disabled' } } },
    ['syncLabels: Disabled', 'labels of nodes do not reach the datastore', 'Set syncLabels to Enabled.'],
  ],
  'controllers that have not run yet': [{ settings: null }, noConfiguration('the controllers have not written their configuration yet')],
  'no controllers': [{ settings: null, env: null }, noConfiguration('there are no controllers')],
  'agents of another name, as beside another CNI': [{ agents: 'canal' }, otherName('canal')],
  'agents of another name, with the renaming asked for': [
    { agents: 'canal', settings: { policyMigration: { enabled: 'Enabled' } } },
    otherName('canal'),
  ],
  'agents whose change has not been seen': [{ status: { observedGeneration: 3 } }, unfinished('its latest change has not been seen yet')],
  'a node without its agent': [{ status: { currentNumberScheduled: 2 } }, unfinished('currentNumberScheduled is 2 of 3')],
  'an agent that is not updated': [{ status: { updatedNumberScheduled: 1 } }, unfinished('updatedNumberScheduled is 1 of 3')],
  'an agent that is not available': [{ status: { numberUnavailable: 1 } }, unfinished('numberUnavailable is 1 of 3')],
  'an agent on a node that should have none, though the rollout is complete': [
    { status: { numberMisscheduled: 1 } },
    unfinished(
      'numberMisscheduled is 1: agents run on 1 node that should have none, and the controllers wait forever',
      'Delete these pods, or let the DaemonSet select and tolerate their nodes again.',
    ),
  ],
  'several things at once, each of them': [
    { env: { AUTO_HOST_ENDPOINTS: 'Disabled' }, settings: hostEndpoint({ createDefaultHostEndpoint: 'Disabled' }), agents: 'canal' },
    overridden('Disabled'),
    noDefault('default endpoints are switched off'),
    otherName('canal'),
  ],
};

const harmless: Readonly<Record<string, Cluster>> = {
  'a cluster as it is installed': {},
  'a variable from a key or a ConfigMap that is not there': { env: { AUTO_HOST_ENDPOINTS: mapKey('none'), OTHER: mapKey('off', 'none') } },
  'other variables from Secrets': { env: { OTHER: { secretKeyRef: { name: 's', key: 'k' } } }, given: { OTHER: 'disabled' } },
  'templates beside default endpoints': { settings: hostEndpoint({ createDefaultHostEndpoint: 'Enabled', templates: TEMPLATES }) },
  'labels of nodes that are not copied by the controllers, in the API datastore': { settings: { node: { syncLabels: 'Disabled' } } },
  'agents of another name while the renaming is held': { agents: 'canal', settings: HELD },
  'stray agents while the renaming is held': { settings: HELD, status: { numberMisscheduled: 2 } },
  'agents of another name, for controllers of before the renaming': { agents: 'canal', options: { release: 'v3.31.4' } },
  'stray agents, for controllers of before the renaming': { status: { numberMisscheduled: 2 }, options: { release: 'v3.31.4' } },
  'no agents at all, of which another check tells': { agents: null },
};

const OLD = {
  apiVersion: 'projectcalico.org/v3',
  kind: 'HostEndpoint',
  metadata: { name: 'old' },
  spec: { node: 'a', interfaceName: '*' },
};
const REMOVED: readonly KeptItem[] = [...ENABLED, keptItem('r1/hep/delete-1#2', removed(OLD), { done: true })];
const UNDO = { isUndo: true };
/** As the migration left it. */
const MIGRATED = { ...UNDO, settings: hostEndpoint({ autoCreate: 'Enabled' }) };

/** Nothing of a migration hides behind a variable that switches them off as the way back will. */
const onTheWayBack: Readonly<Record<string, readonly [Cluster, ...(readonly string[])[]]>> = {
  'a variable that keeps automatic endpoints on': [{ ...MIGRATED, env: { AUTO_HOST_ENDPOINTS: 'enabled' } }, overridden('enabled')],
  'a variable that the running controllers still have, whatever their workload gives now': [
    { ...MIGRATED, env: { AUTO_HOST_ENDPOINTS: 'disabled' }, given: { AUTO_HOST_ENDPOINTS: 'Enabled' } },
    given('Enabled', TAKE_OUT_THERE),
  ],
  'a variable with a value that ends the controllers': [{ ...MIGRATED, env: { AUTO_HOST_ENDPOINTS: 'yes' } }, overridden('yes')],
  'a variable from a Secret, whose value is not read': [
    { ...MIGRATED, env: { AUTO_HOST_ENDPOINTS: { secretKeyRef: { name: 's', key: 'k' } } } },
    unreadBecause('it is key k of Secret s', TAKE_OUT),
  ],
  'a variable without which they would go, though old endpoints are gone that cannot be created again without the CLI': [
    { ...UNDO, kept: REMOVED, env: { AUTO_HOST_ENDPOINTS: 'enabled' } },
    overridden('enabled', enableFirst(AUTO_CREATE)),
  ],
  'not a variable that switches them off': [
    { ...MIGRATED, env: { AUTO_HOST_ENDPOINTS: 'disabled' }, given: { AUTO_HOST_ENDPOINTS: 'disabled' } },
  ],
  'not what keeps them from making endpoints': [
    { ...UNDO, agents: 'canal', settings: hostEndpoint({ autoCreate: 'Enabled', createDefaultHostEndpoint: 'Disabled' }) },
  ],
};

describe('what keeps the way back from switching automatic endpoints off', () => {
  for (const [title, [cluster, ...expected]] of Object.entries(onTheWayBack)) {
    it(`is ${title}`, async () => {
      const found = await obstaclesIn(cluster);
      assert.deepEqual(
        found.map(({ text, detail, hint }) => [text, detail, hint]),
        expected,
      );
    });
  }

  it('is nothing where all is as it was before: a person wants automatic endpoints by the variable', async () => {
    assert.deepEqual(await obstaclesIn({ ...UNDO, env: { AUTO_HOST_ENDPOINTS: 'enabled' } }), []);
  });

  it('is nothing where nothing was migrated', async () => {
    assert.deepEqual(await obstaclesIn({ ...UNDO, env: { AUTO_HOST_ENDPOINTS: 'enabled' }, kept: [] }), []);
  });
});

describe('what keeps the controllers from making endpoints', () => {
  for (const [title, [cluster, ...expected]] of Object.entries(obstacles)) {
    it(`is ${title}`, async () => {
      const found = await obstaclesIn(cluster);
      assert.deepEqual(
        found.map(({ text, detail, hint }) => [text, detail, hint]),
        expected,
      );
    });
  }

  for (const [title, cluster] of Object.entries(harmless)) {
    it(`is not ${title}`, async () => assert.deepEqual(await obstaclesIn(cluster), []));
  }
});
