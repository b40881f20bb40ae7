import assert from 'node:assert/strict';
import { parse } from 'yaml';
import { cliStage } from '../../../src/features/service-cli/stage.ts';
import type { Action, Effect } from '../../../src/kernel/action.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import { interrupted } from '../../../src/kernel/interruption.ts';
import { cliConfigFor } from '../../../src/kernel/profile.ts';
import type { StagePlan } from '../../../src/kernel/stage.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { netsvc } from '../../../src/profiles/netsvc.ts';
import { contextOf, object } from '../../fixtures/facts.ts';
import { agent, configMap } from '../../support/calico-objects.ts';
import { type CliBench, cliBench, versionText } from '../../support/cli-bench.ts';
import { sha256 } from '../../support/empty-sources.ts';
import { noteFound } from '../../support/judged-worlds.ts';
import { CALICO_TARGET, NETSVC_TARGET, pattern } from '../../support/target.ts';

const NEW = 'the new program';
const URL = `https://github.com/projectcalico/calico/releases/download/${CALICO_TARGET}/calicoctl-linux-amd64`;
const OLD = versionText('v3.27.5');
const source = { artifacts: { [URL]: NEW } };

async function planOf(bench: CliBench, options = {}): Promise<StagePlan> {
  return (await cliStage.open(cliBench(bench).sources, contextOf(options))).plan();
}

async function actionsOf(bench: CliBench, options = {}): Promise<readonly Action[]> {
  const plan = await planOf(bench, options);
  return 'skip' in plan ? [] : plan.actions;
}

const idsOf = (actions: readonly Action[]) => actions.map(({ id }) => id);
const effectOf = <T extends Effect['type']>(actions: readonly Action[], id: string, type: T) => {
  const effect = actions.find((one) => one.id === id)?.effect;
  assert.equal(effect?.type, type, `${id} in ${idsOf(actions)}`);
  return effect as Extract<Effect, { type: T }>;
};
const instruction = (actions: readonly Action[], id: string) => effectOf(actions, id, 'ask').instruction;

describe('the stage cli', () => {
  const one: CliBench = { ...source, path: { calicoctl: ['/usr/local/bin/calicoctl'] }, prints: { '/usr/local/bin/calicoctl': OLD } };

  it('moves an old CLI aside and puts the new one in its place', async () => {
    const actions = await actionsOf(one);
    assert.deepEqual(idsOf(actions), ['install', 'configure', 'elsewhere']);
    assert.deepEqual(effectOf(actions, 'install', 'install-cli'), {
      type: 'install-cli',
      release: CALICO_TARGET,
      path: URL,
      url: URL,
      to: '/usr/local/bin/calicoctl',
      replaces: '/usr/local/bin/calicoctl',
      keepAs: '/home/me/upgrade/old-cli/calicoctl-v3.27.5-20260101T120000Z-replaced-1',
    });
  });

  it('has nothing to do, and fetches nothing, where the new one is there', async () => {
    const bench = cliBench({ ...one, prints: { '/usr/local/bin/calicoctl': versionText(CALICO_TARGET) } });
    const plan = (await cliStage.open(bench.sources, contextOf())).plan();
    assert.ok('skip' in plan, JSON.stringify(plan));
    assert.deepEqual(
      bench.asked.filter((line) => line.startsWith('fetch')),
      [],
    );
  });

  it('never asks a CLI without a time limit', async () => {
    const bench = cliBench({ ...one, prints: {} });
    await cliStage.open(bench.sources, contextOf());
    assert.deepEqual(bench.asked.slice(0, 2), ['/usr/local/bin/calicoctl version --client', '/usr/local/bin/calicoctl version']);
  });

  it('downloads and writes nothing while it only looks: that is the action’s part', async () => {
    const bench = cliBench({ ...one, artifacts: { [URL]: NEW, [`${URL}.sha256`]: sha256(NEW) } });
    const open = await cliStage.open(bench.sources, contextOf());
    const plan = open.plan();
    assert.ok('actions' in plan && plan.actions[0]?.effect.type === 'install-cli', JSON.stringify(plan));
    assert.deepEqual(
      bench.asked.filter((line) => /^(fetch|write)/.test(line)),
      [`fetch ${URL}.sha256`],
    );
  });

  it('says which finding of the preflight is cured by replacing the file', async () => {
    const actions = await actionsOf({
      ...source,
      path: { calicoctl: ['/opt/a/calicoctl', '/opt/b/calicoctl'] },
      prints: { '/opt/a/calicoctl': OLD, '/opt/b/calicoctl': OLD },
    });
    assert.deepEqual(
      actions.flatMap(({ cures = [] }) => cures),
      ['/opt/a/calicoctl', '/opt/b/calicoctl'].map((subject) => ({ check: 'NS-802', subject })),
    );
  });

  it('replaces the kubectl plugin in its place as well', async () => {
    const actions = await actionsOf({
      ...source,
      path: { calicoctl: ['/opt/a/calicoctl'], 'kubectl-calico': ['/opt/b/kubectl-calico'] },
      prints: { '/opt/a/calicoctl': OLD, '/opt/b/kubectl-calico': OLD },
    });
    assert.deepEqual(idsOf(actions), ['install', 'install-plugin-1', 'configure', 'elsewhere']);
    assert.equal(effectOf(actions, 'install-plugin-1', 'install-cli').to, '/opt/b/kubectl-calico');
  });

  it('only takes an old one away where the new one is there already, in another folder', async () => {
    const actions = await actionsOf({
      ...source,
      path: { calicoctl: ['/opt/a/calicoctl', '/opt/b/calicoctl'] },
      prints: { '/opt/a/calicoctl': OLD, '/opt/b/calicoctl': versionText(CALICO_TARGET) },
    });
    assert.deepEqual(idsOf(actions), ['remove-1', 'configure', 'elsewhere']);
  });

  it('takes the new one from a source that a person named, before the profile’s own address', async () => {
    const bench = { ...one, artifacts: { [URL]: NEW, [`${CALICO_TARGET}/bin/calicoctl-linux-amd64`]: NEW } };
    assert.equal(effectOf(await actionsOf(bench), 'install', 'install-cli').path, 'bin/calicoctl-linux-amd64');
  });

  it('says where the only CLI goes that the cluster takes before the upgrade', async () => {
    const agents = (release: string) => {
      const containers = [{ name: 'calico-node', image: `quay.io/calico/node:${release}` }];
      return object('apps/v1', 'DaemonSet/kube-system/calico-node', { spec: { template: { spec: { containers } } } });
    };
    const saidIn = async (release: string) => {
      const { sources } = cliBench({ ...one, objects: [agents(release)] });
      const plan = (await cliStage.open(sources, contextOf({ path: 'manifest', variant: 'calico' }))).plan();
      const actions = 'skip' in plan ? [] : plan.actions;
      return actions.flatMap(({ effect }) => (effect.type === 'ask' ? [effect.instruction] : []));
    };
    const [first, , last] = await saidIn('v3.27.5');
    assert.match(
      String(first ?? ''),
      /^the cluster still runs v3\.27\.5, .* use \/home\/me\/upgrade\/old-cli\/calicoctl-v3\.27\.5-\S+-replaced-1$/,
    );
    assert.match(String(last ?? ''), /^once the upgrade is done, an older calicoctl/);
    assert.match(String((await saidIn('v3.26.4'))[0] ?? ''), /^the cluster still runs v3\.26\.4, .* use a calicoctl of v3\.26\.4$/);
    assert.ok((await saidIn(CALICO_TARGET)).every((text) => !/still runs|once the upgrade/.test(String(text))));
  });

  it('goes on with the plugin where a stopped run had only replaced the CLI', async () => {
    const actions = await actionsOf({
      ...source,
      path: { calicoctl: ['/opt/a/calicoctl'], 'kubectl-calico': ['/opt/b/kubectl-calico'] },
      prints: { '/opt/a/calicoctl': versionText(CALICO_TARGET), '/opt/b/kubectl-calico': OLD },
    });
    assert.deepEqual(idsOf(actions), ['install-plugin-1', 'configure', 'elsewhere']);
    assert.equal(effectOf(actions, 'install-plugin-1', 'install-cli').replaces, '/opt/b/kubectl-calico');
  });

  it('knows the folder of --bin-dir by any name, and does not take away what it has just put there', async () => {
    const actions = await actionsOf({ ...one, folders: ['/bin'], links: { '/bin': '/usr/local/bin' } }, { binDir: '/bin' });
    assert.deepEqual(idsOf(actions), ['install', 'configure', 'elsewhere']);
    const { to, replaces } = effectOf(actions, 'install', 'install-cli');
    assert.deepEqual([to, replaces], ['/usr/local/bin/calicoctl', '/usr/local/bin/calicoctl']);
  });

  const untouched: Readonly<Record<string, [Partial<CliBench>, RegExp]>> = {
    'that a package manager owns': [
      { owners: { '/usr/local/bin/calicoctl': { manager: 'dpkg', removeWith: 'apt-get remove calicoctl' } } },
      /belongs to dpkg: remove it with: apt-get remove calicoctl$/,
    ],
    'that may belong to a package': [
      { owners: { '/usr/local/bin/calicoctl': 'perhaps a package' } },
      /has to go, but may belong to a package: .*dpkg -S, rpm -qf.*\. Remove that package, or the file if it is in none$/,
    ],
    'in a folder that may not be written': [{ writable: [] }, /may not be written: remove it with: sudo rm \/usr\/local\/bin\/calicoctl$/],
    'that does not tell its release': [{ prints: {} }, /does not tell its release/],
    'of a branch build': [{ prints: { '/usr/local/bin/calicoctl': versionText('master') } }, /reports version master/],
  };
  for (const [title, [change, says]] of Object.entries(untouched)) {
    it(`leaves a CLI alone ${title}, and says what to do`, async () => {
      const actions = await actionsOf({ ...one, ...change });
      assert.match(String(instruction(actions, 'by-hand-1')), says);
      assert.match(String(instruction(actions, 'install')), /cli --bin-dir DIR$/);
      assert.deepEqual(
        actions.filter(({ effect }) => effect.type !== 'ask'),
        [],
      );
    });
  }

  it('leaves a newer CLI alone', async () => {
    const actions = await actionsOf({ ...one, prints: { '/usr/local/bin/calicoctl': versionText('v3.33.0') } });
    assert.deepEqual(idsOf(actions), ['install', 'configure', 'elsewhere']);
  });

  it('installs into --bin-dir, but not over the file of a package', async () => {
    const free = await actionsOf({ ...source, folders: ['/opt/bin'] }, { binDir: '/opt/bin' });
    assert.equal(effectOf(free, 'install', 'install-cli').to, '/opt/bin/calicoctl');
    const owners = { '/usr/local/bin/calicoctl': { manager: 'rpm', removeWith: 'rpm -e calicoctl' } };
    const taken = await actionsOf({ ...one, owners, folders: ['/usr/local/bin'] }, { binDir: '/usr/local/bin' });
    assert.match(String(instruction(taken, 'install')), /\/usr\/local\/bin\/calicoctl is in the way/);
  });

  it('refuses a --bin-dir that is no folder', async () => {
    await assert.rejects(planOf(source, { binDir: '/nowhere' }), (thrown) => thrown instanceof Fault && thrown.code === 'usage');
  });

  it('asks for the CLI by hand where the source has none, and leaves the old one until then', async () => {
    const actions = await actionsOf({ ...one, artifacts: {} });
    assert.deepEqual(idsOf(actions), ['install', 'configure', 'elsewhere']);
    assert.match(String(instruction(actions, 'install')), /is not in https:\/\/files\.example\. Put it on PATH as calicoctl/);
  });

  it('makes no step by hand of a look at the source that a person gave up', async () => {
    const { sources } = cliBench({ ...one, ...source });
    const artifacts = { ...sources.artifacts, has: () => Promise.reject(interrupted()) };
    await assert.rejects(cliStage.open({ ...sources, artifacts }, contextOf()), { code: 'interrupted' });
  });

  it('fetches a Windows program by its name there', async () => {
    const windows = URL.replace('linux-amd64', 'windows-amd64.exe');
    const actions = await actionsOf({ ...one, os: 'windows', artifacts: { [windows]: NEW } });
    assert.equal(effectOf(actions, 'install', 'install-cli').path, windows);
  });

  it('puts it where Windows finds it, in place of the old one and of the old plugin', async () => {
    const [program, plugin] = ['C:\\tools\\calicoctl.exe', 'C:\\tools\\kubectl-calico.exe'];
    const actions = await actionsOf({
      os: 'windows',
      artifacts: { [URL.replace('linux-amd64', 'windows-amd64.exe')]: NEW },
      path: { calicoctl: [program], 'kubectl-calico': [plugin] },
      prints: { [program]: OLD, [plugin]: OLD },
    });
    assert.deepEqual(idsOf(actions), ['install', 'install-plugin-1', 'configure', 'elsewhere']);
    assert.deepEqual(
      ['install', 'install-plugin-1'].map((id) => effectOf(actions, id, 'install-cli')).map(({ to, replaces }) => [to, replaces]),
      [program, plugin].map((file) => [file, file]),
    );
  });

  describe('and its published sum', () => {
    const FILE = 'bin/netsvcctl-linux-amd64';
    const sum = sha256(NEW);
    const opened = async (lists: Readonly<Record<string, string>>) => {
      const artifacts = Object.fromEntries(
        Object.entries({ [FILE]: NEW, ...lists }).map(([path, text]) => [`${NETSVC_TARGET}/${path}`, text]),
      );
      const { sources } = cliBench({ artifacts, folders: ['/b'] });
      const open = await cliStage.open(sources, contextOf({ release: NETSVC_TARGET, binDir: '/b' }, netsvc));
      const plan = open.plan();
      return {
        actions: 'skip' in plan ? [] : plan.actions,
        finding: noteFound(contextOf(), open.findings()).find(({ id }) => id === 'NS-309'),
      };
    };

    const published: Readonly<Record<string, Readonly<Record<string, string>>>> = {
      'in a list beside it': { 'bin/SHA256SUMS': `${'0'.repeat(64)}  other\n${sum}  netsvcctl-linux-amd64\n` },
      'in a list as `sha256sum --binary` writes it': { 'bin/SHA256SUMS': `${sum} *netsvcctl-linux-amd64\n` },
      'in a file of its own beside it': { [`${FILE}.sha256`]: `${sum}\n` },
    };
    for (const [title, lists] of Object.entries(published)) {
      it(`is taken from where it is: ${title}`, async () => {
        const { actions, finding } = await opened(lists);
        assert.equal(effectOf(actions, 'install', 'install-cli').sha256, sum);
        assert.match(actions[0]?.title ?? '', new RegExp(`sha256 ${sum}, as https://files.example/`));
        assert.equal(finding?.outcome, 'ok');
      });
    }

    it('gives way to a sum that is known beforehand', async () => {
      const known = { sha256: sum, from: '--artifact-digest' };
      const artifacts = {
        [`${NETSVC_TARGET}/${FILE}`]: NEW,
        [`${NETSVC_TARGET}/bin/SHA256SUMS`]: `${'0'.repeat(64)}  netsvcctl-linux-amd64\n`,
      };
      const { sources } = cliBench({ artifacts, folders: ['/b'], sums: { [FILE]: known } });
      const open = await cliStage.open(sources, contextOf({ release: NETSVC_TARGET, binDir: '/b' }, netsvc));
      const plan = open.plan();
      assert.equal(effectOf('skip' in plan ? [] : plan.actions, 'install', 'install-cli').sha256, sum);
      assert.match(open.findings()[0]?.message ?? '', /known from --artifact-digest/);
    });

    const unpublished: Readonly<Record<string, Readonly<Record<string, string>>>> = {
      nowhere: {},
      'in a list of other files': { 'bin/SHA256SUMS': `${sum}  netsvcctl-darwin-arm64\n` },
    };
    for (const [title, lists] of Object.entries(unpublished)) {
      it(`is missed aloud where it is ${title}`, async () => {
        const { actions, finding } = await opened(lists);
        assert.equal(effectOf(actions, 'install', 'install-cli').sha256, undefined);
        assert.match(actions[0]?.title ?? '', /no sum of it is known: not checked/);
        assert.equal(finding?.outcome, 'error');
        assert.equal(finding?.evidence[0]?.text, 'netsvcctl-linux-amd64');
        assert.match(finding?.message ?? '', pattern`https://files\.example/${NETSVC_TARGET}/bin/netsvcctl-linux-amd64`);
      });
    }
  });

  describe('in the cluster', () => {
    const pod = (image: string, phase = 'Running') =>
      object('v1', 'Pod/kube-system/calicoctl', { spec: { containers: [{ name: 'calicoctl', image }] }, status: { phase } });
    const current: CliBench = { ...one, prints: { '/usr/local/bin/calicoctl': versionText(CALICO_TARGET) } };

    it('tells how to replace a pod with an older CLI', async () => {
      const actions = await actionsOf({ ...current, objects: [pod('calico/ctl:v3.18.1')] });
      assert.match(String(instruction(actions, 'pod-kube-system-calicoctl')), /kubectl delete pod -n kube-system calicoctl/);
    });

    it('minds neither a new one nor one that has ended', async () => {
      for (const one of [pod(`calico/ctl:${CALICO_TARGET}`), pod('calico/ctl:v3.18.1', 'Succeeded'), pod('istio/istioctl:1.2.3')]) {
        assert.deepEqual(await actionsOf({ ...current, objects: [one] }), []);
      }
    });

    it('says so when pods may not be listed', async () => {
      const plan = await planOf({ ...one, cluster: { refuses: { pods: 403 } } });
      assert.ok('actions' in plan && /could not be looked for: .*403/.test(plan.notes?.join() ?? ''), JSON.stringify(plan));
    });
  });

  const configured = async (bench: CliBench, kubeconfig?: string) => {
    const context = { ...contextOf(), ...(kubeconfig === undefined ? {} : { kubeconfig }) };
    const plan = (await cliStage.open(cliBench({ ...one, ...bench }).sources, context)).plan();
    return instruction('skip' in plan ? [] : plan.actions, 'configure');
  };

  it('gives the two settings that lead to this cluster, which are those that `verify` calls the CLI with, and writes no file', async () => {
    const said = await configured({}, '/home/me/.kube/a b');
    assert.match(
      String(said),
      /: DATASTORE_TYPE=kubernetes and KUBECONFIG='\/home\/me\/.kube\/a b'\. No file is written for it; .* --cli-config FILE writes one$/,
    );
    const { datastoreType, kubeconfig } = parse(cliConfigFor(calico, '/private/kubeconfig') ?? '').spec;
    assert.deepEqual([datastoreType, kubeconfig], ['kubernetes', '/private/kubeconfig']);
    assert.match(String(await configured({})), / and KUBECONFIG=FILE \(a kubeconfig of this cluster\)\./);
  });

  it('gives those of the key-value store as the cluster has them, but no endpoints that may hold credentials', async () => {
    const store = (endpoints: string) => ({
      objects: [agent({ env: { ETCD_ENDPOINTS: endpoints } }), configMap({ etcd_endpoints: endpoints })],
    });
    assert.match(
      String(await configured(store('https://a:2379,https://b:2379'))),
      /: DATASTORE_TYPE=etcdv3 and ETCD_ENDPOINTS=https:\/\/a:2379,https:\/\/b:2379, and CA,/,
    );
    assert.match(
      String(await configured(store('https://me:secret@a:2379'))),
      / and ETCD_ENDPOINTS=… \(what the cluster has as etcd_endpoints\)/,
    );
  });

  const CONFIG = '/etc/calico/calicoctl.cfg';
  const configs: Readonly<Record<string, [string, RegExp]>> = {
    'points at the API datastore': [
      'spec:\n  datastoreType: kubernetes\n',
      /names the datastore kubernetes: see that it means this cluster$/,
    ],
    'points elsewhere': ['spec:\n  datastoreType: "etcdv3"\n', /names the datastore etcdv3: correct it for the API datastore/],
    'does not say': ['spec: {}\n', /does not say which datastore it means: correct it/],
  };
  for (const [title, [text, says]] of Object.entries(configs)) {
    it(`warns of a configuration file that ${title}`, async () => {
      assert.match(String(instruction(await actionsOf({ ...one, files: { [CONFIG]: text } }), 'configure')), says);
    });
  }
});
