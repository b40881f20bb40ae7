import type { Profile } from '../kernel/profile.ts';
import type { AnyStage } from '../kernel/stage.ts';
import { chain, rollbackNeeds, runNeeds, usualChain } from './chain.ts';
import { asked, type Needs, needs, type Permission, type PlanScope, reading, writing } from './rights/index.ts';

const READS: readonly string[] = ['get', 'list', 'watch'];

const needsOf = (ids: string): readonly Needs[] => of(chain.filter(({ id }) => id === ids || id.startsWith(`${ids}-`)));
const of = (stages: readonly AnyStage[]): readonly Needs[] => stages.flatMap((stage) => stage.needs);

/** What of a preflight is reading: no dry run, no Secret, and no search of everything, which would be one of Secrets too. */
const readOnly: Needs = (profile, scope) =>
  reading(needsOf('preflight'))
    .flatMap((need) => need(profile, { ...scope, documents: [] }))
    .filter(({ request: { verb, group, resource } }) => READS.includes(verb) && resource !== 'secrets' && group !== '*');

/** The command of a stage. Three stages have one command, `ownerrefs`. */
const commandOf = ({ id }: AnyStage): string => id.replace(/^ownerrefs-.*/, 'ownerrefs');

/** Every command that asks a cluster, with what it needs; the others need no account. Each stage has its own, unless it is said here. */
const commandNeeds: Readonly<Record<string, readonly Needs[]>> = {
  ...Object.fromEntries(chain.map(commandOf).map((command) => [command, writing(needsOf(command))])),
  preflight: reading(needsOf('preflight')),
  'preflight-read-only': [readOnly],
  // With this role besides, preflight may try nodes as well.
  'probe-nodes': [...reading(needsOf('preflight')), needs.lock, ...needsOf('probe-nodes')],
  plan: reading(of(usualChain)),
  run: runNeeds,
  commit: runNeeds,
  rollback: rollbackNeeds,
  // With this role besides, run and wait may probe the network; the namespace is anybody's choice.
  'probe-network': [
    needs.session,
    needs.lock,
    (profile, scope) => needs.networkProbe(profile, { ...scope, probeNamespace: scope.probeNamespace ?? 'default' }),
  ],
  status: [needs.session, needs.recordRead, needs.holdRead, needs.strategyRead],
  report: [needs.session, needs.stateRead],
  apply: [...writing(needsOf('apply')), needs.canary],
  wait: [needs.session, needs.recordRead, ...needsOf('wait')],
  unlock: [needs.session, needs.recordRead, needs.lock],
};

/** Commands for which there is a role. */
export const permittedCommands: readonly string[] = Object.keys(commandNeeds);

/** Everything that a command asks of the account, each once; nothing for a command that asks no cluster. */
export function permissionsOf(command: string, profile: Profile, scope: PlanScope): readonly Permission[] {
  return asked(commandNeeds[command] ?? [], profile, scope);
}
