import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { BOXED, TARGETED, withBoxes, withTarget } from '../../build/page-boxes.ts';
import type { Manifest } from '../../src/cli/complete.ts';
import { DEMO_SCENARIOS } from '../../src/cli/demo-scenarios.ts';
import { chain } from '../../src/features/chain.ts';
import { noSwitchYet } from '../../src/features/install-operator/apply.ts';
import { FAULT_KINDS } from '../../src/features/ipam/faults.ts';
import { permittedCommands } from '../../src/features/permissions.ts';
import { unknownEnd } from '../../src/features/survey/path-stage.ts';
import { EXIT } from '../../src/kernel/fault.ts';
import { INSTALL_PATHS, OPERATED } from '../../src/kernel/installation.ts';
import { TRAFFIC } from '../../src/kernel/traffic.ts';
import { calico } from '../../src/profiles/calico.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (page: string) => readFileSync(join(root, page), 'utf8');

/** Command lines of this program in the code of a page, inline or fenced, without what the shell takes from them. */
function commandsOf(page: string): readonly string[] {
  // In a source, marks within a template are escaped.
  const found = read(page)
    .replaceAll('\\`', '`')
    .matchAll(/kubectl netsvc-upgrade (?!…)([a-z][^`\n|#<>"&;]*)/g);
  return [...found].map(([, line = '']) => line.trim());
}

/** What no parser of the program would take: a command or a flag that is not there. */
function unknownIn(line: string, { commands }: Manifest): readonly string[] {
  const [id = '', ...rest] = line.split(/\s+/);
  const command = commands[id];
  if (!command) return [id];
  const flags = rest.filter((word) => word.startsWith('--')).map((word) => word.slice(2).replace(/[=.,;:)'"\\].*$/, ''));
  return flags.filter((flag) => flag !== 'help' && !Object.hasOwn(command.flags, flag)).map((flag) => `--${flag}`);
}

describe('pages that say what the program does', () => {
  for (const page of BOXED)
    it(`${page} shows what the profile and the checks ask for`, () => {
      assert.equal(read(page), withBoxes(page, read(page)), 'run: node build/page-boxes.ts');
    });

  for (const page of TARGETED)
    it(`${page} names the release that is upgraded to`, () => {
      assert.equal(read(page), withTarget(page, read(page)), 'run: node build/page-boxes.ts');
    });

  it('claim nowhere that pods keep their network: by which mechanism, and that it was not measured, is in the table of traffic', () => {
    const texts = ['README.md', ...globSync('{docs,src}/**/*.{md,ts}', { cwd: root })];
    const claims = texts.filter((page) => /\b(?:keep|keeps|kept) (?:their|its|the) network\b/i.test(read(page)));
    assert.deepEqual(claims, []);
    assert.match(read('docs/use/traffic.md'), /not measured/);
  });

  it('know rollback wherever they speak of undo', () => {
    const texts = ['README.md', ...globSync('{docs/{use,reference},src}/**/*.{md,ts}', { cwd: root })];
    assert.deepEqual(
      texts.filter((page) => /undone with the backup|nobody tests/.test(read(page))),
      [],
    );
  });

  it('cite no section of the procedure, which the reader does not have; in documents of JSON it is data', () => {
    const cited = globSync('docs/{use,reference}/**/*.md', { cwd: root }).filter((page) =>
      /§\d/.test(read(page).replaceAll(/"ref": "[^"]*"/g, '')),
    );
    assert.deepEqual(cited, []);
  });

  it('use the names that operators use: calicoctl, data plane, GitOps tool', () => {
    const pages = ['README.md', ...globSync('docs/{use,reference}/**/*.md', { cwd: root })];
    assert.deepEqual(
      pages.filter((page) => /service['’]s (?:own )?CLI|packet filter|delivery tool/.test(read(page))),
      [],
    );
  });

  it('say how long the v3 API is away as the table of traffic does', () => {
    const [time = ''] = /about (.*)$/.exec(TRAFFIC.api.meanwhile)?.slice(1) ?? [];
    for (const page of ['reference/paths', 'use/alerts', 'use/traffic', 'use/troubleshooting'])
      assert.match(read(`docs/${page}.md`), new RegExp(`v3.* ${time}|API server.* ?\\(${time}`), page);
  });

  it('promise no role that `permissions` refuses', () => {
    const pages = ['README.md', ...globSync('docs/{use,reference}/**/*.md', { cwd: root })];
    const wrong = pages.flatMap((page) =>
      [...read(page).matchAll(/permissions --for[= ]([a-z-]+)/g)].flatMap(([, role = '']) =>
        permittedCommands.includes(role) ? [] : [`${page}: ${role}`],
      ),
    );
    assert.deepEqual(wrong, []);
  });

  it('lead to no roles of another profile than that of Calico', () => {
    const pages = ['README.md', ...globSync('docs/{use,reference}/**/*.md', { cwd: root })];
    const roles = (text: string) =>
      text.replaceAll(/```json\n[\s\S]*?```/g, '').match(/crd\.netsvc\.io|permissions --for [^`\n]*--profile(?: |=)(?!calico)\S+/g) ?? [];
    assert.deepEqual(
      pages.flatMap((page) => roles(read(page)).map((one) => `${page}: ${one}`)),
      [],
    );
  });

  it('concepts has every stage of the chain, in its order', () => {
    const [table = ''] = read('docs/use/concepts.md').split('\n## ');
    const stages = [...table.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, id]) => id);
    assert.deepEqual(
      stages,
      chain.map(({ id }) => id),
    );
  });

  it('the FAQ says on which paths an older target is refused', () => {
    assert.match(
      read('docs/use/faq.md'),
      /On the manifest paths `--release v3\.31\.2` works .* On the chart and operator paths the target is v3\.32 or later/,
    );
    const goal = { release: 'v3.31.2' };
    const refused = INSTALL_PATHS.filter((path) => unknownEnd({ path }, { profile: calico, goal }));
    assert.deepEqual(refused, OPERATED);
  });

  it('troubleshooting has every scenario of the demo, in its order', () => {
    const [, names = ''] = /\| NAME \|.*\n\|-.*\n((?:\|.*\n)+)/.exec(read('docs/use/troubleshooting.md')) ?? [];
    assert.deepEqual(
      [...names.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => name),
      Object.keys(DEMO_SCENARIOS),
    );
  });

  it('name only commands and flags that there are', () => {
    const manifest = JSON.parse(read('oclif.manifest.json')) as Manifest;
    const pages = [
      'README.md',
      ...globSync(['docs/{use,reference}/**/*.md', 'src/{features,cli,kernel,engine,report}/**/*.ts'], { cwd: root }),
    ];
    const lines = pages.flatMap((page) => commandsOf(page).map((line) => ({ page, line })));
    assert.ok(lines.length > 100, String(lines.length));
    const wrong = lines.flatMap(({ page, line }) => unknownIn(line, manifest).map((word) => `${page}: ${word} in ${line}`));
    assert.deepEqual(wrong, []);
  });

  describe('pipelines has two files of YAML', () => {
    const blocks = [...read('docs/use/pipelines.md').matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = '']) => parse(text) as object);

    it('with a job that makes a plan and a job that runs it', () => {
      assert.equal(blocks.length, 2);
      for (const block of blocks) assert.match(JSON.stringify(block), /plan .*--out upgrade\.plan.*run .*--plan-file upgrade\.plan --yes/);
    });

    it('that install the program first, with its sum', () => {
      for (const block of blocks)
        assert.match(JSON.stringify(block), /^(?:(?!kubectl).)*sha256sum --check.*kubectl netsvc-upgrade preflight/);
    });

    it('that keep the folder of the backup, however the run ends: the runner may be gone afterwards', () => {
      for (const block of blocks)
        assert.match(JSON.stringify(block), /run .*--backup-dir backup .*"(?:if|when)":"always(?:\(\))?".*[n"]backup\b/);
    });
  });

  it('NS-314 says how many kinds of NS-511 are compared', () => {
    const NUMBERS = ['no', 'one', 'two', 'three', 'four', 'five'];
    const [, kinds = ''] = /\*\*Found when\*\*.*\n\n((?:- .*\n)+)/.exec(read('docs/reference/checks/NS-511.md')) ?? [];
    const left = kinds.trim().split('\n').length - FAULT_KINDS.length;
    const page = read('docs/reference/checks/NS-314.md');
    assert.match(page, new RegExp(`first ${NUMBERS[FAULT_KINDS.length]} kinds of \\[NS-511\\].*other ${NUMBERS[left]} are not compared`));
  });

  it('canary says with which exit code, and where, --until controllers is refused', () => {
    const page = read('docs/use/canary.md');
    assert.match(
      page,
      new RegExp(`\`--until controllers\` is refused \\(exit ${EXIT[noSwitchYet().code]}\\) where the operator keeps its CRDs`),
    );
    assert.doesNotMatch(page, /every path/);
  });
});
