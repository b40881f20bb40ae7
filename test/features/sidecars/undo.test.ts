import assert from 'node:assert/strict';
import type { Action, GuardedPatch, KeptChanges } from '../../../src/kernel/action.ts';
import type { JsonPatchOp, KubeObject } from '../../../src/kernel/object.ts';
import { changeTo, placesIn } from '../../../src/kernel/object-change.ts';
import type { KeptItem } from '../../../src/kernel/run-record.ts';
import { CALICO_TARGET, pattern } from '../../support/target.ts';
import { alpUndo, type Case, FILES, fileOf, finding, ids, injector, istiod, NEW, OLD, planned, template } from './mesh.ts';

const NAME = 'istio-sidecar-injector';
const FRESH = template(NEW, 'fresh: yes\n');
const mesh = istiod('1.15.0');

/** The injector with other data. */
const having = (data: Readonly<Record<string, string>>, map = injector('')): KubeObject => ({ ...map, data });
/** What is kept before that injector is given other data. */
const change = (map: KubeObject, data: Readonly<Record<string, string>>): KeptChanges => ({
  changes: [changeTo(map, placesIn(['data'], data))],
});
const kept = (content: unknown, id = `r1/alp/template-${NAME}#1`) => ({ id, content });

/** What `alp` keeps before it puts the target's template into that injector. */
async function keptBy(map: KubeObject, more: Partial<Case> = {}): Promise<unknown> {
  const plan = await planned({ objects: [map, mesh], ...more });
  const action = typeof plan === 'string' ? undefined : plan.find(({ id }) => id === `template-${NAME}`);
  assert.ok(action?.keep);
  return JSON.parse(JSON.stringify(action.keep));
}

/** The way back from what is live, after `alp` found that injector. */
async function back(live: readonly KubeObject[], before = injector(template(OLD)), more: Partial<Case> = {}): Promise<Case> {
  return { objects: [...live, mesh], kept: [kept(await keptBy(before, more))], stage: alpUndo, ...more };
}

/** The one patch of an action. */
function patchIn(action: Action | undefined): GuardedPatch {
  const { effect } = action ?? assert.fail();
  return (effect.type === 'patch-all' ? effect.patches[0] : undefined) ?? assert.fail();
}

async function patchOf(given: Case): Promise<readonly JsonPatchOp[] | string> {
  const plan = await planned(given);
  if (typeof plan === 'string') return plan;
  assert.equal(plan.length, 1);
  return patchIn(plan[0]).patch;
}

describe('the way back of alp', () => {
  it('puts the former template back, key by key, and leaves the keys that alp did not touch', async () => {
    const live = having({ config: FRESH, values: '{"later": true}', more: 'yes' });
    const given = await back([live]);
    assert.deepEqual(await patchOf(given), [{ op: 'replace', path: '/data/config', value: template(OLD) }]);
    assert.equal((await finding(given, 'NS-735'))?.outcome, 'ok');
  });

  it('is of what was judged: the same object in the same version, looked at once more right before', async () => {
    const map = injector(FRESH);
    const live = { ...map, metadata: { ...map.metadata, resourceVersion: '77' } };
    const [action] = (await planned(await back([live]))) as Exclude<Awaited<ReturnType<typeof planned>>, string>;
    assert.equal(action?.afresh, true);
    const { uid, patch } = patchIn(action);
    assert.deepEqual([uid, patch[0]], ['map', { op: 'replace', path: '/metadata/resourceVersion', value: '77' }]);
  });

  it('takes away a key that the template brought', async () => {
    const before = having({ values: '{}', config: template(OLD) });
    const files = { ...FILES, 'mine.yaml': `${fileOf(NEW, 'fresh: yes\n')}  added: |\n    text\n` };
    const content = await keptBy(before, { files, options: { template: 'mine.yaml' } });
    const live = having({ config: FRESH, added: 'text\n', values: '{}' });
    assert.deepEqual(await patchOf({ objects: [live, mesh], kept: [kept(content)], stage: alpUndo }), [
      { op: 'replace', path: '/data/config', value: template(OLD) },
      { op: 'remove', path: '/data/added' },
    ]);
  });

  it('has nothing to do where the former template is there', async () => {
    assert.match(ids(await planned(await back([injector(template(OLD))]))), /have their former templates/);
  });

  it('is of the last of several changes', async () => {
    const map = (config: string) => ({ ...injector(config), metadata: { name: NAME, namespace: 'istio-system', uid: 'map' } });
    const items = [1, 2, 10].map((number) => kept(change(map(`step ${number}`), { config: FRESH }), `r1/alp/template-${NAME}#${number}`));
    assert.deepEqual(await patchOf({ objects: [injector(FRESH), mesh], kept: items.toReversed(), stage: alpUndo }), [
      { op: 'replace', path: '/data/config', value: 'step 10' },
    ]);
  });

  it('is of the upgrade that a rollback takes back, and of what was done alone since: an earlier one keeps its template', async () => {
    const given = await back([injector(FRESH)]);
    assert.deepEqual(await patchOf({ ...given, takesBack: 'r0' }), [{ op: 'replace', path: '/data/config', value: template(OLD) }]);
    assert.equal(await patchOf({ ...given, takesBack: 'r2' }), 'the upgrade that is taken back has changed no injector');
  });

  describe('in a rollback, of an injector that was changed twice', () => {
    const NEXT = template('v3.99.9', 'fresh: yes\n');
    const twice = (between: string, live: string, more: object = {}): Case => ({
      ...{ objects: [injector(live), mesh], stage: alpUndo, takesBack: 'r1' },
      kept: [
        { ...kept(change(having({ config: template(OLD), values: '{}' }), { config: FRESH, added: 'yes' })), ...more },
        kept(change(injector(between), { config: NEXT }), `r2/alp/template-${NAME}#1`),
      ],
    });

    it('is to what was there before the first, and of each place that either changed', async () => {
      const live = { ...twice(FRESH, NEXT), objects: [having({ config: NEXT, added: 'yes', values: '{}' }), mesh] };
      assert.deepEqual(await patchOf(live), [
        { op: 'replace', path: '/data/config', value: template(OLD) },
        { op: 'remove', path: '/data/added' },
      ]);
    });

    it('keeps what somebody put there between them, and since', async () => {
      const value = `since: yes\n${template(OLD)}between: yes\n`;
      const given = twice(`${FRESH}between: yes\n`, `since: yes\n${NEXT}between: yes\n`);
      const kept = (given.kept ?? []).map((one, at) =>
        at === 1 ? { ...one, content: change(injector(`${FRESH}between: yes\n`), { config: `${NEXT}between: yes\n` }) } : one,
      );
      assert.deepEqual(await patchOf({ ...given, kept }), [{ op: 'replace', path: '/data/config', value }]);
    });

    it('leaves what was there between them where it fits to nothing earlier', async () => {
      assert.deepEqual(await patchOf(twice('another: template', NEXT)), [
        { op: 'replace', path: '/data/config', value: 'another: template' },
      ]);
    });

    it('has nothing of what was taken back between them', async () => {
      const given = twice(`mine: yes\n${template(OLD)}`, NEXT);
      const undone = {
        ...kept({ ...change(injector(FRESH), { config: template(OLD) }), undo: true }, 'r1/alp/undo#2'),
        outcome: { done: true },
      };
      const [first, second] = given.kept ?? [];
      assert.ok(first && second);
      const value = `mine: yes\n${template(OLD)}`;
      assert.deepEqual(await patchOf({ ...given, kept: [first, undone, second] }), [{ op: 'replace', path: '/data/config', value }]);
    });
  });

  it('carries what was changed since, where both fit together', async () => {
    const given = await back([injector(`since: yes\n${FRESH}`)]);
    assert.deepEqual(await patchOf(given), [{ op: 'replace', path: '/data/config', value: `since: yes\n${template(OLD)}` }]);
    assert.equal((await finding(given, 'NS-735'))?.outcome, 'ok');
  });

  it('goes into a ConfigMap that was made anew with the same in it', async () => {
    const map = injector(FRESH);
    const given = await back([{ ...map, metadata: { ...map.metadata, uid: 'another' } }]);
    const [action] = (await planned(given)) as Exclude<Awaited<ReturnType<typeof planned>>, string>;
    assert.equal(patchIn(action).uid, 'another');
  });

  it('keeps what it overwrites', async () => {
    const data = { config: `since: yes\n${FRESH}`, values: '{}' };
    const [action] = (await planned(await back([having(data)]))) as Exclude<Awaited<ReturnType<typeof planned>>, string>;
    assert.ok(action?.keep);
    const { changes, undo } = action.keep;
    assert.deepEqual([changes[0]?.ref.name, changes[0]?.before, undo], [NAME, { '/data/config': data.config }, true]);
  });

  it('is no removal of its own: a second one finds nothing to do', async () => {
    const given = await back([injector(template(OLD))]);
    const again = {
      ...given,
      kept: [...(given.kept ?? []), kept({ ...change(injector(FRESH), { config: template(OLD) }), undo: true }, `r2/alp/undo-${NAME}#1`)],
    };
    assert.match(ids(await planned(again)), /have their former templates/);
  });

  describe('after another, and an edit since', () => {
    const EDITED = injector(template(OLD).replace(OLD, 'v9.9.9'));
    const undone = (outcome: object) => ({
      ...kept({ ...change(injector(FRESH), { config: template(OLD) }), undo: true }),
      ...outcome,
    });
    const again = async (outcome: object, ...more: readonly KeptItem[]): Promise<Case> => {
      const given = await back([EDITED]);
      return { ...given, kept: [...(given.kept ?? []), { ...undone(outcome), id: `r1/alp/undo-${NAME}#2` }, ...more] };
    };

    it('has nothing to take back, and leaves the edit', async () => {
      const given = await again({ outcome: { done: true } });
      assert.equal(
        ids(await planned(given)),
        'what alp changed was taken back before; ConfigMap/istio-system/istio-sidecar-injector was changed since, and stays so',
      );
      assert.equal((await finding(given, 'NS-735'))?.outcome, 'not-applicable');
    });

    it('goes over the edit only when accepted where nobody knows whether the first was done', async () => {
      const given = await again({});
      assert.equal((await finding(given, 'NS-735'))?.outcome, 'error');
      assert.equal(ids(await planned(given)), `undo-${NAME}`);
    });

    it('has something to take back where alp changed it once more', async () => {
      const given = await again({ outcome: { done: true } }, kept(await keptBy(injector(template(OLD))), `r1/alp/template-${NAME}#3`));
      assert.equal((await finding(given, 'NS-735'))?.outcome, 'error');
    });
  });

  const changed: readonly (readonly [title: string, given: () => Promise<Case>, says: RegExp])[] = [
    ['lines that alp changed were changed since', () => back([injector(FRESH.replace(NEW, 'v9.9.9'))]), /^config, line 3: /],
    ['the mesh made the template anew, without the sidecar', () => back([injector('another: template')]), /^config, line /],
    ['a key was taken away since', () => back([having({ values: '{}' })]), /^config: it was taken away since$/],
  ];
  for (const [title, given, says] of changed) {
    it(`is refused where ${title}, and goes over that only when accepted`, async () => {
      const found = await finding(await given(), 'NS-735');
      assert.deepEqual([found?.outcome, found?.exit], ['error', 'conflicts']);
      assert.deepEqual(
        found?.evidence.map(({ text }) => text),
        [`ConfigMap/istio-system/${NAME}`],
      );
      assert.match(`${found?.evidence[0]?.detail}`, says);
      assert.equal(ids(await planned(await given())), `undo-${NAME}`);
      const patch = await patchOf(await given());
      assert.deepEqual(typeof patch === 'string' ? patch : patch.at(-1)?.value, template(OLD));
    });
  }

  it('says which ConfigMap is no more', async () => {
    assert.match(ids(await planned(await back([]))), /ConfigMap\/istio-system\/istio-sidecar-injector is no longer there/);
  });

  describe('to a template that mounts by the flexible volume driver', () => {
    const FLEX = '  - flexVolume:\n      driver: nodeagent/uds\n';
    const flexible = injector(template(OLD, FLEX));
    const files = { ...FILES, [`${OLD}/manifests/alp/istio-inject-configmap-1.15.yaml`]: fileOf(OLD, FLEX) };

    it('is refused where the target has no such driver', async () => {
      const found = await finding(await back([injector(FRESH)], flexible, { files }), 'NS-733');
      assert.equal(found?.outcome, 'error');
      assert.match(`${found?.message}`, pattern`flexible volume driver, which ${CALICO_TARGET} does not have`);
      assert.deepEqual(found?.evidence, [{ text: `ConfigMap/istio-system/${NAME}`, detail: 'its former template, config' }]);
    });

    it('is not judged where it is there already: nothing is put back', async () => {
      assert.equal((await finding(await back([flexible], flexible, { files }), 'NS-733'))?.outcome, 'not-applicable');
    });

    it('is fine to one that does not', async () => {
      assert.equal((await finding(await back([injector(FRESH)]), 'NS-733'))?.outcome, 'ok');
    });
  });
});
