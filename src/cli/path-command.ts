import { findWay, minorNumber, type Stand, testedLine } from '../features/tested-way/index.ts';
import { command } from '../kernel/command.ts';
import { type ExitName, Fault } from '../kernel/fault.ts';
import type { Profile } from '../kernel/profile.ts';
import { parseRelease, releaseTag } from '../kernel/release.ts';
import { text } from '../kernel/step.ts';
import { firstShipped, namedProfile } from '../profiles/choose.ts';
import { shippedProfiles } from '../profiles/index.ts';
import { palette } from '../report/colour.ts';
import type { CarriedFlag } from './carried.ts';
import { readRelease } from './options.ts';
import { documentOf, type Question, structured, textOf } from './path-answer.ts';
import type { Seams } from './seams.ts';
import { type Asked, inSession, type Session } from './session.ts';
import { tellOut } from './terminal.ts';

/** `path`: the tested way from a release and a Kubernetes to the target; what is not said is read of the cluster. */
export async function runPathCommand(asked: Asked, seams: Seams): Promise<ExitName> {
  const { from: release, kubernetes } = asked.flags as Omit<Asked['flags'], 'from'> & { readonly from?: string };
  const said = {
    ...(release === undefined ? {} : { release: readStart(release) }),
    ...(kubernetes === undefined ? {} : { minor: readMinor(kubernetes) }),
  };
  // They belong to this question, not to the commands of its answer.
  const carried = asked.carried.filter(({ name }) => !['from', 'path', 'release'].includes(name));
  if (said.release !== undefined && said.minor !== undefined) {
    const profile = asked.flags.profile === undefined ? withTable() : namedProfile(asked.flags.profile);
    const { path = 'manifest' } = asked.flags;
    const goal = readRelease(asked.flags.release, profile.defaultRelease);
    return answer({ profile, start: { release: said.release, minor: said.minor }, goal, path, carried, cluster: null }, asked, seams);
  }
  return inSession(seams, { ...asked, looksOnly: true }, async (session) => answer(await ofCluster(session, said, carried), asked, seams));
}

async function ofCluster(session: Session, said: Partial<Stand>, carried: readonly CarriedFlag[]): Promise<Question> {
  const { composition, context } = session;
  const { profile, goal, clusterUid: uid, server, contextName } = context;
  const { readInstalled } = await import('../features/survey/detect.ts');
  const installation = await readInstalled(composition, context);
  const minor = said.minor ?? minorNumber((await composition.cluster.version()).minor);
  const release = said.release ?? installation.release;
  if (release === undefined)
    throw new Fault('blocked', 'which release is installed is not clear', [
      text`say it: ${command`kubectl netsvc-upgrade path --from v3.27.5`}`,
    ]);
  const cluster = { uid, server, context: contextName };
  return { profile, start: { release, minor }, goal: goal.release, path: installation.path, carried, cluster };
}

async function answer(question: Question, { flags }: Asked, { terminal, env }: Seams): Promise<ExitName> {
  const { profile, start, goal } = question;
  const way = findWay(profile, start, goal);
  if (!way) throw unknownLine(profile, start.release, goal);
  assertKnown(profile, flags.kubernetes);
  const document = documentOf(way, question);
  if (flags.output === 'table') tellOut(terminal, textOf(document, way, question, palette({ isTerminal: terminal.outIsTerminal, env })));
  else terminal.out(await structured(document, flags.output));
  return document.exit.code;
}

function unknownLine(profile: Profile, from: string, goal: string): Fault {
  const { testedLines: lines, name } = profile;
  const [first] = lines;
  const known = `${first?.line} to ${lines.at(-1)?.line}`;
  if (lines.length < 2)
    return new Fault('usage', `the profile ${name} does not say what its releases were tested with`, [
      text`a profile that does: ${command`kubectl netsvc-upgrade path --profile calico --from v3.27.5 --kubernetes 1.29`}`,
    ]);
  const unknown = testedLine(profile, from) ? `--release ${goal}` : `--from ${from}`;
  return new Fault('usage', `${unknown}: which versions of Kubernetes it was tested with is not known`, [`name a release of ${known}`]);
}

function readStart(text: string): string {
  // A line stands for its first release: the way is that of any other.
  const release = parseRelease(/^v?\d+\.\d+$/.test(text.trim()) ? `${text.trim()}.0` : text);
  if (release) return releaseTag(release);
  throw new Fault('usage', `--from ${text} is no release`, ['write it as --from v3.27.5']);
}

/** `1.31`, `v1.31.4`; whether it is known is asked once the profile is. */
function readMinor(text: string): number {
  const [, minor] = /^v?1\.(\d{1,3})(?:\.\d+)?\+?$/.exec(text.trim()) ?? [];
  if (minor !== undefined) return Number(minor);
  throw new Fault('usage', `--kubernetes ${text} is no minor of Kubernetes`, ['write it as --kubernetes 1.31']);
}

function assertKnown({ testedLines }: Profile, said: string | undefined): void {
  if (said === undefined) return;
  const known = testedLines.flatMap(({ kubernetes }) => kubernetes.map(minorNumber));
  const [first, last] = [Math.min(...known), Math.max(...known)];
  const minor = readMinor(said);
  if (first <= minor && minor <= last) return;
  throw new Fault('usage', `--kubernetes ${said}: no release is known here that was tested with it`, [
    `name one of 1.${first} to 1.${last}`,
  ]);
}

/** Without a cluster: the service that a table is known of. */
const withTable = () => shippedProfiles.find(({ testedLines }) => testedLines.length > 1) ?? firstShipped();
