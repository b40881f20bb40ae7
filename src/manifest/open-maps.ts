/** Maps whose keys people choose. An entry without text is an entry all the same: `node-role.kubernetes.io/control-plane: ""`. */
const OPEN_MAPS = new Set(['labels', 'annotations', 'matchLabels', 'nodeSelector', 'selector', 'data', 'stringData', 'binaryData']);

const WITHIN = new RegExp(`(^|\\.)(${[...OPEN_MAPS].join('|')})[.[]`);

/** True for the field of this name: what it holds are entries, not fields that Kubernetes knows. */
export const isOpenMap = (name: string | undefined): boolean => name !== undefined && OPEN_MAPS.has(name);

/** True for a path into such a map. */
export const isEntryPath = (path: string): boolean => WITHIN.test(path);
