import assert from 'node:assert/strict';
import { lchownSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { applies, commandBench, fakeStage } from '../../support/command-bench.ts';
import { emptyFolder } from '../../support/folders.ts';
import { itWhere, NO_ROOT } from '../../support/needs.ts';

const KUBECONFIG = 'apiVersion: v1\nkind: Config\ncurrent-context: prod\n';
const MANIFEST = 'kind: ConfigMap\napiVersion: v1\n---\nkind: DaemonSet\napiVersion: apps/v1\n';
const OTHER_LAYOUT = '{"apiVersion":"output.netsvc-upgrade/v9","kind":"Plan"}';

describe('the place of a saved plan', () => {
  const folder = emptyFolder('netsvc-place-');
  let bench: ReturnType<typeof commandBench>;
  beforeEach(() => {
    bench = commandBench([fakeStage('apply', { plan: applies('upgrade.yaml') })]);
  });

  /** A file of the operator, whom others may let read it. */
  function holding(name: string, text: string): string {
    const file = join(folder, name);
    writeFileSync(file, text, { mode: 0o644 });
    return file;
  }
  const kindIn = (file: string) => (JSON.parse(readFileSync(file, 'utf8')) as { kind: string }).kind;

  for (const [title, text] of [
    ['a kubeconfig', KUBECONFIG],
    ['another document of this program', '{"apiVersion":"output.netsvc-upgrade/v1","kind":"RunReport"}'],
    ['a plan that was cut off', OTHER_LAYOUT.slice(0, 40)],
  ] as const)
    it(`is not taken from ${title}, before the cluster is asked anything`, async () => {
      const file = holding('kc.yaml', text);
      assert.equal(await bench.run('plan', '--out', file), 64);
      assert.equal(readFileSync(file, 'utf8'), text);
      assert.deepEqual([bench.requests, bench.out(), readdirSync(folder)], [[], '', ['kc.yaml']]);
      const error = `error: --out ${file} exists and is not a saved plan: it is not overwritten\nNext: kubectl netsvc-upgrade plan --out plan.json\n`;
      assert.equal(bench.err(), error);
    });

  it('is not taken from a file that came while the cluster was read', async () => {
    const file = join(folder, 'plan.json');
    const { compose } = bench.seams;
    Object.assign(bench.seams, {
      compose: (request: Parameters<typeof compose>[0]) => {
        writeFileSync(file, KUBECONFIG);
        return compose(request);
      },
    });
    assert.equal(await bench.run('plan', '--out', file), 64);
    assert.equal(readFileSync(file, 'utf8'), KUBECONFIG);
    assert.match(bench.err(), /\nNext: kubectl netsvc-upgrade plan --out new-plan\.json\n$/);
  });

  it('is never a device', async () => {
    assert.equal(await bench.run('plan', '--out', '/dev/null'), 64);
    assert.match(bench.err(), /^error: --out \/dev\/null is not a file\n/);
    assert.ok(statSync('/dev/null').isCharacterDevice());
  });

  for (const [title, text] of [
    ['an older plan', OTHER_LAYOUT],
    ['an empty file', ''],
  ] as const)
    it(`is that of ${title}, and for its owner only from then on`, async () => {
      const file = holding('plan.json', text);
      assert.equal(await bench.run('plan', '--out', file), 0, bench.err());
      assert.equal(kindIn(file), 'Plan');
      assert.equal(statSync(file).mode & 0o777, 0o600);
      assert.deepEqual(readdirSync(folder), ['plan.json']);
    });

  it('is where a link leads', async () => {
    mkdirSync(join(folder, 'plans'));
    const file = holding('plans/old.json', OTHER_LAYOUT);
    const link = join(folder, 'plan.json');
    symlinkSync(file, link);
    assert.equal(await bench.run('plan', '--out', link), 0, bench.err());
    assert.ok(lstatSync(link).isSymbolicLink());
    assert.equal(kindIn(file), 'Plan');
  });

  itWhere(NO_ROOT, 'is not where a link of another user leads, which names a file that this one may write', async () => {
    const file = holding('kept.json', OTHER_LAYOUT);
    const link = join(folder, 'plan.json');
    symlinkSync(file, link);
    lchownSync(link, 65_534, 65_534);
    assert.equal(await bench.run('plan', '--out', link), 64);
    assert.equal(readFileSync(file, 'utf8'), OTHER_LAYOUT);
    assert.match(bench.err(), /^error: --out \S+ is a link of another user/);
  });

  it('is not one of which nothing can be known: the kernel follows no foreign link in /tmp', async () => {
    const link = join(folder, 'plan.json');
    symlinkSync(link, link);
    assert.equal(await bench.run('plan', '--out', link), 64);
    assert.ok(lstatSync(link).isSymbolicLink());
    assert.match(bench.err(), /^error: --out \S+ cannot be looked at: ELOOP/);
  });

  const refusals: readonly (readonly [string, string, string, readonly string[]])[] = [
    ['a kubeconfig', 'kc.yaml', KUBECONFIG, ['a kubeconfig is given as --kubeconfig FILE', 'plan.json']],
    ['manifests', 'all.yaml', MANIFEST, ['a manifest is given as --upgrade-file FILE', 'plan.json']],
    ['anything else', 'notes.txt', 'to do', ['plan.json']],
    ['a damaged plan of that name', 'plan.json', '{', ['new-plan.json']],
    ['a plan of a newer program', 'kept.json', OTHER_LAYOUT, ['run it with the version of this program that made it, or newer', 'FILE']],
  ];
  for (const [title, name, text, steps] of refusals)
    it(`is named in the next step, and never to replace what is no plan, after --plan-file of ${title}`, async () => {
      const file = holding(name, text);
      assert.equal(await bench.run('run', '--plan-file', file), 64);
      const [place = '', ...before] = [...steps].reverse();
      const wanted = [...before.reverse(), `Next: kubectl netsvc-upgrade plan --out ${place}`];
      assert.deepEqual(
        bench.err().trim().split('\n').slice(1),
        wanted.map((step) => step.replace('FILE', file)),
      );
    });
});
