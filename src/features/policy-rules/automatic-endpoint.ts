import type { AutomaticSigns, HostEndpoint } from './host-endpoint.ts';
import type { Labels } from './selector.ts';

/** What the controllers' configuration says about automatic endpoints. */
export interface AutomaticSettings {
  readonly autoCreate: boolean;
  /** False: only templates make endpoints (since v3.30). */
  readonly createDefault: boolean;
  readonly templates: number;
}

/** Reads `spec.controllers.node.hostEndpoint` of the controllers' configuration; what is not set has the service's default. */
export function automaticSettings(spec: unknown): AutomaticSettings {
  const at = (value: unknown, key: string) =>
    typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
  const settings = ['controllers', 'node', 'hostEndpoint'].reduce<unknown>(at, spec);
  const templates = at(settings, 'templates');
  return {
    autoCreate: isWord(at(settings, 'autoCreate'), 'enabled'),
    createDefault: !isWord(at(settings, 'createDefaultHostEndpoint'), 'disabled'),
    templates: Array.isArray(templates) ? templates.length : 0,
  };
}

/** Old releases take `enabled` for `Enabled`. */
function isWord(value: unknown, word: string): boolean {
  return typeof value === 'string' && value.toLowerCase() === word;
}

export function automaticName(node: string, signs: AutomaticSigns): string {
  return `${node}${signs.autoHepSuffix}`;
}

/** The endpoint that the controllers make for a node with these labels. */
export function automaticEndpoint(node: string, labels: Labels, signs: AutomaticSigns, allowAllProfile: string): HostEndpoint {
  return {
    name: automaticName(node, signs),
    node,
    interfaceName: '*',
    expectedIPs: [],
    profiles: [allowAllProfile],
    ports: [],
    labels: { ...labels, [signs.createdBy]: signs.createdByValue },
  };
}
