import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { CHAINS } from '../src/cli/command-names.ts';
import { allStages } from '../src/features/chain.ts';
import { INSTALL_PATHS } from '../src/kernel/installation.ts';

/**
 * Who may import what: the one table behind the import rule. `npm run lint` holds every file of `src` to it, `import type` included, and
 * `node build/rooms.ts --write` draws it into docs/internals/architecture.md with what the code really imports.
 */

/** A feature imports those before it in this list, by their index.ts. */
export const FEATURES = [
  'tested-way',
  'rights',
  'policy-rules',
  'survey',
  'ipam',
  'rollout',
  'network-probe',
  'service-cli',
  'policies',
  'ownerrefs',
  'going-back',
  'canary',
  'install-manifest',
  'install-operator',
  'sidecars',
  'install-chart',
  'install',
  'node-probe',
  'git-files',
  'backup',
  'verify',
  'hosts',
  'preflight',
] as const;

interface Rule {
  /** Other rooms that it may import. */
  readonly rooms: readonly string[];
  /** Packages and `node:` modules that it may import. */
  readonly packages?: readonly RegExp[];
}

const NODE = /^node:/;
const NPM = /^(?!node:)/;
const OCLIF = /^@oclif\/core(?:\/|$)/;

/** Files right below src/features stand above all features: the chain, and what is wrapped around it. */
const TOP = 'features';

const ROOMS: Readonly<Record<string, Rule>> = {
  kernel: { rooms: [] },
  kube: { rooms: ['kernel'] },
  manifest: { rooms: ['kernel', 'kube'], packages: [/^yaml$/, /^js-yaml$/, /^node:vm$/] },
  profiles: { rooms: ['kernel'], packages: [NPM, /^node:fs\/promises$/] },
  ...Object.fromEntries(FEATURES.map((name, index) => [name, { rooms: ['kernel', 'kube', 'manifest', ...FEATURES.slice(0, index)] }])),
  [TOP]: { rooms: ['kernel', 'kube', 'manifest', ...FEATURES] },
  engine: { rooms: ['kernel'] },
  report: { rooms: ['kernel', 'kube'], packages: [NPM, /^node:(?:crypto|util)$/] },
  sandbox: { rooms: ['kernel', 'kube', 'manifest'], packages: [NODE] },
  adapters: { rooms: ['kernel', 'kube'], packages: [NPM, NODE] },
  cli: {
    rooms: ['kernel', 'kube', 'manifest', ...FEATURES, TOP, 'profiles', 'engine', 'report', 'sandbox', 'adapters'],
    packages: [NPM, NODE],
  },
  commands: { rooms: ['kernel', 'cli'], packages: [OCLIF] },
  hooks: { rooms: ['kernel', 'cli'], packages: [OCLIF] },
};

export interface Import {
  readonly file: string;
  /** The imported file below `src`, or the name of a package. */
  readonly to: string;
  /** Loaded when it is needed: that names its file, for a face would load the whole feature. */
  readonly lazy?: true;
}

/** Static and lazy imports, types included, and what is re-exported. */
const IMPORT = /(\bfrom\s+|\bimport\s*\(\s*|\bimport\s+)(['"])([^'"$\n]+)\2/g;

export function importsOf(file: string, text: string): readonly Import[] {
  return [...text.matchAll(IMPORT)].map(([, form = '', , specifier = '']) => ({
    file,
    to: specifier.startsWith('.') ? posix.normalize(posix.join(dirname(file), specifier)) : specifier,
    ...(form.includes('(') ? { lazy: true } : {}),
  }));
}

/** `hosts` for `features/hosts/undo.ts`, `features` for `features/chain.ts`, `engine` for `engine/hold.ts`. */
export function roomOf(file: string): string {
  const [first = '', second = '', third] = file.split('/');
  return first === 'features' && third !== undefined ? second : first;
}

/** What an import breaks of the rule, in one sentence; undefined if nothing. `known` are the files below `src`. */
export function offence({ file, to, lazy }: Import, known: ReadonlySet<string>): string | undefined {
  const room = roomOf(file);
  const rule = ROOMS[room];
  if (rule === undefined) return `${file} is in no room that build/rooms.ts knows`;
  if (!known.has(to)) return rule.packages?.some((one) => one.test(to)) ? undefined : `${file} imports ${to}: ${room} may not`;
  const other = roomOf(to);
  if (other === room) return undefined;
  if (!rule.rooms.includes(other)) return `${file} imports ${to}: ${room} is not above ${other}`;
  const isFeature = FEATURES.some((name) => name === other);
  return isFeature && lazy === undefined && !to.endsWith('/index.ts') ? `${file} imports ${to}: use features/${other}/index.ts` : undefined;
}

export function readImports(root: string): { readonly imports: readonly Import[]; readonly files: ReadonlySet<string> } {
  const src = join(root, 'src');
  const files = globSync('**/*.ts', { cwd: src }).map((file) => file.replaceAll('\\', '/'));
  return { imports: files.flatMap((file) => importsOf(file, readFileSync(join(src, file), 'utf8'))), files: new Set(files) };
}

/** Rooms that a room really imports, in the order of the table. */
function arrows(imports: readonly Import[], files: ReadonlySet<string>): ReadonlyMap<string, readonly string[]> {
  const names = Object.keys(ROOMS);
  return new Map(
    names.map((name) => {
      const to = new Set(imports.flatMap((one) => (files.has(one.to) && roomOf(one.file) === name ? [roomOf(one.to)] : [])));
      return [name, names.filter((other) => other !== name && to.has(other))];
    }),
  );
}

/** The picture has one box for all features; the table below it has a row for each. */
export function drawn(imports: readonly Import[], files: ReadonlySet<string>): string {
  const isFeature = (name: string) => name === TOP || FEATURES.some((one) => one === name);
  const box = (name: string) => (isFeature(name) ? TOP : name);
  const edges = new Set<string>();
  const found = arrows(imports, files);
  for (const [name, others] of found)
    for (const other of others) if (box(name) !== box(other)) edges.add(`  ${box(name)} --> ${box(other)}`);
  const rows = FEATURES.map((name) => {
    const below = (found.get(name) ?? []).filter((other) => isFeature(other));
    return `| \`${name}\` | ${below.join(', ') || '–'} |`;
  });
  return ['```mermaid', 'flowchart TD', ...edges, '```', '', '| Feature | Uses the faces of |', '|---|---|', ...rows].join('\n');
}

/** Rooms that know stages and checks by their traits alone, and the file that names them. */
const NAMELESS = ['kernel', 'engine', 'report', 'cli'];
const NAMING = ['cli/command-names.ts'];

/** Those of a rollback too. */
const STAGE_IDS = allStages.map(({ id }) => id);
const STAGE = `(?:${STAGE_IDS.join('|')})`;
const COMMAND = `(?:${Object.keys(CHAINS).join('|')})`;
/** Of those the ones that no verb of kubectl is called. */
const OWN = `(?:${[...STAGE_IDS, ...Object.keys(CHAINS)].filter((id) => !['apply', 'wait'].includes(id)).join('|')})`;
/** A type of effect, a verb of kubectl or a phase may be called as a stage is. */
const COMPARISONS = [
  `(?<!\\b(?:type|verb|phase|kind)) [!=]== '${STAGE}'`,
  `\\b(?:command|chain|stage|id|of) [!=]== '${COMMAND}'`,
  `\\bcase '(?:${STAGE_IDS.filter((id) => id.includes('-')).join('|')})':`,
  `(?<!\\bargs)\\.(?:includes|has|indexOf)\\('${STAGE}'\\)`,
  `(?<!\\b(?:on|exclusive): )\\['${STAGE}'(?:, '${STAGE}')*\\]`,
  // A list of commands and of other words for them.
  `(?<!\\b(?:on|options): )\\[(?:'[\\w-]+', )+'${OWN}'(?:, '[\\w-]+')*\\]`,
  `(?<!\\b(?:on|options): )\\['${OWN}'(?:, '[\\w-]+')+\\]`,
  `= '${STAGE}';`,
  // A point of the table of undo, and a type of effect or of waiting, may be called so.
  `(?<!\\b(?:next|shownBy|resumedBy|on|type|reached)): '${STAGE}'`,
  `\\b(?:id|stage)\\.(?:startsWith|endsWith)\\('`,
  `'NS-\\d+'`,
  `/\\^?\\(*NS-[\\d[]`,
].map((one) => new RegExp(one, 'g'));
/** A table by stages. */
const KEYS = new RegExp(`^ +'?(${STAGE})'?: '`, 'gm');

/** Where a file decides by the id of a stage, a command or a check, as it stands there. */
export function namesCompared(file: string, text: string): readonly string[] {
  if (!NAMELESS.includes(roomOf(file)) || NAMING.includes(file)) return [];
  const keys = new Set([...text.matchAll(KEYS)].map(([, id]) => id));
  const found = COMPARISONS.flatMap((one) => [...text.matchAll(one)].map(([words]) => words.trim()));
  return [...found, ...(keys.size > 2 ? [`a table by ${[...keys].join(', ')}`] : [])].map(
    (words) => `${file} decides by a name (${words}): ask a trait of the stage, the chain or the check`,
  );
}

/** Files that give an install path its name: the names with their traits, the detection, the objects, and what pages say of each. */
const PATH_NAMING = [
  'kernel/installation.ts',
  'features/survey/manifest-path.ts',
  'features/survey/operator-path.ts',
  'features/install/paths.ts',
];
const PATH = `'(?:${INSTALL_PATHS.join('|')})'`;
/** A component, a toleration, a category of findings and an argument may be called as a path is. */
const PATH_COMPARISONS = [
  `(?<!\\b(?:component|name|category|kind)) [!=]== ${PATH}`,
  `\\bcase ${PATH}:`,
  `\\[${PATH}\\](?:\\.includes|\\.some|\\.find|\\))`,
  `\\[${PATH}(?:, ${PATH})+\\]`,
  `\\.(?:includes|has|indexOf)\\(${PATH}\\)`,
].map((one) => new RegExp(one, 'g'));
const PATH_KEYS = new RegExp(`^ +'?(${INSTALL_PATHS.join('|')})'?: `, 'gm');

/** Where a file asks which install path it is: the object of the path (`pathOf`), or a trait of it, answers that. */
export function pathsCompared(file: string, text: string): readonly string[] {
  if (PATH_NAMING.includes(file) || ['profiles', 'sandbox'].includes(roomOf(file))) return [];
  const keys = new Set([...text.matchAll(PATH_KEYS)].map(([, path]) => path));
  const found = PATH_COMPARISONS.flatMap((one) => [...text.matchAll(one)].map(([words]) => words.trim()));
  return [...found, ...(keys.size > 2 ? [`a table by ${[...keys].join(', ')}`] : [])].map(
    (words) => `${file} asks for an install path by its name (${words}): ask pathOf(installation), or a trait in kernel/installation.ts`,
  );
}

/** Fields that hold sentences of this program, and what makes a string of one. What they mean is a field of the step, the finding or the fault. */
const FIELD =
  '(?:title|detail|suggestions?|hints?|instruction|message|because|note|fact|fault|says|short|unread|steps?|next)\\b(?:\\[\\d+\\])?';
const SENTENCE = `(?:\\b${FIELD}(?: \\?\\? '')?\\)?|\\bplainText\\((?:[^()]|\\([^()]*\\))*\\))\\??`;
/** Of those the ones that are only compared to find a sentence. */
const WHOLE = '(?:hints?|instruction|message|because|short|suggestion)';
/** Why a pod lags: what may be asked about it is in its fields. */
const REASONS = /\bwhy\??\.(?:startsWith|endsWith|includes|split|match|search|replace|replaceAll)\(|\.(?:test|exec)\((?:\w+\??\.)*why\)/g;
const SEARCHES = [
  new RegExp(`${SENTENCE}\\.(?:startsWith|endsWith|includes|split|match|matchAll|replace|replaceAll|search)\\(`, 'g'),
  new RegExp(`\\.(?:test|exec)\\((?:\\w+\\??\\.)*${SENTENCE}\\)`, 'g'),
  new RegExp(
    `${SENTENCE}\\.(?:find|some|every|filter|map|flatMap)\\(\\(?(\\w+)\\)? => (?:!?\\1\\.(?:startsWith|endsWith|includes|split|match|replace)|\\w+\\.(?:test|exec))\\(`,
    'g',
  ),
  new RegExp(`\\b${WHOLE}(?: \\?\\? '')?\\)? [!=]== (?!['"\`\\d-]|undefined\\b|null\\b)[\\w.?]+`, 'g'),
  new RegExp(`(?<!\\btypeof )\\b[\\w.?)\\]]+ [!=]== (?:\\w+\\??\\.)*${WHOLE}\\b(?![.(])`, 'g'),
];
/** Sentences of others, by file: of the API server, a kubelet, helm and parsers, a template of a profile, and parts of a path. */
const WORDS_OF_OTHERS = [
  'adapters/kube/yaml-documents.ts',
  'cli/faults.ts',
  'features/install-chart/chart-target.ts',
  'features/install-chart/source.ts',
  'features/install-manifest/pods-admitted.ts',
  'features/node-probe/said.ts',
  'features/ownerrefs/owner-rights.ts',
  'features/preflight/prerequisites.ts',
  'features/survey/refusals.ts',
  'kernel/fault.ts',
  'kernel/json.ts',
  'kube/field-paths.ts',
  'kube/judge-pod.ts',
  'manifest/json-patch.ts',
];

/** Where a file decides by the words of a sentence that this program wrote: a reworded one would change what it does. */
export function sentencesSearched(file: string, text: string): readonly string[] {
  return [REASONS, ...(WORDS_OF_OTHERS.includes(file) ? [] : SEARCHES)]
    .flatMap((one) => [...text.matchAll(one)].map(([words]) => words.trim()))
    .map((words) => `${file} decides by the words of a sentence (${words}): make it a field, or a part of its text`);
}

const BEGIN = '<!-- drawn by build/rooms.ts -->';
const END = '<!-- end of the drawing -->';

/** The page with the drawing of now between its two marks. */
export function redrawn(page: string, drawing: string): string {
  const [before = '', rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined) throw new Error(`the page has no ${BEGIN} … ${END}`);
  return `${before}${BEGIN}\n${drawing}\n${END}${after}`;
}

function main(): void {
  const root = join(import.meta.dirname, '..');
  const { imports, files } = readImports(root);
  const page = join(root, 'docs', 'internals', 'architecture.md');
  if (process.argv.includes('--write')) writeFileSync(page, redrawn(readFileSync(page, 'utf8'), drawn(imports, files)));
  const named = [...files].flatMap((file) => {
    const text = readFileSync(join(root, 'src', file), 'utf8');
    return [...namesCompared(file, text), ...pathsCompared(file, text), ...sentencesSearched(file, text)];
  });
  const offences = [...imports.flatMap((one) => offence(one, files) ?? []), ...named];
  process.stdout.write(offences.map((one) => `${one}\n`).join(''));
  process.exitCode = offences.length > 0 ? 1 : 0;
}

if (import.meta.main) main();
