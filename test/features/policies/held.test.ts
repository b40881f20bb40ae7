import assert from 'node:assert/strict';
import { holdOrRelease, readRenamingSwitch } from '../../../src/features/policies/index.ts';
import { pointerTo } from '../../../src/kernel/json.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { changeTo } from '../../../src/kernel/object-change.ts';
import type { Sources } from '../../../src/kernel/ports.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf } from '../../fixtures/facts.ts';
import { RECORD } from '../../fixtures/stored-record.ts';

const { kind, name, plural } = calico.controllersConfiguration;
const { switchField = '' } = calico.policyRenaming ?? {};
const PATH = switchField.split('.');
const configurationWith = (value: string | undefined): KubeObject => ({
  ...{ apiVersion: `${calico.crdGroup}/v1`, kind, metadata: { name } },
  ...(value === undefined ? {} : { spec: { controllers: { policyMigration: { enabled: value } } } }),
});

/** What a run does that does not hold the renaming, where runs kept these values before they disabled it. */
async function releases(values: readonly (string | undefined)[]): Promise<readonly string[]> {
  const wanted = { [pointerTo(...PATH)]: 'Disabled' };
  const kept = values.map((value, at) => ({
    id: `r1/apply/hold-policies#${at + 1}`,
    content: { changes: [changeTo(configurationWith(value), wanted)] },
  }));
  const sources = {
    cluster: {
      resolve: async () => ({ group: calico.crdGroup, version: 'v1', kind, plural, namespaced: false }),
      get: async () => configurationWith('Disabled'),
    },
    records: { keptWith: async () => kept },
  } as unknown as Sources;
  const context = contextOf({}, calico);
  return holdOrRelease(await readRenamingSwitch(sources, context, RECORD), context).map(({ id }) => id);
}

describe('the renaming of policies, held by an earlier part of the run', () => {
  it('is released, also where a run that was killed behind the hold has held it again', async () => {
    assert.deepEqual(await releases([undefined]), ['release-policies']);
    assert.deepEqual(await releases([undefined, 'Disabled']), ['release-policies']);
  });

  it('stays held where the user had disabled it before', async () => {
    assert.deepEqual(await releases(['Disabled']), []);
    assert.deepEqual(await releases([]), []);
  });
});
