import { stringify } from 'yaml';

/**
 * A document as YAML, without anchors and without undefined values. A file of its own that is loaded when needed: the bundler
 * gives a CommonJS package that is imported dynamically no named exports.
 */
export function yamlText(document: object): string {
  return stringify(JSON.parse(JSON.stringify(document)), { lineWidth: 0 });
}
