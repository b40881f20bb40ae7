import { systemClock } from '../src/adapters/clock.ts';
import { journalStore } from '../src/adapters/journal/journal.ts';
import { openCluster } from '../src/adapters/kube/cluster.ts';
import { withQuery } from '../src/adapters/kube/items.ts';
import { readConnection } from '../src/adapters/kubeconfig/kubeconfig.ts';
import { patchAll } from '../src/engine/patch-all.ts';
import { entryOf } from '../src/features/ownerrefs/journal-entries.ts';
import { ownerEntries } from '../src/features/ownerrefs/journal-form.ts';
import { restorePatch, stripPatch } from '../src/features/ownerrefs/owner-patches.ts';
import type { Effect } from '../src/kernel/action.ts';
import type { JournalEntry } from '../src/kernel/journal.ts';
import type { JsonPatchOp, OwnerReference } from '../src/kernel/object.ts';
import { type ControlPlane, startControlPlane } from '../test/control-plane/control-plane.ts';
import { bystander } from '../test/support/bystander.ts';
import { journalIn } from '../test/support/state.ts';
import type { Section } from './measure.ts';
import { patchLoad } from './patch-load.ts';

const SPACE = 'default';
/** Of the shell loop: the rest is extrapolated. */
const SHELL_SAMPLE = 100;
/** How long another client is watched while nothing else goes on. */
const QUIET_MS = 5_000;
const AIM =
  'fifty times as fast as a shell loop of kubectl patch, at least 80 % of what a load generator gets, journal at most 15 % of the time';
const PATH = `/api/v1/namespaces/${SPACE}/configmaps`;

const owner = (uid: string): OwnerReference => ({ apiVersion: 'projectcalico.org/v3', kind: 'GlobalNetworkSet', name: 'set', uid });

/** Of the objects, patched at a time by one of the two. */
const TURN = 1000;

/**
 * Removing the references of this many objects: journal and patches of this program, against the same patches by a load generator
 * (bare HTTPS, as many connections as are in flight), in turns, so that a slow moment of the machine hits both, and twice, so that each
 * has patched every object; and against a shell loop of kubectl patch, extrapolated from 100.
 */
export async function ownerStrip(objects: number): Promise<Section> {
  const plane = await startControlPlane({ maxMinutes: 60 });
  try {
    const entries = await fill(plane, objects);
    const ours = await ourWay(plane);
    try {
      const journalMs = await timed(() => ours.record(entries));
      let [patchMs, loadMs, backMs] = [0, 0, 0];
      for (const isOursFirst of [true, false]) {
        for (let from = 0, isOurs = isOursFirst; from < objects; from += TURN, isOurs = !isOurs) {
          const turn = entries.slice(from, from + TURN);
          if (isOurs) patchMs += await timed(() => ours.patch(turn));
          else loadMs += await patchLoad(plane.access, turn.map(requestOf));
        }
        backMs += (await timed(() => ours.putBack(entries))) / 2;
      }
      const others = await besideOthers(plane, ours, entries);
      const shell = await shellTime(plane, entries.slice(0, SHELL_SAMPLE));
      const lines = [...table(objects, { journalMs, patchMs, backMs }, loadMs, shell), '', ...others];
      return { title: `Taking references off ${objects} objects`, aim: AIM, lines };
    } finally {
      await ours.close();
    }
  } finally {
    await plane.stop();
  }
}

async function fill({ api }: ControlPlane, objects: number): Promise<readonly JournalEntry[]> {
  const numbers = Array.from({ length: objects }, (_, number) => number);
  const entries: JournalEntry[] = [];
  await sideBySide(numbers, async (number) => {
    const references = [owner(`0c8c26a6-c6a6-44c6-adc6-${String(number).padStart(12, '0')}`)];
    const made = await api.send('POST', PATH, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `owned-${number}`, ownerReferences: references },
    });
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      namespace: SPACE,
      name: made.metadata.name,
      uid: made.metadata.uid,
      plural: 'configmaps',
    };
    entries.push(entryOf(object, references, new Map([[0, { name: 'set' }]])));
  });
  return entries;
}

/** What the patch is, whoever sends it. */
function opsOf(entry: JournalEntry) {
  return stripPatch(entry, { uid: entry.object.uid, references: entry.references }).ops;
}

/** References that were removed, as they were: the next round removes the very same again. */
function opsBack(entry: JournalEntry) {
  const [reference] = entry.references;
  return restorePatch(entry, { uid: entry.object.uid, references: [] }, () => ({ uid: reference?.uid ?? '' })).ops;
}

/** To the letter what this program sends: a server that checks fields strictly, or cuts the answer down, has more to do. */
const requestOf = (entry: JournalEntry) => ({
  path: withQuery(`${PATH}/${entry.object.name}`, { fieldManager: 'kubectl', fieldValidation: 'Strict' }),
  body: JSON.stringify(opsOf(entry)),
});

interface OurTimes {
  readonly journalMs: number;
  readonly patchMs: number;
  /** References back on all objects. */
  readonly backMs: number;
}

interface OurWay {
  record(entries: readonly JournalEntry[]): Promise<unknown>;
  patch(entries: readonly JournalEntry[]): Promise<unknown>;
  putBack(entries: readonly JournalEntry[]): Promise<unknown>;
  close(): Promise<void>;
}

async function ourWay({ kubeconfigPath }: ControlPlane): Promise<OurWay> {
  const cluster = openCluster(await readConnection({ kubeconfig: kubeconfigPath }, process.env), { version: 'bench' });
  const clusterUid = await cluster.clusterUid();
  // As in a run: every write is preceded by a look whether this is still the cluster.
  cluster.pin(clusterUid);
  const place = journalIn(cluster);
  const journal = journalStore({ place, form: async () => ownerEntries, clusterUid, profile: 'calico', runId: 'bench' });
  const parts = { limits: {}, mustHold: () => undefined, stop: new AbortController().signal, report: () => undefined };
  return {
    record: (entries) => journal.append(entries),
    patch: (entries) => patchBy(entries, opsOf),
    putBack: (entries) => patchBy(entries, opsBack),
    close: () => cluster.close(),
  };

  function patchBy(entries: readonly JournalEntry[], ops: (entry: JournalEntry) => readonly JsonPatchOp[]): Promise<unknown> {
    const patches = entries.map((entry) => ({ target: entry.object, uid: entry.object.uid, patch: ops(entry).slice(1) }));
    const effect: Extract<Effect, { type: 'patch-all' }> = { type: 'patch-all', patches, what: 'objects' };
    return patchAll({ cluster, clock: systemClock() }, effect, parts);
  }
}

/** How long another client waits for one object while the server is at work for us, and while it is at work for nobody. */
async function besideOthers({ access, kubeconfigPath }: ControlPlane, ours: OurWay, entries: readonly JournalEntry[]) {
  const works: Readonly<Record<string, () => Promise<unknown>>> = {
    nothing: () => new Promise((resolve) => setTimeout(resolve, QUIET_MS)),
    'this program': () => ours.patch(entries),
    'this program, putting back': () => ours.putBack(entries),
    'the load generator': () => patchLoad(access, entries.map(requestOf)),
  };
  const rows: string[] = [];
  for (const [name, work] of Object.entries(works)) {
    const other = bystander(kubeconfigPath);
    await work();
    const took = [...(await other.end())].sort((a, b) => a - b);
    const at = (part: number) => took[Math.floor((took.length - 1) * part)]?.toFixed(1);
    rows.push(`| ${name} | ${at(0.5)} | ${at(0.95)} | ${at(1)} | ${took.length} |`);
  }
  await ours.putBack(entries);
  return ['| beside | another client waits, median ms | 95 % within, ms | longest, ms | answers |', '|---|---|---|---|---|', ...rows];
}

/** One kubectl after the other, as a script in a runbook has it. */
async function shellTime({ kubectl }: ControlPlane, entries: readonly JournalEntry[]): Promise<number> {
  return timed(async () => {
    for (const entry of entries) {
      const { exitCode, stderr } = await kubectl([
        'patch',
        'configmap',
        entry.object.name,
        '--type=json',
        '-p',
        JSON.stringify(opsOf(entry)),
      ]);
      if (exitCode !== 0) throw new Error(stderr);
    }
  });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

const WIDTH = 30;

async function sideBySide<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items[Symbol.iterator]();
  const worker = async () => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: WIDTH }, worker));
}

function table(objects: number, { journalMs, patchMs, backMs }: OurTimes, loadMs: number, sampleMs: number): readonly string[] {
  const shellMs = (sampleMs / SHELL_SAMPLE) * objects;
  const row = (what: string, ms: number) => `| ${what} | ${(ms / 1000).toFixed(2)} | ${((objects / ms) * 1000).toFixed(0)} |`;
  const whole = journalMs + patchMs;
  return [
    '| way | s | objects a second |',
    '|---|---|---|',
    row('this program: journal and patches', whole),
    row('this program: patches alone', patchMs),
    row('this program: references put back', backMs),
    row('load generator, the same patches', loadMs),
    row(`shell loop of \`kubectl patch\`, extrapolated from ${SHELL_SAMPLE}`, shellMs),
    '',
    `${(shellMs / whole).toFixed(0)}× as fast as the shell loop; ${((loadMs / patchMs) * 100).toFixed(0)} % of the load generator's rate; journal ${((journalMs / whole) * 100).toFixed(1)} % of the time.`,
  ];
}
