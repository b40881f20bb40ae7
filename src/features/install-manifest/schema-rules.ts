import { isCidr, isIPv4, isIPv6, isMappedIPv4 } from '../../kernel/ip-text.ts';
import { isRecord, jsonAt } from '../../kernel/json.ts';
import { withinTime } from '../../manifest/within-time.ts';

type Rule = (self: Readonly<Record<string, unknown>>) => boolean;

const has = (self: unknown, field: string): boolean => jsonAt(self, field) !== undefined && jsonAt(self, field) !== null;
/** There and not empty. */
const filled = (self: unknown, field: string): boolean => {
  const value = jsonAt(self, field);
  return (typeof value === 'string' || Array.isArray(value)) && value.length > 0;
};
const list = (self: unknown, field: string): readonly unknown[] => {
  const value = jsonAt(self, field);
  return Array.isArray(value) ? value : [];
};
const neverOrEmpty = (self: unknown, field: string): boolean => !filled(self, field) || jsonAt(self, field) === 'Never';
const on = (self: unknown, field: string): boolean => jsonAt(self, field) === true;
const meshOn: Rule = (self) => !has(self, 'nodeToNodeMeshEnabled') || on(self, 'nodeToNodeMeshEnabled');
const off = (self: unknown, field: string): boolean => !filled(self, field);
const named = (self: unknown, ...names: readonly string[]): boolean => names.includes(String(jsonAt(self, 'metadata', 'name')));
const tierAction =
  (name: string, action: string): Rule =>
  (self) =>
    jsonAt(self, 'metadata', 'name') !== name || jsonAt(self, 'spec', 'defaultAction') === action;

/**
 * The validation rules of the service's CRDs that can be evaluated without the server, by their exact text (except white space). Any other
 * rule is never guessed at: it is reported as not evaluated.
 */
const rules: Readonly<Record<string, Rule>> = {
  '!has(self.nodeMeshPassword) || !has(self.nodeToNodeMeshEnabled) || self.nodeToNodeMeshEnabled == true': (self) =>
    !has(self, 'nodeMeshPassword') || meshOn(self),
  '!has(self.nodeMeshMaxRestartTime) || !has(self.nodeToNodeMeshEnabled) || self.nodeToNodeMeshEnabled == true': (self) =>
    !has(self, 'nodeMeshMaxRestartTime') || meshOn(self),
  '(!has(self.node) || size(self.node) == 0) || (!has(self.nodeSelector) || size(self.nodeSelector) == 0)': (self) =>
    !(filled(self, 'node') && filled(self, 'nodeSelector')),
  '(!has(self.peerIP) || size(self.peerIP) == 0) || (!has(self.peerSelector) || size(self.peerSelector) == 0)': (self) =>
    !(filled(self, 'peerIP') && filled(self, 'peerSelector')),
  '(!has(self.peerSelector) || size(self.peerSelector) == 0) || !has(self.asNumber) || self.asNumber == 0': (self) =>
    !filled(self, 'peerSelector') || !has(self, 'asNumber') || self.asNumber === 0,
  '!has(self.routeTableRange) || !has(self.routeTableRanges)': (self) => !(has(self, 'routeTableRange') && has(self, 'routeTableRanges')),
  '!((has(self.doNotTrack) && self.doNotTrack) && (has(self.preDNAT) && self.preDNAT))': (self) =>
    !(on(self, 'doNotTrack') && on(self, 'preDNAT')),
  '(!has(self.preDNAT) || !self.preDNAT) || !has(self.egress) || size(self.egress) == 0': (self) =>
    !on(self, 'preDNAT') || !filled(self, 'egress'),
  "(!has(self.preDNAT) || !self.preDNAT) || !has(self.types) || !self.types.exists(t, t == 'Egress')": (self) =>
    !on(self, 'preDNAT') || !list(self, 'types').includes('Egress'),
  '(has(self.applyOnForward) && self.applyOnForward) || ((!has(self.doNotTrack) || !self.doNotTrack) && (!has(self.preDNAT) || !self.preDNAT))':
    (self) => on(self, 'applyOnForward') || !(on(self, 'doNotTrack') || on(self, 'preDNAT')),
  "!has(self.http) || !has(self.protocol) || self.protocol == 'TCP' || self.protocol == 6": (self) =>
    !has(self, 'http') || !has(self, 'protocol') || self.protocol === 'TCP' || self.protocol === 6,
  "self.action == 'Allow' || !has(self.http)": (self) => self.action === 'Allow' || !has(self, 'http'),
  '!has(self.code) || has(self.type)': (self) => !has(self, 'code') || has(self, 'type'),
  '(has(self.interfaceName) && size(self.interfaceName) > 0) || (has(self.expectedIPs) && size(self.expectedIPs) > 0)': (self) =>
    filled(self, 'interfaceName') || filled(self, 'expectedIPs'),
  'has(self.node) && size(self.node) > 0': (self) => filled(self, 'node'),
  "!has(self.ipipMode) || !has(self.vxlanMode) || self.ipipMode == 'Never' || self.vxlanMode == 'Never' || size(self.ipipMode) == 0 || size(self.vxlanMode) == 0":
    (self) => neverOrEmpty(self, 'ipipMode') || neverOrEmpty(self, 'vxlanMode'),
  "!has(self.allowedUses) || !self.allowedUses.exists(u, u == 'LoadBalancer') || !self.allowedUses.exists(u, u == 'Workload' || u == 'Tunnel')":
    (self) =>
      !list(self, 'allowedUses').includes('LoadBalancer') ||
      !list(self, 'allowedUses').some((use) => use === 'Workload' || use === 'Tunnel'),
  "!self.cidr.contains(':') || !has(self.ipipMode) || self.ipipMode == 'Never' || size(self.ipipMode) == 0": (self) =>
    !String(self.cidr ?? '').includes(':') || neverOrEmpty(self, 'ipipMode'),
  '(has(self.cidr) && size(self.cidr) > 0) == (has(self.matchOperator) && size(self.matchOperator) > 0)': (self) =>
    filled(self, 'cidr') === filled(self, 'matchOperator'),
  '!has(self.prefixLength) || (has(self.cidr) && size(self.cidr) > 0)': (self) => !has(self, 'prefixLength') || filled(self, 'cidr'),
  "!has(self.operations) || size(self.operations) == 0 || self.action == 'Accept'": (self) =>
    off(self, 'operations') || self.action === 'Accept',
  '(!has(self.localWorkloadSelector) || size(self.localWorkloadSelector) == 0) || (!has(self.peerIP) || size(self.peerIP) == 0)': (self) =>
    off(self, 'localWorkloadSelector') || off(self, 'peerIP'),
  '(!has(self.localWorkloadSelector) || size(self.localWorkloadSelector) == 0) || (!has(self.peerSelector) || size(self.peerSelector) == 0)':
    (self) => off(self, 'localWorkloadSelector') || off(self, 'peerSelector'),
  '(!has(self.localWorkloadSelector) || size(self.localWorkloadSelector) == 0) || (has(self.asNumber) && self.asNumber != 0)': (self) =>
    off(self, 'localWorkloadSelector') || (has(self, 'asNumber') && self.asNumber !== 0),
  "self.metadata.name == 'default' || self.metadata.name.startsWith('node.') ? !has(self.spec.nodeSelector) : true": (self) =>
    !(named(self, 'default') || String(jsonAt(self, 'metadata', 'name')).startsWith('node.')) || !has(self.spec, 'nodeSelector'),
  '!has(self.destination) || !has(self.destination.services) || (!has(self.destination.ports) || size(self.destination.ports) == 0) && (!has(self.destination.notPorts) || size(self.destination.notPorts) == 0)':
    ({ destination }) => !has(destination, 'services') || (off(destination, 'ports') && off(destination, 'notPorts')),
  "!has(self.allowedUses) || !self.allowedUses.exists(u, u == 'LoadBalancer') || (!has(self.ipipMode) || size(self.ipipMode) == 0 || self.ipipMode == 'Never') && (!has(self.vxlanMode) || size(self.vxlanMode) == 0 || self.vxlanMode == 'Never')":
    (self) => !list(self, 'allowedUses').includes('LoadBalancer') || (neverOrEmpty(self, 'ipipMode') && neverOrEmpty(self, 'vxlanMode')),
  // Of ports; a schema asks for both.
  'self.start < self.end': ({ start, end }) => typeof start !== 'number' || typeof end !== 'number' || start < end,
  '!(self.to.exists(peer, has(peer.networks) || has(peer.nodes)) && has(self.ports) && self.ports.exists(port, has(port.namedPort)))': (
    self,
  ) =>
    !list(self, 'to').some((peer) => has(peer, 'networks') || has(peer, 'nodes')) ||
    !list(self, 'ports').some((port) => has(port, 'namedPort')),
  "self.metadata.name == 'default'": (self) => named(self, 'default'),
  "self.metadata.name == 'default' || self.metadata.name == 'tigera-secure'": (self) => named(self, 'default', 'tigera-secure'),
  "self.metadata.name == 'default' || self.metadata.name == 'tigera-secure' || self.metadata.name == 'overlay'": (self) =>
    named(self, 'default', 'tigera-secure', 'overlay'),
  "self.metadata.name == 'kube-admin' ? self.spec.defaultAction == 'Pass' : true": tierAction('kube-admin', 'Pass'),
  "self.metadata.name == 'kube-baseline' ? self.spec.defaultAction == 'Pass' : true": tierAction('kube-baseline', 'Pass'),
  "self.metadata.name == 'default' ? self.spec.defaultAction == 'Deny' : true": tierAction('default', 'Deny'),
};

/** Rules of any value. */
const valueRules: Readonly<Record<string, (self: unknown) => boolean>> = {
  // What is evaluated is a write that leaves the value as it is.
  'self == oldSelf': () => true,
  'isCIDR(self)': (self) => typeof self === 'string' && isCidr(self) && !isMappedIPv4(self.slice(0, self.indexOf('/'))),
  "self.contains(':') != self.contains('.')": (self) => typeof self === 'string' && self.includes(':') !== self.includes('.'),
};

/** True or false if the rule is known here, undefined if only the server can evaluate it. */
export function holdsRule(text: string, self: unknown): boolean | undefined {
  const key = text.trim().replace(/\s+/g, ' ');
  if (Object.hasOwn(valueRules, key)) return valueRules[key]?.(self);
  const rule = Object.hasOwn(rules, key) ? rules[key] : undefined;
  return rule && isRecord(self) ? rule(self) : undefined;
}

/** Milliseconds of a full date, so that 30 February is none. */
function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

const TIME = /^(\d{2}):(\d{2}):(\d{2})(.\d+)?(z|[+-]\d{2}:\d{2})$/;

/** As `strfmt.IsDateTime` of kube-openapi. */
function isDateTime(text: string): boolean {
  const [date = '', rest = ''] = text.toLowerCase().split('t');
  const [, hour = '', minute = '', second = ''] = TIME.exec(rest) ?? [];
  return hour !== '' && isDate(date) && hour <= '23' && minute <= '59' && second <= '59';
}

/** The formats of strings that API servers enforce in CRDs (apiextensions-apiserver, formats.go), as they read them. */
const known: Readonly<Record<string, (text: string) => boolean>> = {
  cidr: (text) => isCidr(text, 'sloppy'),
  ipv4: (text) => isIPv4(text, 'sloppy'),
  ipv6: (text) => isIPv6(text, 'sloppy'),
  date: isDate,
  datetime: isDateTime,
  byte: (text) => /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/.test(text),
  password: () => true,
};

/** Those that are enforced and not evaluated here. Any other format is ignored by API servers. */
const others: ReadonlySet<string> = new Set(
  ['bsonobjectid', 'uri', 'email', 'hostname', 'mac', 'uuid', 'uuid3', 'uuid4', 'uuid5', 'isbn', 'isbn10', 'isbn13', 'creditcard', 'ssn']
    .concat(['hexcolor', 'rgbcolor', 'duration', 'k8s-short-name', 'k8s-long-name'])
    .map(normal),
);

/** True or false as the server would say, undefined if only the server can evaluate it. */
export function holdsFormat(format: string, text: string): boolean | undefined {
  const name = normal(format);
  if (others.has(name)) return undefined;
  return !Object.hasOwn(known, name) || known[name]?.(text) === true;
}

/** `date-time` is `datetime`, as go-openapi has it. */
function normal(format: string): string {
  return format.replaceAll('-', '');
}

/** What Go reads otherwise than JavaScript, which takes some of it without a word. */
const GO_ONLY = /\[\[:|\\[AzQECpP]|\(\?P|\(\?[imsU-]*[:)]/;

/** Patterns come from a manifest and values from tenants, and nothing else happens while one is evaluated. */
const PATTERN_MS = 250;
/** After as many that took longer, no other one is evaluated that may. */
const MOST_SLOW = 8;
const FEW_STEPS = 10_000;

type Matches = (value: string, pattern: string) => boolean | undefined;

/** True or false as the server would say, undefined if only the server can evaluate it. */
export const matchesPattern: Matches = patternMatcher();

export function patternMatcher(): Matches {
  const slow = new Set<string>();
  const withLimit = (pattern: RegExp, value: string) => {
    if (slow.has(pattern.source) || slow.size >= MOST_SLOW) return undefined;
    const matches = withinTime(PATTERN_MS, () => pattern.test(value));
    if (matches === undefined) slow.add(pattern.source);
    return matches;
  };
  return (value, source) => {
    const pattern = inJavaScript(source);
    // A limit takes longer to set up than most patterns take.
    if (pattern && mostSteps(pattern, value.length) <= FEW_STEPS) return pattern.test(value);
    return pattern && withLimit(pattern, value);
  };
}

function inJavaScript(source: string): RegExp | undefined {
  // The one flag in use, at the beginning.
  const insensitive = /^\^?\(\?i\)/.test(source);
  const plain = insensitive ? source.replace('(?i)', '') : source;
  if (GO_ONLY.test(plain.replaceAll('(?:', '('))) return undefined;
  try {
    return new RegExp(plain, insensitive ? 'i' : '');
  } catch {
    return undefined;
  }
}

/** Each repetition may end at every character; one of a group, each time around again. */
function mostSteps({ source }: RegExp, length: number): number {
  if (/\)[*+{]/.test(source)) return Number.POSITIVE_INFINITY;
  return (length + 1) ** (1 + (source.match(/[*+}]/g)?.length ?? 0));
}
