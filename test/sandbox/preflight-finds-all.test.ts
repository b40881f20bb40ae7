import assert from 'node:assert/strict';
import { calico } from '../../src/profiles/calico.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { installedText, kvstoreScenario } from '../support/kvstore-sandbox.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';

/** Errors and what they are about, as a command says them. */
async function stops(scenario: Scenario, ...args: readonly string[]) {
  const bench = sandboxCommand(scenario, calico);
  const exit = await bench.run(...args);
  const text = bench.out() + bench.err();
  return { exit, text, ids: [...new Set([...text.matchAll(/^× (NS-\d+)/gm)].map(([, id = '']) => id))].toSorted() };
}

const WORLDS: Readonly<Record<string, { readonly text?: (was: string) => string; readonly args?: readonly string[] }>> = {
  'nothing wrong': {},
  'an empty Secret': { text: (was) => was.replace(/(etcd-(key|cert|ca)): \S+/g, '$1: ""') },
  'no Secret': {
    text: (was) =>
      was
        .split(/^---\n/m)
        .filter((one) => !/^kind: Secret$/m.test(one))
        .join('---\n'),
  },
  'the placeholder': { text: (was) => was.replace(/https:\/\/10\.0\.0\.9:2379/g, 'http://<ETCD_IP>:<ETCD_PORT>') },
  'blanks between endpoints': { text: (was) => was.replace(/https:\/\/10\.0\.0\.9:2379/g, 'https://10.0.0.9:2379, https://10.0.0.8:2379') },
  'certificates on the hosts': { text: (was) => was.replace(/\/calico-secrets\/etcd-/g, '/etc/kubernetes/pki/etcd/') },
  'an edit': {
    text: (was) => was.replace('veth_mtu: "1440"', 'veth_mtu: "9000"').replace(/image: (\S*)calico\/node:\S+/g, 'image: corp/node:mine'),
  },
  'a base that is not there': { args: ['--base', '/nowhere'] },
  'a file that is not there': { args: ['--upgrade-file', '/nowhere'] },
  'a resolve of nothing': { args: ['--resolve', 'X=mine'] },
};

describe('preflight', function () {
  this.timeout(100_000);
  for (const [title, { text = (was: string) => was, args = [] }] of Object.entries(WORLDS))
    it(`finds all that plan stops at: ${title}`, async () => {
      const scenario = await kvstoreScenario('v3.27.5', text(installedText('v3.27.5')));
      const preflight = await stops(scenario, 'preflight', ...args);
      const plan = await stops(scenario, 'plan', ...args);
      assert.deepEqual(
        plan.ids.filter((id) => !preflight.ids.includes(id)),
        [],
      );
      assert.equal(preflight.exit === 0, plan.exit === 0, `${preflight.exit} ${plan.exit}\n${preflight.text}\n----\n${plan.text}`);
    });
});
