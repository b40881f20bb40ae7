import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

interface Step {
  readonly run?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

const root = join(import.meta.dirname, '..', '..');
const workflow = parse(readFileSync(join(root, '.github', 'workflows', 'release.yml'), 'utf8'));
const jobs: readonly { readonly steps: readonly Step[] }[] = Object.values(workflow.jobs);
const steps = jobs.flatMap((job) => job.steps);
const commands = steps.flatMap(({ run }) => (run ? [run] : []));

describe('the release workflow', () => {
  it('starts for version tags and nothing else', () => {
    assert.deepEqual(Object.keys(workflow.on), ['push']);
    assert.deepEqual(Object.keys(workflow.on.push), ['tags']);
  });

  it('calls scripts and test files that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
    const called = commands.flatMap((run) => [...run.matchAll(/npm (?:run )?([\w:]+)/g)].map(([, script]) => script ?? ''));
    assert.deepEqual(
      called.filter((script) => script !== 'ci' && !(script in scripts)),
      [],
    );
    const files = commands.flatMap((run) => run.match(/test\/\S+\.ts/g) ?? []);
    assert.ok(files.length > 0);
    assert.deepEqual(
      files.filter((file) => !existsSync(join(root, file))),
      [],
    );
  });

  it('tests before it packs, packs twice, and attaches only then', () => {
    const order = ['npm test', 'npm run pack -- --check', 'gh release create'].map((text) =>
      commands.findIndex((run) => run.includes(text)),
    );
    assert.deepEqual(
      order,
      [...order].sort((a, b) => a - b),
    );
    assert.ok(order.every((index) => index >= 0));
  });

  it('makes the npm package and the ingredients beside the archives, with their sums, attests and signs these, and attaches all of them', () => {
    const has = (text: string) => steps.findIndex(({ run, with: inputs }) => `${run} ${inputs?.['subject-checksums']}`.includes(text));
    const order = [
      'npm run pack -- --check',
      'npm pack --ignore-scripts --pack-destination archives',
      'cd archives && sha256sum --check SHA256SUMS',
      'undefined archives/SHA256SUMS',
      'cosign sign-blob',
      'archives/* ',
    ].map(has);
    assert.ok(
      order.every((index, at) => index > (order[at - 1] ?? -1)),
      String(order),
    );
    assert.match(steps[order[1] ?? -1]?.run ?? '', /sha256sum \*\.tgz \*\.cdx\.json netsvc-upgrade\.yaml >> SHA256SUMS/);
  });

  it('attaches the npm package that the documents name', () => {
    const { name } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { name: string };
    for (const file of ['README.md', 'docs/internals/releasing.md', 'docs/use/install-offline.md'])
      assert.match(readFileSync(join(root, file), 'utf8'), new RegExp(`\\b${name}-(?:X\\.Y\\.Z|\\d+\\.\\d+\\.\\d+)\\.tgz`), file);
  });

  it('gives no right to all jobs', () => assert.deepEqual(workflow.permissions, {}));
});
