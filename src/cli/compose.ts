import { openArtifacts } from '../adapters/artifacts/artifacts.ts';
import { systemClock } from '../adapters/clock.ts';
import { journalStore } from '../adapters/journal/journal.ts';
import { journalSecrets } from '../adapters/journal/secrets.ts';
import { openCluster } from '../adapters/kube/cluster.ts';
import { chosenContext } from '../adapters/kubeconfig/chosen-context.ts';
import type { Connection } from '../adapters/kubeconfig/connection.ts';
import { privateKubeconfig, readConnection } from '../adapters/kubeconfig/kubeconfig.ts';
import { isGone, isRunning, operatorName, pidHere, runIdentity } from '../adapters/lock/lease.ts';
import { leaseLock } from '../adapters/lock/lock.ts';
import { localFiles, localMachine } from '../adapters/machine.ts';
import { parseRecord } from '../adapters/records/parse-record.ts';
import { ledgerRecords, recordIn, recordStateIn } from '../adapters/records/records.ts';
import { type Ledger, secretLedger } from '../adapters/state/ledger.ts';
import { storedManifests } from '../adapters/stored-bases.ts';
import { awaitOrphans, orphansOf } from '../adapters/tools/orphans.ts';
import { type PrivateKubeconfig, privateKubeconfigFile, removeStaleKubeconfigs } from '../adapters/tools/private-kubeconfig.ts';
import { openTools, rememberAnswers } from '../adapters/tools/tools.ts';
import { openUserCommands, type StartWith } from '../adapters/user-commands.ts';
import { type LocalWorkFolder, openFolder } from '../adapters/work-folder.ts';
import type { Tool } from '../kernel/argv.ts';
import { Fault } from '../kernel/fault.ts';
import type { IntentKind } from '../kernel/intent.ts';
import { isAnswer } from '../kernel/interruption.ts';
import type { Notifier } from '../kernel/ports.ts';
import { cliConfigFor, type Profile } from '../kernel/profile.ts';
import { type Records, recordHere, runIdOf } from '../kernel/run-record.ts';
import { AGAIN } from '../kernel/step.ts';
import { chooseProfile, firstShipped, namedProfile } from '../profiles/choose.ts';
import { forPrograms } from './command-line.ts';
import { acceptableChecks, askedFor } from './options.ts';
import { flagsWithRecord, recordedRelease } from './recorded-flags.ts';
import { goalBack } from './rollback-goal.ts';
import type { ComposeRequest, Composition } from './seams.ts';
import { onOneCluster, userCommandTexts } from './user-commands.ts';

/** Joins ports to adapters for one command on one cluster. This file is loaded when a command asks a cluster, and the adapters with it. */
export async function compose(asked: ComposeRequest, version: string): Promise<Composition> {
  // The flags are read by now: no program that is started needs their variables.
  const typed = { ...asked, env: forPrograms(asked.env) };
  const { env, interruption, interactive, warn, trace } = typed;
  const connection = await readConnection(typed.flags, env);
  const { server, contextName, ownFile } = connection;
  asked.meant?.(connection);
  const startWith = await refuseWrong(typed);
  if (connection.cluster['insecure-skip-tls-verify'])
    warn(`the API server ${server} is not verified (insecure-skip-tls-verify): anybody on the network path can impersonate it`);
  const cluster = openCluster(connection, { version, warn, terminal: interactive, trace, interruption });
  const clusterUid = await cluster.clusterUid();
  cluster.pin(clusterUid);
  const { flags, recorded } = await withRecord(typed, cluster, clusterUid);
  const request = { ...typed, flags };
  const profile = await chooseProfile(flags.profile, cluster, request.anyProfile ?? false, connection);
  const ledger = secretLedger(cluster);
  const records = ledgerRecords(ledger);
  const meant = await intentOf(request, records, clusterUid);
  const { kind, to: release = flags.release } = meant;
  const isBack = kind === 'rollback';
  const facts = { defaultRelease: profile.defaultRelease, ...(await acceptableChecks(flags)) };
  const flagged = askedFor(isBack ? flags : { ...flags, release }, facts);
  const goal = isBack ? await goalBack(records, { clusterUid, profile, readRecord }) : flagged.goal;
  const wanted = { ...flagged, goal };
  const work = await openFolder(request, clusterUid);
  await removeStaleKubeconfigs(work.path, isRunning);
  const credential = connection.user['auth-provider'] ? 'renewed by kubectl' : 'as written';
  const kubeconfig = privateKubeconfigFile(work, privateKubeconfig(connection), (path) => cliConfigFor(profile, path), credential);
  const clock = systemClock();
  const startedAt = clock.now();
  // What performs no stage takes no lock, and asks for nothing more.
  const recordState = request.chain && { recordState: () => recordStateIn(ledger) };
  const lease = { cluster, clock, identity: runIdentity(), isGone, ...recordState };
  const context = {
    ...{ profile, ...wanted, intent: { kind }, clusterUid },
    ...{ server, contextName, kubeconfig: ownFile, workFolder: work.path, startedAt },
  };
  return {
    work,
    clock,
    files: localFiles(),
    machine: localMachine(),
    records,
    lock: leaseLock({ ...lease, ...pausing(request, clock), awaitOrphans: awaiting(request, work.path, clock) }),
    operator: operatorName(),
    journal: openJournal(ledger, context),
    cluster,
    commands: startWith(() => chosenContext(connection, typed.flags, env, work)),
    tools: toolsFor(request, profile, { kubeconfig, work }, connection),
    artifacts: openArtifacts({
      ...artifactOptionsOf(request, profile),
      sums: {
        target: wanted.goal.release,
        given: await givenSumsOf(flags['artifact-digest']),
        shipped: async (release, path) => (await import('../adapters/artifacts/known-digests.ts')).knownDigest(profile.name, release, path),
      },
    }),
    stored: openStored(profile.name),
    store: {
      ask: async (...one) => (await import('../adapters/kvstore.ts')).kvstoreProbe.ask(...one),
      value: async (...one) => (await import('../adapters/kvstore.ts')).kvstoreProbe.value(...one),
    },
    interruption,
    toolVersion: version,
    profile,
    recorded: [...recorded, ...recordedRelease(flags, meant, profile.defaultRelease)],
    context,
    async close() {
      await kubeconfig.remove();
      await cluster.close();
    },
  };
}

/** What the command is for. One that continues whatever is unfinished goes where the recorded run goes, unless another release was typed. */
export async function intentOf(
  { chain, flags: { release } }: Pick<ComposeRequest, 'chain' | 'flags'>,
  records: Pick<Records, 'load'>,
  clusterUid: string,
): Promise<{ readonly kind: IntentKind; readonly to?: string }> {
  const { intent: usual = 'upgrade', goesOn = false } = chain ?? {};
  const record = goesOn ? recordHere(await records.load(), { clusterUid }) : undefined;
  if (record === undefined || record.finishedAt !== undefined) return { kind: usual };
  return release === undefined || release === record.intent.to ? record.intent : { kind: usual };
}

/** Of an earlier run, as it is kept. */
export function readRecord(content: unknown) {
  return parseRecord(JSON.stringify(content), 'the state of this program');
}

/** A value that is wrong is so on every cluster: it is refused before one is asked. */
async function refuseWrong({ flags, env }: Pick<ComposeRequest, 'flags' | 'env'>): Promise<StartWith> {
  const { defaultRelease } = flags.profile === undefined ? firstShipped() : namedProfile(flags.profile);
  askedFor(flags, { defaultRelease, ...(await acceptableChecks(flags)) });
  await givenSumsOf(flags['artifact-digest']);
  const binDir = flags['bin-dir'];
  // Its stage may be one of a later command.
  if (binDir !== undefined) await (await import('../features/service-cli/index.ts')).refuseNoFolder(localFiles(), binDir);
  return openUserCommands(onOneCluster(userCommandTexts(flags), flags), env);
}

/** A record that cannot be read is no reason to stop: the flags have defaults. */
async function withRecord(request: ComposeRequest, cluster: Composition['cluster'], clusterUid: string) {
  const { flags, agree, usesRecord: uses, interactive, chain } = request;
  // Without a terminal a run takes nothing: one request less.
  if (!uses || !agree || (uses === 'resumes' && !interactive)) return { flags, recorded: [] };
  const record = await recordIn(secretLedger(cluster)).catch((thrown: unknown) => {
    if (isAnswer(thrown)) return undefined;
    throw thrown;
  });
  const intent = chain?.goesOn ? undefined : (chain?.intent ?? 'upgrade');
  return flagsWithRecord(flags, record, { clusterUid, uses, intent, agree });
}

/** Manifests of releases that come with the program; no cluster is needed for them. */
export function openStored(profile: string): Composition['stored'] {
  return storedManifests(profile);
}

/** A run can fail before anything else is joined. */
export async function openNotifierFor(value: string, env: ComposeRequest['env']): Promise<Notifier> {
  return (await import('../adapters/notifier.ts')).openNotifier(value, forPrograms(env));
}

function toolsFor(
  { env, trace, interruption }: ComposeRequest,
  profile: Profile,
  { kubeconfig, work }: { readonly kubeconfig: PrivateKubeconfig; readonly work: LocalWorkFolder },
  { requestTimeoutMs }: Connection,
) {
  const programs = { kubectl: 'kubectl', helm: 'helm', netsvcctl: profile.cli.program };
  const requestTimeout = requestTimeoutMs === undefined ? undefined : `${requestTimeoutMs}ms`;
  const { path: kubeconfigPath, cliConfigPath, write, writeForCli } = kubeconfig;
  const pinned = {
    kubeconfigPath,
    written: work.written,
    cliConfigPath,
    prepare: (tool: Tool) => (tool === 'netsvcctl' ? writeForCli() : write()),
  };
  return rememberAnswers(
    openTools({ ...pinned, env, programs, cliEnvironment: profile.cli.environment, trace, cut: interruption.hard, requestTimeout }),
  );
}

/** Where the release's files come from. */
export function artifactOptionsOf(
  { flags, env, trace, interruption }: Pick<ComposeRequest, 'flags' | 'env' | 'trace' | 'interruption'>,
  profile: Profile,
) {
  // Besides the system's. By default a private mirror's certificate is checked by the API server's authority.
  const certificateAuthority = flags['manifest-ca'] ?? flags['certificate-authority'];
  return {
    source: flags['manifest-url'] ?? profile.manifestUrl ?? '',
    env,
    lastKnownRelease: profile.defaultRelease,
    trace,
    cut: interruption.hard,
    certificateAuthority,
  };
}

async function givenSumsOf(values: readonly string[] = []): Promise<ReadonlyMap<string, string>> {
  return values.length === 0 ? new Map() : (await import('../adapters/artifacts/known-digests.ts')).givenSums(values);
}

/** Programs of a run that is gone, or whose process is stopped, may still write. */
function awaiting({ interruption, warn }: ComposeRequest, folder: string, clock: Composition['clock']) {
  return (lastHolder = '') => {
    const stopped = pidHere(lastHolder);
    const holds = (pid: number) => pid !== stopped && isRunning(pid);
    return awaitOrphans({ orphans: () => orphansOf(folder, holds), clock, say: warn, stop: interruption.soft });
  };
}

/** Ctrl-C ends the wait for a lease. */
function pausing({ interruption: { soft }, warn }: ComposeRequest, clock: Composition['clock']) {
  const pause = (ms: number) =>
    clock.sleep(ms, soft).catch((thrown: unknown) => {
      throw soft.aborted ? new Fault('interrupted', 'stopped while waiting for the lock', [AGAIN]) : thrown;
    });
  return { pause, say: warn };
}

function openJournal(ledger: Ledger, { clusterUid, profile, startedAt }: Composition['context']) {
  const form = async () => (await import('../features/ownerrefs/journal-form.ts')).ownerEntries;
  const place = journalSecrets(ledger);
  return journalStore({ place, form, clusterUid, profile: profile.name, runId: runIdOf(startedAt, clusterUid) });
}
