import assert from 'node:assert/strict';
import fc from 'fast-check';
import { overlaid, pinsOf, settingsFor, settingValues } from '../../../src/features/install-chart/helm-values.ts';
import { readValuesFile } from '../../../src/features/install-chart/source.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import { contains, isRecord, type JsonMap } from '../../../src/kernel/json.ts';
import type { Sources } from '../../../src/kernel/ports.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { contextOf } from '../../fixtures/facts.ts';
import { anything, damaged, FUZZ_RUNS, faultOf, own, yamlText } from '../../support/fuzz.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const VALUES =
  'installation:\n  registry: mirror.local\n  calicoNetwork: {mtu: 1440}\ntigeraOperator:\n  version: v1.42.3\ngoldmane: {enabled: true}\nmanageCRDs: false\n';

const names = calico.operator.chartNames ?? assert.fail('no chart');
const word = fc.constantFrom(
  'tigeraOperator',
  'version',
  'image',
  'goldmane',
  'enabled',
  'manageCRDs',
  'installation',
  'constructor',
  '__proto__',
);
const values = fc
  .array(fc.tuple(word, fc.oneof(anything, fc.array(fc.tuple(word, anything), { maxLength: 3 }).map(own))), { maxLength: 4 })
  .map((entries) => JSON.parse(JSON.stringify(own(entries))) as JsonMap);

async function readsOrRefuses(text: string): Promise<void> {
  const sources = { files: { readText: async () => text } } as unknown as Sources;
  const context = contextOf({ release: CALICO_TARGET, chartValues: 'values.yaml' }, calico);
  const read = await readValuesFile(sources, context).catch((thrown: unknown) => faultOf(thrown, 'usage'));
  if (read instanceof Fault) assert.match(read.message, /^values\.yaml/);
  else assert.ok(isRecord(read) && JSON.stringify(read) !== undefined);
}

describe('any file given as values of a chart', () => {
  it('is a map, or refused by its name: pieces of YAML in any order', async () => {
    await fc.assert(fc.asyncProperty(yamlText, readsOrRefuses), { numRuns: FUZZ_RUNS });
  });

  it('is a map, or refused by its name: values that were damaged', async () => {
    await fc.assert(fc.asyncProperty(damaged(VALUES), readsOrRefuses), { numRuns: FUZZ_RUNS });
  });
});

describe('values of a chart of any shape', () => {
  it('are laid over others so that all of them hold, and nothing else changes', () => {
    fc.assert(
      fc.property(values, values, (before, over) => {
        const merged = overlaid(before, over);
        assert.ok(contains(merged, over));
        assert.deepEqual(overlaid(before, {}), before);
        assert.deepEqual(overlaid(merged, over), merged);
        assert.deepEqual(new Set(Object.keys(merged)), new Set([...Object.keys(before), ...Object.keys(over)]));
      }),
      { numRuns: FUZZ_RUNS },
    );
  });

  it('say which settings and pins there are', () => {
    fc.assert(
      fc.property(values, values, fc.boolean(), (mine, defaults, manageCrds) => {
        const settings = settingsFor({ names, manifests: [''], own: mine, defaults, manageCrds, restoresCrds: false, flowLogs: false });
        assert.ok(contains(overlaid(mine, settingValues(settings)), settingValues(settings)));
        for (const { pinned } of pinsOf({ names, own: mine, defaults })) assert.equal(typeof pinned, 'string');
      }),
      { numRuns: FUZZ_RUNS },
    );
  });
});
