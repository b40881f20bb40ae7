import { clusterParts, partOf, reasonOf, type SupportPart } from '../../features/support/index.ts';
import { command } from '../../kernel/argv.ts';
import { counted } from '../../kernel/counted.ts';
import { actionTexts } from '../../kernel/effect-type.ts';
import { type ExitName, Fault } from '../../kernel/fault.ts';
import { withoutHiddenValues, withoutNamedCredentials } from '../../kernel/hidden.ts';
import { interrupted } from '../../kernel/interruption.ts';
import type { Profile } from '../../kernel/profile.ts';
import type { RunRecord } from '../../kernel/run-record.ts';
import { chooseProfile, namedProfile } from '../../profiles/choose.ts';
import type { Palette } from '../../report/colour.ts';
import { clip } from '../../report/columns.ts';
import { recordedReport, recordOf } from '../ending/recorded.ts';
import { isForPerson, linesText, outputText } from '../output.ts';
import type { Seams } from '../seams.ts';
import { type Asked, inSession, type Session } from '../session.ts';
import { NO_RUN, recordedHead } from '../status-command.ts';
import { inWordsOf, tellOut } from '../terminal.ts';
import { assertBundlePlace, bundleFiles, INDEX, writeBundle } from './file.ts';

/** `report --support FILE`: a file for whoever helps, with all that can be read. Changes nothing in the cluster, and sends nothing. */
export async function runSupportCommand(asked: Asked, file: string, runId: string | undefined, seams: Seams): Promise<ExitName> {
  assertAlone(asked);
  await assertBundlePlace(file);
  return inSession(seams, { ...asked, anyProfile: true, looksOnly: true }, async (session) => {
    const stop = () => {
      if (session.interrupts.soft.aborted) throw interrupted();
    };
    const { record, parts } = await gathered(session, runId);
    stop();
    const files = await bundleFiles(headOf(session), parts, stop);
    const bytes = await session.interrupts.finish(() => writeBundle(file, files, session.composition.clock.now()));
    const lines = [
      session.header(),
      ...(record ? await recordedHead(session, record) : [NO_RUN]),
      ...screenLines({ file, files: files.length, bytes, parts, palette: session.outPalette }),
      command`Next: tar -xzOf ${file} netsvc-upgrade-support/${INDEX}`,
    ];
    tellOut(seams.terminal, inWordsOf(seams.name, linesText(lines)));
    return 'done';
  });
}

/** The bundle holds the report in every form that is of use. */
function assertAlone({ flags }: Asked): void {
  const other = flags['report-file'] !== undefined ? '--report-file' : isForPerson(flags.output) ? undefined : `-o ${flags.output}`;
  if (other === undefined) return;
  throw new Fault('usage', `--support writes the report into its file already: ${other} has no place beside it`, [
    `leave ${other} out, or use it without --support`,
  ]);
}

async function gathered(session: Session, runId: string | undefined): Promise<RecordParts> {
  const { composition, context } = session;
  const { record, parts } = await recordParts(session, runId);
  const { profile, part } = await profilePart(session, record);
  const { commandLine, at, toolVersion } = session.made();
  const tool = await partOf('tool.yaml', 'versions of this program, of Node and of the API server', async () => ({
    tool: { version: toolVersion, commandLine, at, node: process.version, platform: process.platform, arch: process.arch },
    profile: profile.name,
    cluster: {
      uid: context.clusterUid,
      context: context.contextName,
      server: context.server,
      version: await composition.cluster.version(),
    },
  }));
  return { record, parts: [...parts, tool, part, ...(await clusterParts(composition, profile))] };
}

function headOf(session: Session): readonly string[] {
  const { commandLine, at, toolVersion } = session.made();
  const { contextName, server, clusterUid } = session.context;
  return [
    `Bundle for support, made at ${at} by version ${toolVersion}: ${commandLine}`,
    `Cluster: context "${contextName}", ${server}, UID ${clusterUid}`,
    'No Secret was read but those that this program keeps its own state in. What looks like a credential is "(hidden)".',
  ];
}

interface ChosenProfile {
  readonly profile: Profile;
  readonly part: SupportPart;
}

/** The names that the service is looked for by: of the flag, of the run record, or detected. That none fits is no reason to stop. */
async function profilePart(session: Session, record: RunRecord | undefined): Promise<ChosenProfile> {
  const { composition, context, asked } = session;
  const named = (profile: Profile): ChosenProfile => ({
    profile,
    part: { path: 'profile.yaml', what: `the profile ${profile.name}: the names that the service is looked for by`, content: profile },
  });
  if (asked.flags.profile !== undefined) return named(composition.profile);
  // A run with a profile of its own has its name alone in the record.
  const recorded = record && (await namedProfile(record.profile).catch(() => undefined));
  if (recorded) return named(recorded);
  try {
    return named(await chooseProfile(undefined, composition.cluster, false, context));
  } catch (thrown) {
    const { profile } = composition;
    const unread = `${reasonOf(thrown)}; looked for by the names of ${profile.name}`;
    return { profile, part: { path: 'profile.yaml', what: 'the profile', unread } };
  }
}

interface RecordParts {
  readonly record?: RunRecord;
  readonly parts: readonly SupportPart[];
}

/** What the run left in the cluster: record, report and lock, or that there was no run. Throws Fault('usage') for an unknown run id. */
async function recordParts(session: Session, runId: string | undefined): Promise<RecordParts> {
  const holder = () => session.composition.lock.holder();
  const lock = await partOf('lock.yaml', 'who holds the lock', async () => (await holder()) ?? { lock: 'free' });
  try {
    const record = await recordOf(session.composition.records, runId);
    const kept: SupportPart = { path: 'record.json', what: `the record of run ${record.runId}`, content: record };
    return { record, parts: [...(await reportParts(session, record)), kept, lock] };
  } catch (thrown) {
    if (runId !== undefined && thrown instanceof Fault && thrown.code === 'usage') throw thrown;
    return { parts: [{ path: 'record.json', what: 'the record and the report of a run', unread: reasonOf(thrown) }, lock] };
  }
}

async function reportParts(session: Session, record: RunRecord): Promise<readonly SupportPart[]> {
  const what = `the report of run ${record.runId}`;
  const named = (['json', 'md', 'html'] as const).map((suffix) => ({ path: `report.${suffix}`, what }));
  try {
    const document = withoutHiddenValues({ ...(await recordedReport(session, record)), made: session.made() });
    const textOf = async () => actionTexts(await session.seams.loadEffects(), session.composition.tools.programOf);
    const texts = await Promise.all((['markdown', 'html'] as const).map((format) => outputText(document, format, () => [], textOf)));
    const contents = [document, ...texts];
    return named.map((part, index) => ({ ...part, content: contents[index] ?? '' }));
  } catch (thrown) {
    // What is kept of a report may hold what this program never writes.
    const isForeign = thrown instanceof TypeError || thrown instanceof RangeError;
    const unread = isForeign ? 'it cannot be shown: something else wrote into what was kept of it' : reasonOf(thrown);
    return named.map((part) => ({ ...part, unread }));
  }
}

interface Written {
  readonly file: string;
  readonly files: number;
  readonly bytes: number;
  readonly parts: readonly SupportPart[];
  readonly palette: Palette;
}

/** Of what could not be read; the index has the rest. */
const SHOWN = 5;

/** What was written, what is in it, what is not, and what to do before it is sent to somebody. */
function screenLines({ file, files, bytes, parts, palette }: Written): readonly string[] {
  const missing = parts.filter(({ unread }) => unread !== undefined);
  return [
    `${palette.good('✔')} ${file}: ${counted(files, 'file')}, ${sizeText(bytes)}, readable by you alone`,
    `  ${heldText(parts)}`,
    ...(missing.length > 0 ? [palette.warn(`${counted(missing.length, 'entry', 'entries')} could not be read and are left out:`)] : []),
    ...missing.slice(0, SHOWN).map(({ path, unread = '' }) => `  ${path}: ${clip(withoutNamedCredentials(unread), 160)}`),
    ...(missing.length > SHOWN ? [`  and ${missing.length - SHOWN} more, in index.txt of the bundle`] : []),
    'Look through it before you send it to somebody: it holds names of nodes, pods and images, and lines of logs.',
    'Secrets of the cluster were not read, and what looks like a credential is masked.',
    'Nothing was changed by this command, and nothing was sent anywhere.',
  ];
}

function heldText(parts: readonly SupportPart[]): string {
  const held = parts.filter(({ content }) => content !== undefined);
  const under = (folder: string) => held.filter(({ path }) => path.startsWith(folder)).length;
  const isThere = (path: string) => held.some((one) => one.path === path);
  return [
    isThere('report.json') ? 'report (JSON, Markdown, HTML)' : 'no report',
    isThere('record.json') ? 'run record' : 'no run record',
    ...(isThere('lock.yaml') ? ['lock'] : []),
    counted(under('workloads/'), 'workload'),
    counted(under('pods/'), 'pod'),
    under('logs/') === 0 ? 'no logs' : `${counted(under('logs/'), 'log')} of containers that are not ready`,
    `events of ${counted(under('events/'), 'namespace')}`,
    ...(isThere('nodes.json') ? ['nodes'] : []),
    'versions and profile',
  ].join(', ');
}

function sizeText(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
