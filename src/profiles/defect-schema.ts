import { fields, flag, listOf, oneOfTypes, ref, release, type Schema, text, texts } from './schema-fields.ts';

const someTexts: Schema = { ...texts, minItems: 1 };
const version: Schema = { type: 'string', pattern: '^\\d+(\\.\\d+)*$', description: 'A version without a leading v: 5.15' };
const test = { 'oneOf?': someTexts, 'noneOf?': someTexts, 'absent?': flag };

/** The parts of a profile that describe defects of releases. */
export const defectDefinitions: Readonly<Record<string, Schema>> = {
  releaseRange: fields({ from: release, 'before?': release }, '`before` is the first release that is no longer of it.'),
  defectCondition: oneOfTypes(
    fields({ type: { const: 'resource' }, plurals: someTexts, fields: someTexts, ...test }),
    fields({ type: { const: 'setting' }, name: text, ...test }),
    fields({
      type: { const: 'node' },
      field: { enum: ['osImage', 'kernelVersion', 'containerRuntimeVersion'] },
      'startsWith?': someTexts,
      'from?': version,
      'before?': version,
    }),
    fields({ type: { const: 'packetFilter' }, oneOf: { ...listOf({ enum: ['iptables', 'nftables'] }), minItems: 1 } }),
    fields({ type: { const: 'hostProgram' }, images: someTexts }),
    fields({ type: { const: 'crd' }, name: text }),
    fields({ type: { const: 'nodeInPool' } }),
    fields({ type: { const: 'path' }, oneOf: { ...listOf({ enum: ['chart', 'operator', 'manifest', 'kvstore'] }), minItems: 1 } }),
    fields({ type: { const: 'upgradeFrom' }, releases: ref('releaseRange') }),
  ),
  defect: fields({
    id: text,
    of: { enum: ['source', 'target', 'agent'] },
    releases: ref('releaseRange'),
    when: listOf(ref('defectCondition')),
    severity: { enum: ['error', 'warning'] },
    symptom: text,
    happens: text,
    'fixedIn?': release,
    'advice?': text,
    sources: someTexts,
  }),
};
