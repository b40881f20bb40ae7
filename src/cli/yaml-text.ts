import { Document, isScalar, visit } from 'yaml';
import { isVisible } from '../kernel/visible.ts';

/** A document as YAML, without anchors or undefined values. Its own file: dynamically imported CommonJS has no named exports. */
export function yamlText(document: object): string {
  const made = new Document(JSON.parse(JSON.stringify(document)));
  let hasUnseen = false;
  visit(made, {
    Scalar: (_, node) => {
      if (!isScalar(node) || typeof node.value !== 'string' || isVisible(node.value)) return;
      node.type = 'QUOTE_DOUBLE';
      hasUnseen = true;
    },
  });
  const text = made.toString({ lineWidth: 0 });
  return hasUnseen ? escapedYaml(text) : text;
}

/** YAML's own escapes, which keep the value: only texts in double quotes have anything to escape here. */
function escapedYaml(text: string): string {
  return [...text].map((one) => (one === '\n' || isVisible(one) ? one : escapeOf(one))).join('');
}

function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}
