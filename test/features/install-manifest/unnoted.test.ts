import assert from 'node:assert/strict';
import type { KubeObject } from '../../../src/kernel/object.ts';
import type { Sources } from '../../../src/kernel/ports.ts';
import { type ApplyBench, applyBench, openApply, ownDocuments } from '../../support/apply-bench.ts';
import { appliedClientSide, ownedBy } from '../../support/applying-cluster.ts';

const IP = '{"name":"IP","value":"autodetect"}';
type Objects = readonly KubeObject[];

/** The agents with these variables besides; of everything else nothing changes. */
const withEnv = (documents: Objects, names: readonly string[]): Objects =>
  documents.map((one) => {
    if (one.kind !== 'DaemonSet') return one;
    const more = names.map((name) => `,{"name":"${name}","value":"1"}`).join('');
    return JSON.parse(JSON.stringify(one).replace(IP, `${IP}${more}`)) as KubeObject;
  });

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index}`);

/** What the server writes where a person wrote nothing. */
function defaulted(object: KubeObject): KubeObject {
  if (object.kind !== 'DaemonSet') return object;
  return { ...object, spec: { revisionHistoryLimit: 10, ...(object.spec as object) } };
}

/** With the tags that the later release's own manifest has. */
const ofLater = (documents: Objects): Objects =>
  documents.map((one) => JSON.parse(JSON.stringify(one).replaceAll('v3.26.4', 'v3.26.5')) as KubeObject);

interface Case {
  /** Manifest of v3.26.5, which the program carries; the images of what is installed say v3.26.4. */
  readonly later: Objects;
  readonly installed: Objects;
}

/** How many objects the server was asked to fill in is in `asked`. */
function benchOf({ later, installed }: Case): { readonly bench: ApplyBench; readonly asked: () => number } {
  const bench = applyBench(installed);
  let asked = 0;
  const { sources } = bench;
  const cluster: Sources['cluster'] = {
    ...sources.cluster,
    dryRunCreate: async (_kind, document) => {
      asked += 1;
      return defaulted(document);
    },
  };
  const stored: Sources['stored'] = {
    releasesOf: async () => ['v3.26.5'],
    documentsOf: async (release) => (release === 'v3.26.5' ? ofLater(later) : undefined),
  };
  return { bench: { ...bench, sources: { ...sources, cluster, stored } }, asked: () => asked };
}

const created = (documents: Objects) => documents.map((one) => ownedBy('kubectl-create', defaulted(one)));

async function judged(bench: ApplyBench, id: string) {
  return (await openApply(bench)).findings().find((one) => one.id === id) ?? assert.fail(`no ${id}`);
}

describe('the release of what nobody noted', () => {
  it('is not taken from its images alone: where the text is another release’s, that is asked once (NS-207)', async () => {
    const later = withEnv(await ownDocuments('v3.26.4'), names('NEW', 5));
    const { bench } = benchOf({ later, installed: created(withEnv(later, ['OWN'])) });
    const { outcome, exit, message, hint, next } = await judged(bench, 'NS-207');
    assert.deepEqual([outcome, exit], ['error', 'conflicts']);
    assert.match(message, /^the images say v3\.26\.4, but the rest is nearer to v3\.26\.5 \(1 difference instead of 6\)/);
    assert.match(`${hint} ${next}`, /--base v3\.26\.4 or --base v3\.26\.5\. .* plan --base v3\.26\.5$/);
    assert.equal((await judged(bench, 'NS-201')).outcome, 'ok');
  });

  for (const [release, count] of [
    ['v3.26.4', 6],
    ['v3.26.5', 1],
  ] as const) {
    it(`is what the person says: ${release}`, async () => {
      const later = withEnv(await ownDocuments('v3.26.4'), names('NEW', 5));
      const { bench } = benchOf({ later, installed: created(withEnv(later, ['OWN'])) });
      const said = { ...bench, context: { ...bench.context, options: { ...bench.context.options, base: release } } };
      assert.deepEqual([(await judged(said, 'NS-207')).message, (await judged(said, 'NS-207')).outcome], [release, 'ok']);
      const plan = (await openApply(said)).plan();
      assert.equal('skip' in plan ? 0 : plan.edits?.length, count);
    });
  }

  it('is what the images say where that release fits as well, by the server’s defaults', async () => {
    const plain = await ownDocuments('v3.26.4');
    // The later release writes down what the server would fill in anyway: no edit of anybody.
    const { bench } = benchOf({ later: plain.map(defaulted), installed: created(withEnv(plain, ['OWN'])) });
    const plan = (await openApply(bench)).plan();
    const edits = 'skip' in plan ? [] : (plan.edits ?? []);
    assert.deepEqual(
      edits.map(({ outcome, path }) => `${outcome} ${path}`),
      ['kept spec.template.spec.containers[netsvc-node].env[OWN]'],
    );
    assert.equal((await judged(bench, 'NS-201')).outcome, 'ok');
    assert.equal((await judged(bench, 'NS-207')).message, 'v3.26.4');
  });

  it('counts an object that a release has not as added, if that release it was', async () => {
    const plain = await ownDocuments('v3.26.4');
    const later = plain.filter(({ kind }) => kind !== 'PodDisruptionBudget' && kind !== 'ServiceAccount' && kind !== 'ConfigMap');
    const { bench } = benchOf({ later, installed: created(withEnv(plain, ['OWN'])) });
    assert.equal((await judged(bench, 'NS-207')).message, 'v3.26.4');
  });

  it('is told as well for the one object on which a note is missing', async () => {
    const later = withEnv(await ownDocuments('v3.26.4'), names('NEW', 5));
    const installed = later.map((one) => (one.kind === 'DaemonSet' ? ownedBy('kubectl-replace', defaulted(one)) : appliedClientSide(one)));
    assert.equal((await judged(benchOf({ later, installed }).bench, 'NS-207')).outcome, 'error');
  });

  it('asks the server about no other release where nothing was edited', async () => {
    const plain = await ownDocuments('v3.26.4');
    const { bench, asked } = benchOf({ later: withEnv(plain, ['NEW']), installed: created(plain) });
    assert.equal((await judged(bench, 'NS-201')).outcome, 'ok');
    assert.ok(asked() <= plain.length, `${asked()} requests`);
  });
});
