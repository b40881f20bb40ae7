import type { Evidence } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { type KubeObject, refOf, refText } from '../../kernel/object.ts';
import { type ChangedPlace, standing } from '../../kernel/object-change.ts';
import { hostEndpointOf, isAllInterfaces, isCopied, originOf } from '../policy-rules/index.ts';
import type { HepFacts } from './facts.ts';
import { type AddedLabel, type KeptEndpoint, keptEndpoints, keptLabels, keptSwitch, wasOff } from './kept.ts';

/** Old endpoints that were kept before their turn came, and are not there. */
export function gone({ stored, kept }: Pick<HepFacts, 'stored' | 'kept'>): readonly KeptEndpoint[] {
  const there = new Set(stored.map(({ metadata }) => metadata.name));
  return [...keptEndpoints(kept).values()].filter(({ endpoint }) => !there.has(endpoint.metadata.name));
}

/** What somebody else removed stays removed; if nobody knows who did, it is created, so nothing of the user's is lost. */
export const isOurs = ({ remover }: KeptEndpoint): boolean => remover !== 'other';

/** Of what is gone, what the undo creates again, and `why` it does not. */
function lostEndpoints(facts: Pick<HepFacts, 'stored' | 'kept' | 'hosts'>, context: Context) {
  const nodes = new Set(facts.hosts);
  const lost = gone(facts).filter(isOurs);
  return lost.map((one) => ({ ...one, why: whyEndpointStaysAway(one.endpoint, nodes, context) }));
}

export function toRecreate(facts: Pick<HepFacts, 'stored' | 'kept' | 'hosts'>, context: Context): readonly KeptEndpoint[] {
  return lostEndpoints(facts, context).filter(({ why }) => why === undefined);
}

/** The switch of automatic endpoints, if the migration switched them on and they still are. */
export function formerSwitch({ settings, kept }: Pick<HepFacts, 'settings' | 'kept'>, { profile }: Context): ChangedPlace | undefined {
  const found = keptSwitch(kept);
  const isOn = settings.autoCreate && wasOff(found?.before) && found?.ref.name === profile.controllersConfiguration.name;
  return isOn ? found : undefined;
}

/** A label of the record that is on its node as it was given. */
type GivenLabel = ReturnType<typeof givenLabels>[number];

/** `why`: the undo leaves it there. */
function givenLabels({ nodes, kept }: Pick<HepFacts, 'nodes' | 'kept'>, context: Context) {
  const byUid = new Map(nodes.map((node) => [node.metadata.uid, node]));
  return keptLabels(kept).flatMap((label) => {
    const node = byUid.get(label.uid);
    return node && standing(label.place, node) === 'ours' ? [{ ...label, node, why: whyLabelStays(label, node, context) }] : [];
  });
}

/** Labels that the migration put on nodes and that are there as it did: the server still says that they are from this program. */
export function stillThere(facts: Pick<HepFacts, 'nodes' | 'kept'>, context: Context): readonly GivenLabel[] {
  return givenLabels(facts, context).filter(({ why }) => why === undefined);
}

const labelText = ({ node, key }: GivenLabel): string => `${refText(refOf(node))} ${key}`;
const endpointName = ({ endpoint }: KeptEndpoint): string => `HostEndpoint/${endpoint.metadata.name}`;

/** What the record asks for and the undo does not do: not made by the migration, or somebody else's by now. */
export function refusedBack(facts: HepFacts, context: Context): readonly Evidence[] {
  const endpoints = lostEndpoints(facts, context).map((one) => ({ text: endpointName(one), why: one.why }));
  const labels = givenLabels(facts, context).map((one) => ({ text: labelText(one), why: one.why }));
  return [...endpoints, ...labels].flatMap(({ text, why: detail }) => (detail === undefined ? [] : [{ text, detail }]));
}

/** `node node-01, addresses 10.0.0.1, profiles none, labels role=host`: the user agrees to each, for the record could be another's work. */
export function endpointText(endpoint: KubeObject, { profile }: Context): string {
  const { node, expectedIPs, profiles, labels } = hostEndpointOf(endpoint, profile.apiGroup);
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  const list = (texts: readonly string[]) => texts.join(', ') || 'none';
  return `node ${node}, addresses ${list(expectedIPs)}, profiles ${list(profiles)}, labels ${list(pairs)}`;
}

/** By which all patches of this program write. */
const PATCHER = 'kubectl';

/**
 * Why the undo keeps a label on a node; undefined where it removes it. The record is no proof, as whoever can write it could have any label
 * removed: the server's note of who wrote the label last is.
 */
function whyLabelStays({ key }: AddedLabel, node: KubeObject, { profile }: Context): string | undefined {
  if (!isCopied(key, profile.labels)) return 'the migration copies no such label';
  return ownedLabels(node).has(key) ? undefined : 'somebody else has written it since, or always had';
}

/** Keys of the labels that patches of this program wrote, and nobody changed after them. */
function ownedLabels({ metadata: { managedFields = [] } }: KubeObject): ReadonlySet<string> {
  const own = managedFields.filter(({ manager, operation, subresource }) => manager === PATCHER && operation === 'Update' && !subresource);
  const labels = own.flatMap(({ fieldsV1 }) => Object.keys(fieldsV1?.['f:metadata']?.['f:labels'] ?? {}));
  return new Set(labels.filter((one) => one.startsWith('f:')).map((one) => one.slice(2)));
}

const NAME = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;

/** Why an endpoint is not created again: the migration deletes nothing of the kind. `nodes`: as endpoints name them. */
function whyEndpointStaysAway(endpoint: KubeObject, nodes: ReadonlySet<string>, { profile }: Context): string | undefined {
  const read = hostEndpointOf(endpoint, profile.apiGroup);
  if (!NAME.test(read.name)) return 'it has no name that an endpoint can have';
  if (!isAllInterfaces(read)) return 'it is not of all interfaces';
  if (originOf(read, profile.labels) !== 'old') return 'it looks like one of the controllers’ own';
  return nodes.has(read.node) ? undefined : `there is no node ${read.node}`;
}
