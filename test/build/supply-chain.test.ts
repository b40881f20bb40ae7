import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '..', '..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
}

interface Step {
  readonly uses?: string;
  readonly run?: string;
}

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly needs?: string;
  readonly steps: readonly Step[];
}

describe('the lock file', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as { readonly packages: Readonly<Record<string, Locked>> };
  const fetched = Object.entries(packages).filter(([path, { link }]) => path.includes('node_modules/') && link !== true);

  it('has the sha512 of every package, those for other systems included', () => {
    const without = fetched.filter(([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''));
    assert.deepEqual(
      without.map(([path]) => path),
      [],
    );
    assert.ok(fetched.length > 300);
  });

  it('is of the public registry alone', () => {
    for (const [path, { resolved }] of fetched)
      if (resolved !== undefined) assert.match(resolved, /^https:\/\/registry\.npmjs\.org\//, path);
  });

  it('has one package that wants to run a program when it is installed, which does without; .npmrc lets none', () => {
    assert.deepEqual(
      fetched.filter(([, one]) => one.hasInstallScript).map(([path]) => path),
      ['node_modules/esbuild'],
    );
    assert.match(read('.npmrc'), /^ignore-scripts=true$/m);
  });

  it('holds the Node.js of the developers itself, in the versions of the archives’', () => {
    const { optionalDependencies } = JSON.parse(read('build/runtime/package.json')) as { optionalDependencies: Record<string, string> };
    const { runtimes } = JSON.parse(read('build/runtimes.lock.json')) as {
      readonly runtimes: readonly { readonly package: string; readonly version: string; readonly integrity: string }[];
    };
    assert.ok(Object.keys(optionalDependencies).length >= 5);
    for (const [name, version] of Object.entries(optionalDependencies)) {
      const known = runtimes.find((one) => one.package === name);
      assert.equal(known?.version, version, name);
      assert.equal(packages[`node_modules/${name}`]?.integrity, known.integrity, name);
    }
    const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: Record<string, string> };
    assert.ok(!Object.hasOwn(devDependencies, 'node'), 'its install script fetches what no lock file names');
  });
});

describe('workflows', () => {
  const files = globSync('.github/workflows/*.{yml,yaml}', { cwd: root });
  const jobsOf = (file: string) => parse(read(file)) as { readonly permissions?: object; readonly jobs: Readonly<Record<string, Job>> };

  it('use actions by commit, with the release beside it', () => {
    const uses = files.flatMap((file) =>
      read(file)
        .split('\n')
        .filter((line) => /\buses:/.test(line)),
    );
    assert.ok(uses.length > 5);
    for (const line of uses) assert.match(line, /uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('have no rights but those of their jobs', () => {
    for (const file of files) assert.deepEqual(jobsOf(file).permissions, {}, file);
  });

  it('release in jobs that are parted: what runs code of packages has no right to write, what may write runs none', () => {
    const { jobs } = jobsOf('.github/workflows/release.yml');
    const writes = ({ permissions = { contents: 'write' } }: Job) => Object.values(permissions).includes('write');
    const runsCode = ({ steps }: Job) =>
      steps.some(({ run = '', uses = '' }) => /\b(npm|npx|node|yarn|make|bash|sh) /.test(run) || uses.startsWith('actions/checkout'));
    assert.deepEqual(
      Object.entries(jobs)
        .filter(([, job]) => writes(job))
        .map(([name]) => name),
      ['publish'],
    );
    assert.deepEqual(
      Object.entries(jobs)
        .filter(([, job]) => runsCode(job))
        .map(([name]) => name),
      ['build'],
    );
    assert.deepEqual([jobs.publish?.needs, jobs.offer?.needs], ['build', 'publish']);
  });

  it('compare each Node.js with the signed sums of its publisher before anything is packed, by keys of one commit', () => {
    const steps = jobsOf('.github/workflows/release.yml').jobs.build?.steps ?? [];
    const at = (run: string) => steps.findIndex((step) => step.run?.includes(run));
    assert.ok(at('node build/publisher-sums.ts') > 0 && at('node build/publisher-sums.ts') < at('npm run pack'));
    assert.match(read('.github/workflows/release.yml'), /repository: nodejs\/release-keys\n +ref: [0-9a-f]{40}\n/);
  });

  it('put no value that somebody else chose into a command line', () => {
    for (const file of files)
      for (const { steps } of Object.values(jobsOf(file).jobs)) for (const { run = '' } of steps) assert.doesNotMatch(run, /\$\{\{/, run);
  });
});

describe('the page for whoever installs', () => {
  it('has a command for the sums, their signature, the provenance and the ingredients', () => {
    const page = read('docs/use/install-offline.md');
    for (const command of ['sha256sum --check', 'cosign verify-blob', 'gh attestation verify', '.cdx.json'])
      assert.ok(page.includes(command), command);
  });

  it('SECURITY.md says how to report, what is supported and how dependencies are updated', () => {
    const page = read('SECURITY.md');
    for (const head of ['## Reporting', '## Supported versions', '## Newer dependencies and runtimes'])
      assert.ok(page.includes(head), head);
  });
});
