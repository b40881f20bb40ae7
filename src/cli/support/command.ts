import { clusterParts, partOf, type SupportPart } from '../../features/support/index.ts';
import { command } from '../../kernel/argv.ts';
import { type ExitName, Fault } from '../../kernel/fault.ts';
import { interrupted } from '../../kernel/interruption.ts';
import { inWordsOf } from '../name.ts';
import { isForPerson, linesText } from '../output.ts';
import type { Seams } from '../seams.ts';
import { type Asked, inSession, type Session } from '../session.ts';
import { tellOut } from '../terminal.ts';
import { bundleFiles, INDEX } from './bundle.ts';
import { assertBundlePlace, writeBundle } from './file.ts';
import { profilePart } from './profile-part.ts';
import { recordParts } from './record-parts.ts';
import { screenLines } from './screen.ts';

/** `report --support FILE`: a file for whoever helps, with all that can be read. Changes nothing in the cluster, and sends nothing. */
export async function runSupportCommand(asked: Asked, file: string, runId: string | undefined, seams: Seams): Promise<ExitName> {
  assertAlone(asked);
  await assertBundlePlace(file);
  return inSession(seams, { ...asked, anyProfile: true, looksOnly: true }, async (session) => {
    const stop = () => {
      if (session.interrupts.soft.aborted) throw interrupted();
    };
    const parts = await gathered(session, runId);
    stop();
    const files = await bundleFiles(headOf(session), parts, stop);
    const bytes = await session.interrupts.finish(() => writeBundle(file, files, session.composition.clock.now()));
    const lines = [
      session.header(),
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

async function gathered(session: Session, runId: string | undefined): Promise<readonly SupportPart[]> {
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
  return [...parts, tool, part, ...(await clusterParts(composition, profile))];
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
