import assert from 'node:assert/strict';
import { alpStage } from '../../src/features/sidecars/stage.ts';
import type { KeptChanges } from '../../src/kernel/action.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { changeTo } from '../../src/kernel/object-change.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { INJECTION, meshObjects, NEW, OLD, templateOf } from '../support/mesh-objects.ts';
import { installedSandbox, performIn } from '../support/sandbox-ports.ts';

interface Texts {
  readonly before: string;
  readonly put: string;
  /** What a person made of it since. */
  readonly now: string;
}

/** An upgraded cluster in which `alp` put another text into the injector, and a person changed it since. */
async function meshed({ before, put, now }: Texts): Promise<Scenario> {
  const scenario = await installedSandbox({ nodes: 1, installed: NEW });
  for (const object of meshObjects(now) as readonly KubeObject[]) {
    const kind = [K.ConfigMap, K.Deployment].find((one) => one.kind === object.kind);
    assert.ok(kind);
    scenario.cluster.store.insert(kind, object);
  }
  const map = injector(scenario);
  const kept: KeptChanges = { changes: [changeTo({ ...map, data: { config: before } }, { '/data/config': put })] };
  scenario.state.kept.set(`20251121T020000Z-00000000/alp/template-${INJECTION.configMap}#1`, JSON.stringify(kept));
  return scenario;
}

/** A new process. */
const undo = (scenario: Scenario) => performIn(scenario, [alpStage], { undo: true });

const injector = ({ cluster: { store } }: Scenario): KubeObject =>
  store.get(K.ConfigMap, INJECTION.configMap, INJECTION.namespace) ?? assert.fail();
const configOf = (scenario: Scenario) => (injector(scenario).data as Readonly<Record<string, string>>).config;

const lines = (letters: string) => letters.split('').join('\n');

describe('alp --undo on the sandbox', () => {
  const cases: Readonly<Record<string, Texts & { readonly back: string }>> = {
    'far from what alp changed': {
      before: templateOf(OLD),
      put: templateOf(NEW),
      now: `since: yes\n${templateOf(NEW)}`,
      back: `since: yes\n${templateOf(OLD)}`,
    },
    'among lines that are there more than once, of which a second merge would take one more': {
      before: lines('fddc'),
      put: lines('fdfdc'),
      now: lines('dfdfdc'),
      back: lines('dfddc'),
    },
    'among such lines, in which a second merge would see a conflict': {
      before: lines('fa'),
      put: lines('faa'),
      now: lines('fdaa'),
      back: lines('fda'),
    },
  };
  for (const [where, texts] of Object.entries(cases))
    it(`comes to rest with a change carried over that was made since ${where}, and writes nothing the second time`, async () => {
      const scenario = await meshed(texts);
      const back = await undo(scenario);
      assert.deepEqual([back.exit, back.message, back.writes, configOf(scenario)], ['done', undefined, 1, texts.back]);
      const again = await undo(scenario);
      assert.deepEqual([again.exit, again.message, again.writes, configOf(scenario)], ['done', undefined, 0, texts.back]);
      assert.match(again.stages[0]?.because ?? '', /have their former templates/);
    });

  it('leaves what a person makes of the former template: there is nothing of alp in it to take back', async () => {
    const texts = { before: templateOf(OLD), put: templateOf(NEW) };
    const scenario = await meshed({ ...texts, now: templateOf(NEW) });
    assert.equal((await undo(scenario)).writes, 1);
    const edited = templateOf(OLD).replace(OLD, 'v9.9.9');
    assert.notEqual(edited, templateOf(OLD));
    const map = injector(scenario);
    scenario.cluster.store.update(K.ConfigMap, { ...map, data: { ...(map.data as object), config: edited } });
    const again = await undo(scenario);
    assert.deepEqual([again.exit, again.message, again.writes, configOf(scenario)], ['done', undefined, 0, edited]);
    assert.match(again.stages[0]?.because ?? '', /was taken back before; ConfigMap\/\S+ was changed since, and stays so$/);
  });
});
