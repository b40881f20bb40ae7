import { Fault } from '../../kernel/fault.ts';
import { type KubeObject, refOf, refText } from '../../kernel/object.ts';
import { parseSelector } from './parse-selector.ts';
import { type Selector, SelectorError } from './selector.ts';

/** The selector in a field of a stored object: nothing checks it on its way in by kubectl. Throws Fault `failed` naming object, field and column. */
export function storedSelector(object: KubeObject, field: string, text: string): Selector {
  try {
    return parseSelector(text);
  } catch (thrown) {
    if (!(thrown instanceof SelectorError)) throw thrown;
    throw new Fault(
      'failed',
      `${refText(refOf(object))}: spec.${field} is no selector: ${thrown.message}`,
      ['correct the selector, or delete the policy: nobody can tell what it does'],
      thrown,
    );
  }
}
