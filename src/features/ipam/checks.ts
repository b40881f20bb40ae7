import { command } from '../../kernel/argv.ts';
import { type Check, notApplicable, ok, type Reading, read, type Verdict } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import type { Profile } from '../../kernel/profile.ts';
import { failIfAny } from '../survey/index.ts';
import type { IpamFault } from './faults.ts';
import type { HalfMoved } from './half-moved.ts';
import type { IpamFacts } from './survey.ts';

type Wrong = IpamFault | HalfMoved;

/** What to do about each kind of fault (upstream’s `ipam check`). */
function advice(kind: Wrong['kind'], { cli: { program }, ipam }: Profile): string {
  switch (kind) {
    case 'unbooked':
      return 'A pod with an address of a pool that no block has: it was started by another CNI plugin, or its entry was lost. Restart these pods before the upgrade: they get addresses that are noted.';
    case 'without-pool':
      return 'Addresses of pods in a block that lies in no pool: create that pool again, with disabled: true if no new pod shall get its addresses, until the last of these pods has been restarted.';
    case 'half-released':
      return `An affinity or block whose claim or release was never ended keeps its addresses from other nodes. The controllers, or the agent of its node, end it if they run. If it stays, see with ${program} ipam check that nothing uses it, then delete the object.`;
    case 'twice-claimed':
      return `A block with two affinities: see which node spec.affinity of the ${ipam?.blocks.kind ?? 'block'} names. Move pods of the other node that have an address in the block, then delete the affinity of that other node.`;
    case 'tunnel':
      return 'A tunnel address without an allocation may be given to a pod as well. Restart the agent of that node: it takes another address, and the tunnel of the node changes in that moment.';
    case 'left-over':
      return `An allocation whose pod or node is gone: the controllers take it back within 15 minutes if they run. If it stays, run ${program} ipam check, see that nothing uses the address, then ${program} ipam release --ip ADDRESS.`;
  }
}

export function adviceFor(faults: readonly Wrong[], profile: Profile): readonly string[] {
  return [...new Set(faults.map(({ kind }) => advice(kind, profile)))];
}

/** By `kubectl get`: the objects that the first of them is about. */
export function shown([first]: readonly Wrong[], { ipam, crdGroup, cli }: Profile) {
  if (!first || !ipam) return command`kubectl get nodes`;
  if (first.kind === 'twice-claimed' || first.kind === 'half-released')
    return command`kubectl get ${ipam.affinities.plural}.${crdGroup} -o custom-columns=NAME:.metadata.name,CIDR:.spec.cidr,NODE:.spec.node,STATE:.spec.state`;
  if (first.kind === 'without-pool') return command`kubectl get ippools.${crdGroup} -o wide`;
  if (first.kind === 'tunnel') return command`kubectl get node ${first.nodes[0] ?? ''} -o yaml`;
  return command`${cli.program} ipam check --show-problem-ips`;
}

const COUNTED: Readonly<Record<Wrong['kind'], string>> = {
  unbooked: 'pod with an address that no block has',
  'without-pool': 'block in no pool',
  'half-released': 'claim or release of a block that was never ended',
  'twice-claimed': 'block with two affinities',
  tunnel: 'tunnel address without an allocation',
  'left-over': 'allocation whose pod or node is gone',
};
const MANY: Readonly<Record<Wrong['kind'], string>> = {
  unbooked: 'pods with addresses that no block has',
  'without-pool': 'blocks in no pool',
  'half-released': 'claims or releases of blocks that were never ended',
  'twice-claimed': 'blocks with two affinities',
  tunnel: 'tunnel addresses without an allocation',
  'left-over': 'allocations whose pod or node is gone',
};

/** `1 block with two affinities, 3 allocations whose pod or node is gone`. */
export function countedFaults(faults: readonly Wrong[]): string {
  const kinds = [...new Set(faults.map(({ kind }) => kind))];
  return kinds.map((kind) => counted(faults.filter((one) => one.kind === kind).length, COUNTED[kind], MANY[kind])).join(', ');
}

interface IpamJudged {
  /** Undefined where the service gives no addresses, or keeps them elsewhere. */
  readonly ipam: Reading<IpamFacts | undefined>;
}

/** An upgrade repairs none of it, and restarts every agent: each asks for its addresses then. */
export const addressesInOrder: Check<IpamJudged> = {
  id: 'NS-511',
  title: 'address bookkeeping in order',
  category: 'resources',
  severity: 'warning',
  ref: 'domain §12',
  judge({ ipam }, { profile }: Context): Verdict {
    const facts = read(ipam);
    if (!facts) return notApplicable('the API holds no addresses that the service gives');
    if (facts.blocks === 0) return ok('no address is given yet');
    const wrong = [...facts.faults, ...facts.moves];
    return failIfAny(wrong, `${counted(facts.blocks, 'block')}: every address that is in use is given once`, (names) => ({
      because: `${countedFaults(wrong)}: ${names}`,
      hint: adviceFor(wrong, profile),
      next: shown(wrong, profile),
    }));
  },
};
