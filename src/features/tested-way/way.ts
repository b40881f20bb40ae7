import type { Profile, TestedLine } from '../../kernel/profile.ts';
import { crosses, isOlder, lineOf, parseRelease } from '../../kernel/release.ts';
import { isTested, testedLine, testedText } from './lines.ts';

/** Where a cluster stands: a release of the service, and the minor of Kubernetes, such as 31. */
export interface Stand {
  readonly release: string;
  readonly minor: number;
}

/** One upgrade of the service or of Kubernetes. */
export type WayStep = {
  readonly what: 'service' | 'Kubernetes';
  readonly from: Stand;
  readonly to: Stand;
  /** The line of the service that was tested with that Kubernetes. */
  readonly tested: TestedLine;
};

/** The steps of the shortest way, or why there is none. `isStartTested`: the first state is one that upstream tested, too. */
export type Way = { readonly isStartTested: boolean; readonly start: TestedLine } & (
  | { readonly steps: readonly WayStep[] }
  | { readonly because: string }
);

/** A state on the way; the release is the newest of its line. */
interface Node {
  readonly line: number;
  readonly minor: number;
  readonly before?: Node;
}

/**
 * The way with the fewest upgrades to `goal` on which upstream tested every state that is entered. The service goes from any line to any
 * newer one, Kubernetes one minor at a time. Undefined for a start or a goal of an unknown line.
 */
export function findWay(profile: Pick<Profile, 'testedLines'>, start: Stand, goal: string): Way | undefined {
  const { testedLines: lines } = profile;
  const [first, last] = [testedLine(profile, start.release), testedLine(profile, goal)];
  if (!first || !last) return undefined;
  const isStartTested = isTested(first, start.minor);
  if (isBack(lines, start, goal))
    return { isStartTested, start: first, because: `${start.release} is newer than ${goal}: no upgrade leads back` };
  const found = search(lines, { line: lines.indexOf(first), minor: start.minor }, lines.indexOf(last));
  if (!found) return { isStartTested, start: first, because: noWay(lines, start, first, last) };
  const steps = [...stepsTo(found, { lines, start, goal }), ...lastStep(start, goal, found, last)];
  return { isStartTested, start: first, steps };
}

/** A line without its patch, such as v3.31, is older than every release of it. */
function isBack(lines: readonly TestedLine[], { release }: Stand, goal: string): boolean {
  const [here = 0, there = 0] = [release, goal].map((one) => lines.findIndex(({ line }) => line === lineOf(one)));
  return here === there ? parseRelease(release) !== undefined && isOlder(goal, release) : here > there;
}

/** Breadth first: of ways of one length that with the earlier and longer step of the service. */
function search(lines: readonly TestedLine[], start: Node, goal: number): Node | undefined {
  const seen = new Set<string>();
  let front: readonly Node[] = [start];
  while (front.length > 0) {
    const arrived = front.find((node) => node.line === goal && isTestedAt(lines, node));
    if (arrived) return arrived;
    front = front.flatMap((node) => nextOf(lines, node, goal)).filter((node) => isNew(seen, node));
  }
  return undefined;
}

function nextOf(lines: readonly TestedLine[], node: Node, goal: number): readonly Node[] {
  const newer = lines
    .map((_, line) => line)
    .filter((line) => line > node.line && line <= goal)
    .toReversed();
  const all: readonly Node[] = [
    ...newer.map((line) => ({ line, minor: node.minor, before: node })),
    { line: node.line, minor: node.minor + 1, before: node },
  ];
  return all.filter((one) => isTestedAt(lines, one));
}

function isTestedAt(lines: readonly TestedLine[], { line, minor }: Node): boolean {
  const found = lines[line];
  return found !== undefined && isTested(found, minor);
}

function isNew(seen: Set<string>, { line, minor }: Node): boolean {
  const key = `${line}/${minor}`;
  const is = !seen.has(key);
  seen.add(key);
  return is;
}

interface Ends {
  readonly lines: readonly TestedLine[];
  readonly start: Stand;
  readonly goal: string;
}

function stepsTo(node: Node, ends: Ends): readonly WayStep[] {
  const tested = ends.lines[node.line];
  if (!node.before || !tested) return [];
  const [from, to] = [standOf(node.before, ends), standOf(node, ends)];
  const what = node.before.line === node.line ? 'Kubernetes' : 'service';
  return [...stepsTo(node.before, ends), { what, from, to, tested }];
}

/** The service has the release that it began with, then the newest of each line, and at last the goal. */
function standOf({ line, minor }: Node, { lines, start, goal }: Ends): Stand {
  const found = lines[line]?.line;
  if (found === lineOf(start.release)) return { release: start.release, minor };
  return { release: found === lineOf(goal) ? goal : (lines[line]?.newest ?? goal), minor };
}

/** Within the line of the goal its newest release is one more step. */
function lastStep(start: Stand, goal: string, node: Node, tested: TestedLine): readonly WayStep[] {
  const here = { release: start.release, minor: node.minor };
  const isThere = lineOf(start.release) !== lineOf(goal) || !crosses(start.release, goal, goal);
  return isThere ? [] : [{ what: 'service', from: here, to: { ...here, release: goal }, tested }];
}

function noWay(lines: readonly TestedLine[], { minor }: Stand, start: TestedLine, goal: TestedLine): string {
  const here = lines.filter((one) => isTested(one, minor)).map(({ line }) => line);
  const others = here.length === 0 ? 'no release' : here.join(', ');
  const of = (one: TestedLine) => `${one.line} with Kubernetes ${testedText(one)}`;
  return `no single upgrade leads from here to a state that upstream tested: with Kubernetes 1.${minor} it tested ${others}; it tested ${of(start)}, and ${of(goal)}`;
}

/** `Kubernetes 1.28 → 1.29`, `service v3.27.5 → v3.29.7`. */
export function stepText({ what, from, to }: WayStep): string {
  return what === 'service' ? `service ${from.release} → ${to.release}` : `Kubernetes 1.${from.minor} → 1.${to.minor}`;
}
