/** What a hundred of ids is about. The first digit after `NS-` tells the family. */
export const families = {
  0: 'kubernetes and access',
  1: 'installation',
  2: 'apply',
  3: 'wait, verify and CLI',
  4: 'workloads and nodes',
  5: 'resources of the service',
  6: 'target manifest',
  7: 'follow-up procedures',
  8: 'this machine and its tools',
  9: 'advice',
} as const;

export type FamilyDigit = keyof typeof families;

/**
 * Every check id ever given out, with its title. An id is never reused: a check that is withdrawn keeps its line.
 * Each id has a page `docs/checks/<id>.md`.
 */
export const registry = {
  'NS-001': 'API server reachable',
  'NS-002': 'Kubernetes version suits the target release',
  'NS-003': 'kubectl found',
  'NS-004': 'kubectl new enough for server-side apply',
  'NS-005': 'kubectl within one minor of the server',
  'NS-006': 'clocks of this machine and the server agree',
  'NS-007': 'discovery complete',
  'NS-008': 'aggregated APIs available',
  'NS-009': 'permissions that the plan needs',
  'NS-010': 'state namespace exists',
  'NS-011': 'no other run holds the lock',
  'NS-012': 'no unfinished run to another release',
  'NS-013': 'no namespace stuck in Terminating',
  'NS-101': 'installation found',
  'NS-102': 'installation unambiguous',
  'NS-103': 'no half-done migration to the operator',
  'NS-104': 'install path and variant known',
  'NS-105': 'installed release supported as a starting point',
  'NS-106': 'installed release not newer than the target',
  'NS-107': 'one release everywhere',
  'NS-108': 'no native v3 CRDs',
  'NS-109': 'not managed by a platform',
  'NS-110': 'not managed by GitOps',
  'NS-201': 'no edit of yours would be lost',
  'NS-202': 'server accepts every object right before the apply',
  'NS-203': 'install path can be upgraded by this version',
  'NS-205': 'manifest of the installed release known',
  'NS-206': 'target unchanged since the run began',
  'NS-251': 'order of agents and Typha left to the operator',
  'NS-301': 'cluster version reported',
  'NS-302': 'every pod on the target release',
  'NS-303': 'rollout complete',
  'NS-304': 'nothing of the old release left on workloads',
  'NS-305': 'no CRD left behind',
  'NS-306': 'no temporary policy after the upgrade',
  'NS-307': 'owner references name existing objects',
  'NS-308': 'no older CLI to be found first',
  'NS-309': 'checksum of the new CLI published',
  'NS-310': 'operator done',
  'NS-401': 'node agents healthy',
  'NS-402': 'controllers healthy',
  'NS-403': 'Typha healthy',
  'NS-404': 'one replica of the controllers',
  'NS-405': 'order of agents and Typha',
  'NS-406': 'Typha can be replaced on these nodes',
  'NS-407': 'agents update by themselves',
  'NS-408': 'no variable set twice in the cluster',
  'NS-409': 'disruption budgets leave room',
  'NS-421': 'nodes Ready',
  'NS-422': 'no node cordoned',
  'NS-423': 'no node under pressure',
  'NS-424': 'kernels new enough',
  'NS-425': 'processors supported',
  'NS-426': 'no Windows nodes',
  'NS-501': 'stored resources valid for the target',
  'NS-502': 'no resources of removed kinds',
  'NS-503': 'no policy stored under two names',
  'NS-504': 'stored versions of CRDs served by the target',
  'NS-505': 'LoadBalancer addresses stay as they are',
  'NS-506': 'packet filter mode settled',
  'NS-507': 'eBPF data plane',
  'NS-601': 'target manifest readable',
  'NS-602': 'kinds of the target served',
  'NS-603': 'server accepts every object of the target',
  'NS-604': 'selectors equal the target',
  'NS-605': 'no variable set twice in the target',
  'NS-606': 'images can be pulled from their registry',
  'NS-607': 'interface MTU unchanged',
  'NS-621': 'namespace of the API server stays',
  'NS-701': 'no owner references that the upgrade breaks',
  'NS-702': 'application layer policy',
  'NS-703': 'sidecars can mount after the upgrade',
  'NS-704': 'host endpoints of one kind',
  'NS-705': 'no hand-made host endpoint with the controllers’ label',
  'NS-706': 'no temporary policy left',
  'NS-707': 'stored policies keep their names',
  'NS-711': 'no host would be opened',
  'NS-712': 'no host would be policed anew',
  'NS-713': 'no host would get other policies',
  'NS-714': 'agents and controllers ready for automatic host endpoints',
  'NS-715': 'controllers can make host endpoints',
  'NS-716': 'labels of host endpoints can be copied to their nodes',
  'NS-717': 'host endpoints clearly old or automatic',
  'NS-718': 'host endpoints of nodes in the cluster',
  'NS-719': 'no named ports on old host endpoints',
  'NS-720': 'CLI of the target release usable for host endpoints',
  'NS-721': 'no host depends on the temporary policy alone',
  'NS-722': 'other policies decide without the temporary policy',
  'NS-723': 'CLI usable for the temporary policy',
  'NS-731': 'sidecar template for the installed mesh',
  'NS-732': 'edits of the injector carried',
  'NS-733': 'CSI driver runs before meshed pods are restarted',
  'NS-734': 'meshed workloads can be restarted',
  'NS-801': 'work folder usable',
  'NS-802': 'no older CLI on PATH',
  'NS-803': 'no older CLI in the cluster',
  'NS-804': 'chart tool found',
  'NS-901': 'datastore',
  'NS-902': 'kind of installation',
} as const satisfies Readonly<Record<`NS-${number}`, string>>;

export type CheckId = keyof typeof registry;

export function familyOf(id: CheckId): string {
  return families[Number(id.charAt(3)) as FamilyDigit];
}

/** The page that explains a check, from the root of the project. */
export function pageOf(id: CheckId): string {
  return `docs/checks/${id}.md`;
}

export function isCheckId(text: string): text is CheckId {
  return Object.hasOwn(registry, text);
}
