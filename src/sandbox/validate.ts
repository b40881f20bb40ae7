import { isRecord, sameValue } from '../kernel/json.ts';
import type { Kind, KubeObject } from '../kernel/object.ts';
import { ApiFailure } from '../kernel/ports.ts';

interface Cause {
  readonly field: string;
  readonly message: string;
  readonly reason: string;
}

/** The rules of the real server that upgrades run into: fixed selectors, and variables with two sources. Throws 422. */
export function validate(kind: Kind, before: KubeObject | undefined, after: KubeObject): void {
  const causes = [...fixedSelector(kind, before, after), ...doubleSources(after)];
  if (causes.length === 0) return;
  const list = causes.map(({ field, message }) => `${field}: ${message}`).join(', ');
  throw new ApiFailure(
    422,
    'Invalid',
    `${kind.kind}${kind.group ? `.${kind.group}` : ''} "${after.metadata.name}" is invalid: ${list}`,
    causes,
  );
}

function fixedSelector(kind: Kind, before: KubeObject | undefined, after: KubeObject): readonly Cause[] {
  if (kind.group !== 'apps' || !before || sameValue(selectorOf(before), selectorOf(after))) return [];
  return [{ field: 'spec.selector', message: 'Invalid value: field is immutable', reason: 'FieldValueInvalid' }];
}

function selectorOf({ spec }: KubeObject): unknown {
  return isRecord(spec) ? spec.selector : undefined;
}

function doubleSources(object: KubeObject): readonly Cause[] {
  const pod =
    isRecord(object.spec) && isRecord(object.spec.template) && isRecord(object.spec.template.spec) ? object.spec.template.spec : {};
  return ['initContainers', 'containers'].flatMap((list) => {
    const containers: readonly unknown[] = Array.isArray(pod[list]) ? pod[list] : [];
    return containers.flatMap((container, index) => {
      const variables: readonly unknown[] = isRecord(container) && Array.isArray(container.env) ? container.env : [];
      return variables.flatMap((variable, place) => {
        if (!isRecord(variable) || !variable.value || variable.valueFrom === undefined) return [];
        const field = `spec.template.spec.${list}[${index}].env[${place}].valueFrom`;
        return [{ field, message: 'Invalid value: "": may not be specified when `value` is not empty', reason: 'FieldValueInvalid' }];
      });
    });
  });
}
