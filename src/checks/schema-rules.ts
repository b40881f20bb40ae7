import { isJsonMap } from '../core/json-map.ts';
import { valueAt } from './resources.ts';

type Rule = (self: Readonly<Record<string, unknown>>) => boolean;

const has = (self: unknown, field: string): boolean => valueAt(self, field) !== undefined && valueAt(self, field) !== null;
/** There and not empty. */
const filled = (self: unknown, field: string): boolean => {
  const value = valueAt(self, field);
  return (typeof value === 'string' || Array.isArray(value)) && value.length > 0;
};
const list = (self: unknown, field: string): readonly unknown[] => {
  const value = valueAt(self, field);
  return Array.isArray(value) ? value : [];
};
const neverOrEmpty = (self: unknown, field: string): boolean => !filled(self, field) || valueAt(self, field) === 'Never';
const on = (self: unknown, field: string): boolean => valueAt(self, field) === true;
const meshOn: Rule = (self) => !has(self, 'nodeToNodeMeshEnabled') || on(self, 'nodeToNodeMeshEnabled');
const tierAction =
  (name: string, action: string): Rule =>
  (self) =>
    valueAt(self, 'metadata', 'name') !== name || valueAt(self, 'spec', 'defaultAction') === action;

/**
 * The validation rules of the service's CRDs that can be judged without the server, by their exact text (white space apart).
 * A rule of another text is left to the server: it is not in this table, and is never guessed at.
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
  "self.metadata.name == 'kube-admin' ? self.spec.defaultAction == 'Pass' : true": tierAction('kube-admin', 'Pass'),
  "self.metadata.name == 'kube-baseline' ? self.spec.defaultAction == 'Pass' : true": tierAction('kube-baseline', 'Pass'),
  "self.metadata.name == 'default' ? self.spec.defaultAction == 'Deny' : true": tierAction('default', 'Deny'),
};

/** True or false if the rule is known here, undefined if only the server can judge it. */
export function holdsRule(text: string, self: unknown): boolean | undefined {
  const key = text.trim().replace(/\s+/g, ' ');
  const rule = Object.hasOwn(rules, key) ? rules[key] : undefined;
  return rule && isJsonMap(self) ? rule(self) : undefined;
}
