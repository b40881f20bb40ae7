import type { Tools } from '../../kernel/argv.ts';
import type { Reading } from '../../kernel/check.ts';
import { localCommand } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import { isAnswer } from '../../kernel/interruption.ts';
import { isRecord, type JsonMap, jsonAt, parsedJson, textAt } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Sources, WorkFolder } from '../../kernel/ports.ts';
import { look, sentence, text } from '../../kernel/step.ts';
import { sha256Of } from '../../kube/sha256.ts';
import { objectsIn, readManifest } from '../../manifest/manifest.ts';
import { readYaml } from '../../manifest/yaml-rules.ts';
import { type ChartPlace, chartArgs, type HelmAnswer, helmOn, runHelm } from '../install-manifest/index.ts';
import type { TargetChart, Trial } from './chart-facts.ts';
import { type HelmUpgrade, type HelmVersion, helmUpgrade, parseHelmVersion } from './helm-argv.ts';

declare module '../../kernel/context.ts' {
  interface Options {
    /** The operator's chart: a name in a repository, an OCI address, a packed file or a folder. */
    readonly chart?: string;
    /** The user's own values for the chart, over those of the release. */
    readonly chartValues?: string;
    /** The operator is to apply the CRDs itself (option 2 of §4.2). */
    readonly manageCrds?: boolean;
    /** A chart release that lives in another namespace than its operator is to be moved there. */
    readonly moveRelease?: boolean;
  }
}

/** The chart of the target: what it says of itself and the values that it comes with. */
export interface ReadChart extends TargetChart {
  readonly defaults: JsonMap;
}

/** A chart as it lies on this machine, and the place that the user named. */
export interface FetchedChart {
  readonly place: ChartPlace;
  /** `https://… tigera-operator`. */
  readonly from: string;
  /** Of the packed chart; absent for a folder. */
  readonly sha256?: string;
  /** From elsewhere, and nobody said which sum it has to have. */
  readonly unconfirmed?: true;
  /** As it was named, wherever it lies now. */
  readonly named: ChartPlace;
}

/** Where the chart is: by flag, else the profile's own chart in the repository of the flag or the profile. */
function chartPlace({ goal: { release }, options, profile }: Context): Reading<ChartPlace> {
  const { chart, chartRepository } = options;
  if (chart !== undefined) return { value: { ref: chart, ...(chartRepository ? { repository: chartRepository } : {}), release } };
  const repository = chartRepository ?? profile.operator.chartNames?.repository;
  if (repository !== undefined) return { value: { ref: profile.operator.chart, repository, release } };
  return {
    unread: 'it is not known where the charts of this service are',
    hint: 'Give the chart with --chart, or its repository with --repo.',
  };
}

/** Fails as a reading: without the chart tool, or with one that does not tell its version. */
export async function readHelmVersion(tools: Tools): Promise<Reading<HelmVersion>> {
  return reading(async () => {
    const said = await runHelm(tools, { tool: 'helm', args: ['version', '--short'], withoutCluster: true });
    const version = parseHelmVersion(said);
    if (version) return version;
    throw new Fault('failed', `helm does not tell its version: ${said.trim().slice(0, 100)}`, [
      look(text`see for yourself: ${localCommand`helm version`}`),
    ]);
  });
}

export async function readChart(tools: Tools, { place, from, named, sha256, unconfirmed }: FetchedChart): Promise<Reading<ReadChart>> {
  return reading(async () => {
    const about = yamlMap(await runHelm(tools, helmOn(place, ['show', 'chart'])), 'Chart.yaml');
    const defaults = yamlMap(await runHelm(tools, helmOn(place, ['show', 'values'])), 'values.yaml');
    const said = { name: textAt(about, 'name') ?? '', version: textAt(about, 'version') ?? '' };
    return {
      ...said,
      place: from,
      named: chartArgs(named),
      ...(sha256 === undefined ? {} : { sha256 }),
      ...(unconfirmed ? { unconfirmed } : {}),
      defaults,
    };
  });
}

/** The user's own file for `--values`; empty without one. Throws Fault('usage') for what is no map. */
export async function readValuesFile({ files }: Sources, { options }: Context): Promise<JsonMap> {
  if (options.chartValues === undefined) return {};
  try {
    return yamlMap(await files.readText(options.chartValues), options.chartValues);
  } catch (thrown) {
    throw isAnswer(thrown) ? new Fault('usage', thrown.message, ['write the values as YAML: name: value']) : thrown;
  }
}

function yamlMap(text: string, name: string): JsonMap {
  const { value = {}, problem } = readYaml(text);
  if (problem) throw new Fault('failed', `${name}:${problem.line}: ${problem.message}`, [`correct line ${problem.line} of ${name}`]);
  if (!isRecord(value)) throw new Fault('failed', `${name} has no map of values`, [`make ${name} a map: KEY: VALUE`]);
  return value;
}

/** A fault while reading is an answer; anything else is a defect and is thrown. */
export async function reading<T>(read: () => Promise<T>): Promise<Reading<T>> {
  try {
    return { value: await read() };
  } catch (thrown) {
    if (!isAnswer(thrown)) throw thrown;
    const [hint] = thrown.steps;
    return { unread: thrown.message, ...(hint ? { hint: sentence(hint.whole) } : {}) };
  }
}

/** Kinds of the server itself, which no CRD defines: their groups have no dot. */
const OF_SERVER = /no matches for kind "\w+" in version "(?:[a-z]+\/)?v\w+"/;
/** What the server cannot evaluate before it has the new CRDs. */
const NEEDS_CRDS = /no matches for kind|ensure CRDs are installed first|unknown field|field not declared in schema|no kind "/i;

/** Has the upgrade rendered and validated by the server. While CRDs are still to come, what they explain is no refusal. */
export async function tryUpgrade(tools: Tools, upgrade: HelmUpgrade, crdsPending: boolean, answer: HelmAnswer): Promise<Reading<Trial>> {
  const trial = await reading(async () => {
    const text = await runHelm(tools, helmUpgrade(upgrade, true), answer);
    const printed = parsedJson(text);
    if (printed === undefined) {
      throw new Fault('failed', `helm does not print the upgrade as JSON: ${text.trim().slice(0, 100)}`, [
        'use helm 3.14 or newer, without plugins that change its output',
      ]);
    }
    return { type: 'accepted', documents: await printedObjects(printed) } as const;
  });
  if ('value' in trial) return trial;
  if (crdsPending && NEEDS_CRDS.test(trial.unread) && !OF_SERVER.test(trial.unread)) {
    return {
      value: { type: 'untold', because: 'the server cannot say before it has the new CRDs; it is asked again right before the upgrade' },
    };
  }
  return { value: { type: 'refused', because: trial.unread } };
}

/** helm prints its hooks beside the manifest, and creates those of an upgrade as well. */
async function printedObjects(printed: unknown): Promise<readonly KubeObject[]> {
  const all = jsonAt(printed, 'hooks');
  const hooks = Array.isArray(all) ? all.map((one) => textAt(one, 'manifest') ?? '') : [];
  const texts = [textAt(printed, 'manifest') ?? '', ...hooks];
  return objectsIn(await readManifest(texts.join('\n---\n'), 'the rendered chart')).filter(isWritten('upgrade'));
}

/** Hooks run only at their own occasion: what cleans up at a removal is never part of an upgrade. */
export const isWritten =
  (occasion: 'install' | 'upgrade') =>
  ({ metadata }: KubeObject): boolean => {
    const hook = metadata.annotations?.['helm.sh/hook'];
    return hook === undefined || hook.includes(occasion);
  };

/** Fetches a chart into the work folder, once per command: what was evaluated is installed. Local charts stay in place. */
async function fetchChart(sources: Sources, place: ChartPlace): Promise<Reading<FetchedChart>> {
  const { files } = sources;
  const { ref, repository, release } = place;
  const fetched = { place, named: place, from: repository === undefined ? ref : `${repository} ${ref}` };
  const { from } = fetched;
  const name = fileOf(place);
  return reading(async () => {
    const mayBeHere = repository === undefined && !ref.includes('://');
    const isThere = mayBeHere && (await files.exists(ref));
    if (isThere || (mayBeHere && isPath(ref))) {
      // A packed file of this machine has a sum as well; a folder has none.
      const isPacked = isThere && !(await files.isFolder(ref));
      return isPacked
        ? { ...fetched, sha256: (await checkedSum(sources, release, name, from, await files.readBytes(ref))).sha256 }
        : fetched;
    }
    const pulled = await pullOnce(sources, place, from);
    return { ...fetched, place: { ref: pulled.saved, release }, ...(await checkedSum(sources, release, name, from, pulled.bytes)) };
  });
}

interface Pulled {
  readonly saved: string;
  readonly bytes: Uint8Array;
}

/** What each command has fetched, by the words that name it. */
const pulledIn = new WeakMap<WorkFolder, Map<string, Promise<Pulled>>>();

/** A chart that could not be fetched is asked for again. */
function pullOnce(sources: Sources, place: ChartPlace, from: string): Promise<Pulled> {
  const all = pulledIn.get(sources.work) ?? new Map<string, Promise<Pulled>>();
  pulledIn.set(sources.work, all);
  const key = chartArgs(place).join(' ');
  const pulled = all.get(key) ?? pull(sources, place, from);
  all.set(key, pulled);
  pulled.catch(() => all.delete(key));
  return pulled;
}

/** The repository chooses the name of the file: it is written into a folder where nothing else is, and taken only if it is the expected one. */
async function pull({ tools, files, work }: Sources, place: ChartPlace, from: string): Promise<Pulled> {
  const name = fileOf(place);
  const bytes = await work.fresh(async (folder) => {
    await runHelm(tools, helmOn(place, ['pull'], ['--destination', folder]), 'anew');
    const file = `${folder}/${name}`;
    if (await files.exists(file)) return files.readBytes(file);
    throw new Fault('failed', `the chart that ${from} has for ${place.release} is not of that very version`, [
      'give a chart of it with --chart',
    ]);
  });
  // Named by its content: no other command can put another chart in its place, and no saved plan means another.
  const saved = name.replace(/(\.tgz)?$/, `-${sha256Of(bytes).slice(0, 12)}.tgz`);
  return { saved: await work.write(saved, bytes), bytes };
}

/** The sum of a chart. Throws Fault('failed') where it has to be another. */
async function checkedSum({ artifacts }: Sources, release: string, name: string, from: string, bytes: Uint8Array) {
  const sha256 = sha256Of(bytes);
  const known = await artifacts.sumOf(release, name);
  if (!known) return { sha256, unconfirmed: true } as const;
  if (known.sha256 === sha256) return { sha256 };
  throw new Fault('failed', `${name} of ${from} has sha256 ${sha256}, but ${known.from} says ${known.sha256}: it is not used`, [
    'fetch it again, or give another chart with --chart or --repo',
  ]);
}

/** The chart of the target. */
export async function fetchedTarget(sources: Sources, context: Context): Promise<Reading<FetchedChart>> {
  const place = chartPlace(context);
  return 'unread' in place ? place : fetchChart(sources, place.value);
}

/** As the chart tool tells a path from a name. */
function isPath(ref: string): boolean {
  return /^[./]|^[A-Za-z]:[\\/]|\\/.test(ref);
}

/** As the chart tool names what it has fetched; of a packed file its own name. */
function fileOf({ ref, release }: ChartPlace): string {
  const last = ref.slice(ref.lastIndexOf('/') + 1).replace(/[?#].*$/, '');
  return /^https?:|\.tgz$/.test(ref) ? last : `${last.replace(/:.*$/, '')}-${release}.tgz`;
}
