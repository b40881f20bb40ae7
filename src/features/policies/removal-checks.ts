import { command } from '../../kernel/argv.ts';
import { type Check, type Evidence, notApplicable, type Reading, read } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import { type JudgedCli, storeIsOurs } from '../service-cli/index.ts';
import { type Detail, failed, failIfAny, listed, table } from '../survey/index.ts';

/** What the checks of `policy` look at. */
export interface RemovalJudged {
  /** Stored names of the temporary policy; empty if there is none. */
  readonly stored: readonly string[];
  /** Hosts on which all traffic of a way would be dropped without it. */
  readonly denied: Reading<readonly ({ readonly host: string } & Detail)[]>;
  /** Objects that garbage collection deletes with it. */
  readonly owned: Reading<{ readonly objects: readonly Evidence[]; readonly unread: readonly string[] }>;
  /** True if the user told to delete it, by name. */
  readonly told: boolean;
  /** The CLI, where it is needed: in key-value mode. */
  readonly cli: JudgedCli;
  readonly needsCli: boolean;
  /** The release that the cluster refuses any other CLI for: the installed one. */
  readonly release: string;
}

const NONE = 'there is no temporary policy';

export const removalChecks: readonly Check<RemovalJudged>[] = table({ category: 'follow-up', severity: 'error', ref: '§4.4/7' }, [
  {
    id: 'NS-723',
    title: 'CLI usable for the temporary policy',
    ref: '§4.5/6',
    judge({ cli, needsCli, release }, { goal, profile }) {
      if (!needsCli) return notApplicable('the policy is stored in the API');
      if ('program' in cli) return { status: 'ok', detail: cli.program };
      if (cli.doubt) return notApplicable('see NS-725');
      const isTarget = release === goal.release;
      return failed(
        `${profile.cli.program} of the installed release ${release} cannot be used: ${cli.missing}`,
        isTarget
          ? 'Install it and give it its datastore.'
          : `Before the upgrade the cluster takes that release alone: put ${profile.cli.program} ${release} on PATH and give it its datastore.`,
        { next: isTarget ? command`kubectl netsvc-upgrade cli` : command`${profile.cli.program} version` },
      );
    },
  },
  storeIsOurs,
  /** Deleting it must not cut a host off (§4.4/7). */
  {
    id: 'NS-721',
    title: 'no host depends on the temporary policy alone',
    judge({ stored, denied, told }, { profile }) {
      if (stored.length === 0) return notApplicable(NONE);
      const hosts = read(denied);
      const evidence = hosts.map(({ host, ...texts }) => ({ text: host, ...texts }));
      return failIfAny(evidence, `no host depends on ${profile.temporaryPolicy} alone`, (names) => ({
        because: `${counted(hosts.length, 'host endpoint')} would have all traffic of a direction dropped without ${profile.temporaryPolicy}: ${names}`,
        hint: 'Review the traffic logs of this policy, and add the global policies that allow what these hosts need; the failsafe ports stay open.',
        ...(told ? {} : { severity: 'warning' as const }),
        next: command`kubectl netsvc-upgrade policy`,
      }));
    },
  },
  /** What it owns goes with it, and its copy does not create that again. */
  {
    id: 'NS-726',
    title: 'nothing owned by the temporary policy',
    judge({ stored, owned, told }, { profile }) {
      if (stored.length === 0) return notApplicable(NONE);
      const { objects, unread } = read(owned);
      const name = profile.temporaryPolicy;
      if (objects.length === 0 && unread.length > 0)
        return failed(
          `not everything could be searched for objects that ${name} owns: ${listed(unread)}`,
          'Garbage collection deletes them with the policy. Let this account list these kinds.',
          { severity: 'warning', next: command`kubectl netsvc-upgrade ownerrefs list` },
        );
      return failIfAny(objects, `no object is owned by ${name}`, (names) => ({
        because: `${counted(objects.length, 'object')} owned by ${name}: garbage collection deletes ${objects.length === 1 ? 'it' : 'them'} with the policy: ${names}`,
        hint: 'Remove the policy from metadata.ownerReferences of the objects that you keep. The copy of the policy does not create these objects again.',
        ...(told ? {} : { severity: 'warning' as const }),
        next: command`kubectl netsvc-upgrade ownerrefs list --owner=${`GlobalNetworkPolicy/${name}`}`,
      }));
    },
  },
]);
