import { readdir, rm } from 'node:fs/promises';
import type { JournalDeps } from '../adapters/journal/owner-journal.ts';
import type { Connection } from '../adapters/kubeconfig/connection.ts';
import type { Ledger } from '../adapters/state/ledger.ts';
import type { PrivateKubeconfig } from '../adapters/tools/private-kubeconfig.ts';
import type { LocalWorkFolder } from '../adapters/work-folder.ts';
import type { Tool } from '../kernel/argv.ts';
import type { Context, Options } from '../kernel/context.ts';
import { isAnswer } from '../kernel/interruption.ts';
import type { Notifier } from '../kernel/ports.ts';
import type { Profile } from '../kernel/profile.ts';
import { runIdOf } from '../kernel/run-record.ts';
import { cliConfigFor } from '../kernel/service-cli.ts';
import { artifactOptionsOf } from './artifact-options.ts';
import { chooseProfile, placeText } from './choose-profile.ts';
import { connectionFlagsOf } from './connection-flags.ts';
import { forPrograms } from './environment.ts';
import { acceptableChecks, stateNamespaceOf, toOptions } from './options.ts';
import type { WithRecord } from './recorded-flags.ts';
import type { ComposeRequest, Composition } from './seams.ts';

/** Joins ports to adapters for one command on one cluster. All adapters that it needs are loaded here, lazily. */
export async function compose(asked: ComposeRequest, version: string): Promise<Composition> {
  // The flags are read by now: no program that is started needs their variables.
  const typed = { ...asked, env: forPrograms(asked.env) };
  const { env, interruption, interactive, warn, trace } = typed;
  const [{ readConnection, privateKubeconfig }, { openCluster }] = await Promise.all([
    import('../adapters/kubeconfig/kubeconfig.ts'),
    import('../adapters/kube/cluster.ts'),
  ]);
  const connection = await readConnection(connectionFlagsOf(typed.flags), env);
  if (connection.cluster['insecure-skip-tls-verify'])
    warn(`the API server ${connection.server} is not verified (insecure-skip-tls-verify): anybody on the network path can impersonate it`);
  const cluster = openCluster(connection, { version, warn, terminal: interactive, trace, interruption });
  // Loaded while the first answer is on its way.
  const [clusterUid] = await Promise.all([cluster.clusterUid(), loadAdapters()]);
  cluster.pin(clusterUid);
  const { flags, recorded } = typed.usesRecord ? await withRecord(typed, cluster, clusterUid) : { flags: typed.flags, recorded: [] };
  const request = { ...typed, flags };
  const profile = await chooseProfile(flags.profile, cluster, request.anyProfile ?? false, placeText(connection));
  const options = toOptions(flags, { defaultRelease: profile.defaultRelease, ...(await acceptableChecks(flags)) });
  const artifacts = await openArtifactsFor(request, profile, options.release);
  const files = await openFiles(request, clusterUid, privateKubeconfig(connection), profile);
  const tools = await openToolsFor(request, profile, files, connection);
  const { secretLedger } = await import('../adapters/state/ledger.ts');
  const ledger = secretLedger(cluster, options.stateNamespace);
  const state = await openState(request, cluster, options, { ...files.ports, ledger });
  const journalOf = { clusterUid, profile: profile.name, startedAt: files.clock.now(), namesFirst: request.looksOnly ?? false };
  const ownerJournal = await openJournal(ledger, options, journalOf);
  return {
    ...files.ports,
    ...state,
    ownerJournal,
    cluster,
    tools,
    artifacts,
    stored: await openStored(profile.name),
    store: {
      ask: async (...asked) => (await import('../adapters/kvstore.ts')).kvstoreProbe.ask(...asked),
      value: async (...asked) => (await import('../adapters/kvstore.ts')).kvstoreProbe.value(...asked),
    },
    interruption,
    toolVersion: version,
    profile,
    recorded,
    context: contextOf(profile, options, connection, clusterUid, files.ports.work.path, files.clock.now()),
    async close() {
      await files.kubeconfig.remove();
      await cluster.close();
    },
  };
}

/** A record that cannot be read is no reason to stop: the flags have defaults. */
async function withRecord({ flags }: ComposeRequest, cluster: Composition['cluster'], clusterUid: string): Promise<WithRecord> {
  const [{ secretLedger }, { recordIn }, { flagsWithRecord }] = await Promise.all([
    import('../adapters/state/ledger.ts'),
    import('../adapters/records/records.ts'),
    import('./recorded-flags.ts'),
  ]);
  const record = await recordIn(secretLedger(cluster, stateNamespaceOf(flags))).catch((thrown: unknown) => {
    if (isAnswer(thrown)) return undefined;
    throw thrown;
  });
  return flagsWithRecord(flags, record, clusterUid);
}

/** Manifests of releases that come with the program; no cluster is needed for them. */
export async function openStored(profile: string): Promise<Composition['stored']> {
  return (await import('../adapters/stored-bases.ts')).storedManifests(profile);
}

/** A run can fail before anything else is joined. */
export async function openNotifierFor(value: string, env: ComposeRequest['env']): Promise<Notifier> {
  return (await import('../adapters/notify/notifier.ts')).openNotifier(value, forPrograms(env));
}

/** The files of every composition; the functions below import them again, which costs nothing then. */
function loadAdapters(): Promise<unknown> {
  return Promise.all([
    import('../adapters/artifacts/artifacts.ts'),
    import('../adapters/work-folder.ts'),
    import('../adapters/tools/tools.ts'),
    import('../adapters/records/records.ts'),
    import('../adapters/lock/lock.ts'),
    import('../adapters/tools/orphans.ts'),
    import('../adapters/machine.ts'),
    import('../adapters/clock.ts'),
    import('../adapters/machine.ts'),
    import('../adapters/journal/owner-journal.ts'),
    import('../adapters/journal/secrets.ts'),
    import('../adapters/state/ledger.ts'),
    import('../adapters/stored-bases.ts'),
    import('./open-folder.ts'),
    import('../adapters/tools/private-kubeconfig.ts'),
  ]);
}

async function openFiles(request: ComposeRequest, clusterUid: string, kubeconfigText: string, profile: Profile) {
  const [{ openFolder }, { localFiles }, { systemClock }, { localMachine }, { privateKubeconfigFile }] = await Promise.all([
    import('./open-folder.ts'),
    import('../adapters/machine.ts'),
    import('../adapters/clock.ts'),
    import('../adapters/machine.ts'),
    import('../adapters/tools/private-kubeconfig.ts'),
  ]);
  const work = await openFolder(request, clusterUid);
  const clock = systemClock();
  await removeStaleKubeconfigs(work.path);
  const ports = { work, clock, files: localFiles(), machine: localMachine() };
  return { ports, clock, kubeconfig: privateKubeconfigFile(work, kubeconfigText, (path) => cliConfigFor(profile, path)) };
}

/** A killed process leaves its private kubeconfig behind: credentials must not stay on disk. */
async function removeStaleKubeconfigs(folder: string): Promise<void> {
  const [{ ownerOfKubeconfig }, { isRunning }] = await Promise.all([
    import('../adapters/tools/orphans.ts'),
    import('../adapters/records/run-identity.ts'),
  ]);
  const stale = (await readdir(folder)).filter((name) => {
    const pid = ownerOfKubeconfig(name);
    return pid !== undefined && !isRunning(pid);
  });
  await Promise.all(stale.map((name) => rm(`${folder}/${name}`, { force: true })));
}

async function openToolsFor(
  { env, trace, interruption }: ComposeRequest,
  profile: Profile,
  { kubeconfig, ports }: { readonly kubeconfig: PrivateKubeconfig; readonly ports: { readonly work: LocalWorkFolder } },
  connection: Connection,
) {
  const { openTools } = await import('../adapters/tools/tools.ts');
  const programs = { kubectl: 'kubectl', helm: 'helm', netsvcctl: profile.cli.program };
  const timeout = connection.requestTimeoutMs === undefined ? {} : { requestTimeout: `${connection.requestTimeoutMs}ms` };
  const { rememberAnswers } = await import('../adapters/tools/tools.ts');
  const { path: kubeconfigPath, cliConfigPath, write, writeForCli } = kubeconfig;
  const pinned = {
    kubeconfigPath,
    written: ports.work.written,
    ...(cliConfigPath === undefined ? {} : { cliConfigPath }),
    prepare: (tool: Tool) => (tool === 'netsvcctl' ? writeForCli() : write()),
  };
  return rememberAnswers(
    openTools({ ...pinned, env, programs, cliEnvironment: profile.cli.environment, trace, cut: interruption.hard, ...timeout }),
  );
}

async function openArtifactsFor(request: ComposeRequest, profile: Profile, target: string) {
  const { openArtifacts } = await import('../adapters/artifacts/artifacts.ts');
  return openArtifacts({
    ...artifactOptionsOf(request, profile),
    sums: {
      target,
      given: await givenSumsOf(request.flags['artifact-digest']),
      shipped: async (release, path) => (await import('../adapters/artifacts/known-digests.ts')).knownDigest(profile.name, release, path),
    },
  });
}

async function givenSumsOf(values: readonly string[] = []): Promise<ReadonlyMap<string, string>> {
  return values.length === 0 ? new Map() : (await import('../adapters/artifacts/known-digests.ts')).givenSums(values);
}

async function openState(
  { interruption, warn }: ComposeRequest,
  cluster: Composition['cluster'],
  options: Options,
  { clock, work, ledger }: Pick<Composition, 'clock' | 'work'> & { readonly ledger: Ledger },
) {
  const [{ keptHere, ledgerRecords, seenHere }, { leaseLock, lockWith }, identity, orphans, waiting] = await Promise.all([
    import('../adapters/records/records.ts'),
    import('../adapters/lock/lock.ts'),
    import('../adapters/records/run-identity.ts'),
    import('../adapters/tools/orphans.ts'),
    import('../adapters/tools/orphans.ts'),
  ]);
  const namespace = options.stateNamespace;
  const awaitOrphans = (lastHolder = '') => {
    const stopped = identity.pidHere(lastHolder);
    const holds = (pid: number) => pid !== stopped && identity.isRunning(pid);
    return waiting.awaitOrphans({ orphans: () => orphans.orphansOf(work.path, holds), clock, say: warn, stop: interruption.soft });
  };
  const { isGone } = identity;
  return {
    records: ledgerRecords(ledger, keptHere(work), seenHere(work)),
    // While the lock is held, nobody else writes the state.
    lock: lockWith(leaseLock({ cluster, clock, namespace, identity: identity.runIdentity(), isGone, awaitOrphans }), ledger),
    operator: identity.operatorName(),
  };
}

async function openJournal(
  ledger: Ledger,
  { stateNamespace, journalDir, accept }: Options,
  { startedAt, ...journalOf }: Pick<JournalDeps, 'clusterUid' | 'profile' | 'namesFirst'> & { readonly startedAt: Date },
) {
  const [{ ownerJournal }, { journalSecrets }] = await Promise.all([
    import('../adapters/journal/owner-journal.ts'),
    import('../adapters/journal/secrets.ts'),
  ]);
  const deps = {
    ...journalOf,
    place: journalSecrets(ledger, stateNamespace, journalOf.namesFirst),
    runId: runIdOf(startedAt, journalOf.clusterUid),
  };
  if (journalDir === undefined) return ownerJournal(deps);
  const [{ copiedJournal }, { journalFolder }] = await Promise.all([
    import('../adapters/journal/folder.ts'),
    import('../adapters/journal/folder.ts'),
  ]);
  const isTrusted = accept.some(({ check, subject }) => check === 'NS-751' && subject === undefined);
  return copiedJournal(deps, journalFolder(journalDir), isTrusted);
}

function contextOf(
  profile: Profile,
  options: Options,
  connection: Connection,
  clusterUid: string,
  workFolder: string,
  startedAt: Date,
): Context {
  const { server, contextName, ownFile } = connection;
  const own = ownFile === undefined ? {} : { kubeconfig: ownFile };
  return { profile, options, clusterUid, server, contextName, ...own, workFolder, startedAt };
}
