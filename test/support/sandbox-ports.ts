import { effects } from '../../src/cli/effects.ts';
import { askedFor } from '../../src/cli/options.ts';
import { undoOf } from '../../src/cli/stage-command.ts';
import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { runChain } from '../../src/engine/run-chain.ts';
import { checkTitles } from '../../src/features/chain.ts';
import { ownerEntries } from '../../src/features/ownerrefs/journal-form.ts';
import type { Context } from '../../src/kernel/context.ts';
import type { EnginePorts } from '../../src/kernel/effect-type.ts';
import type { Observer } from '../../src/kernel/event.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import type { AnyStage } from '../../src/kernel/stage.ts';
import type { Sentinel } from '../../src/kernel/user-command.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import { virtualClock } from '../../src/sandbox/clock.ts';
import * as sandbox from '../../src/sandbox/sandbox-ports.ts';
import { installedScenario, type Scenario, type ScenarioOptions } from '../../src/sandbox/scenario.ts';
import { folderReleases, ownReleases } from './releases.ts';

interface InstalledOptions extends Partial<ScenarioOptions> {
  readonly releasesFolder?: string;
}

/** The service under the document's names in memory, on two nodes unless said. */
export function installedSandbox({ releasesFolder = ownReleases, ...options }: InstalledOptions = {}): Promise<Scenario> {
  const releases = folderReleases(releasesFolder);
  const usual = { profile: netsvc, nodes: 2, installed: 'v3.26.4', file: 'netsvc.yaml', clock: virtualClock() };
  return installedScenario({ ...usual, releases, ...options });
}

/** The ports of a sandbox with all that actions may do. */
export function sandboxPorts(scenario: Scenario, options?: sandbox.ProcessOptions): ReturnType<typeof sandbox.sandboxPorts> & EnginePorts {
  return { ...sandbox.sandboxPorts(scenario, ownerEntries, options), effects };
}

export type Flags = Parameters<typeof askedFor>[0];

export function contextIn({ clock, clusterUid, workFolder }: Scenario, flags: Flags = {}, profile: Profile = netsvc): Context {
  const wanted = askedFor(flags, { defaultRelease: profile.defaultRelease, checks: Object.keys(checkTitles) });
  return {
    profile,
    ...wanted,
    intent: { kind: 'upgrade' },
    server: 'sandbox',
    contextName: 'sandbox',
    clusterUid,
    workFolder,
    startedAt: clock.now(),
  };
}

interface Performing {
  readonly profile?: Profile;
  readonly ports?: EnginePorts;
  readonly observe?: Observer;
  readonly sentinel?: Sentinel;
}

/** A new process performs the stages. */
export function performIn(
  scenario: Scenario,
  stages: readonly AnyStage[],
  flags: Flags = {},
  { profile, ports = sandboxPorts(scenario), observe = () => undefined, sentinel }: Performing = {},
): Promise<ChainOutcome> {
  return runChain(flags.undo ? undoOf(stages) : stages, ports, contextIn(scenario, flags, profile), observe, { sentinel });
}

/** Installed from a file in which the user wrote a version of the CNI that the release has changed since. */
export function writeCniVersion({ cluster: { store } }: Scenario, version: string, released = '0.3.1'): void {
  const before = store.get(K.ConfigMap, 'netsvc-config', 'kube-system');
  if (!before) throw new Error('the sandbox has no ConfigMap netsvc-config');
  const after = JSON.stringify(before).replaceAll(
    new RegExp(`(cniVersion[\\\\": ]+)${released}`, 'g'),
    (_, head: string) => `${head}${version}`,
  );
  store.update(K.ConfigMap, JSON.parse(after) as KubeObject);
}
