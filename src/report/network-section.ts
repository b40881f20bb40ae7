import { type ConnectionTrace, gapsOf, gapText, type NetworkTrace, networkText } from '../kernel/connections.ts';
import { counted } from '../kernel/counted.ts';
import { isPerNode, type RolloutTrace } from '../kernel/history.ts';
import type { Bar, Row, Section } from './model.ts';

/** Connections that were kept while agents were replaced: the longest gap of each node, and each connection on the axis of time. */
export function networkSection(network: NetworkTrace | undefined, rollouts: readonly RolloutTrace[]): Section | undefined {
  if (network === undefined) return undefined;
  const { connections, untried, beatMs } = network;
  const turns = turnsOf(rollouts);
  const nodes = gapsOf(network).map(({ node, longestMs, broken }) => {
    const turn = turns.get(node);
    const place = turn === undefined ? '' : ` (upgraded as ${turn} of ${turns.size})`;
    return `${node}${place}: longest gap ${gapText(longestMs)}, ${counted(broken, 'broken connection')}`;
  });
  return {
    ...{ kind: 'table', id: 'network', name: 'Connections', title: 'Connections between pods', items: nodes },
    lead: `${networkText(network)}. An answer comes every ${gapText(beatMs)}: a shorter gap is not seen.`,
    table: {
      ...{ label: 'connections', layout: 'timeline', drawn: 4 },
      head: ['From', 'To', 'Broken', 'Longest gap', 'On the axis of time', 'Why'],
      rows: connections.map((one) => connectionRow(one, network)),
    },
    ...(untried.length === 0 ? {} : { notes: { title: 'Not tried', items: untried } }),
  };
}

function connectionRow(one: ConnectionTrace, network: NetworkTrace): Row {
  const { from, to, outside, broken, breaks, longestMs, at, ended } = one;
  const when = breaks.map((time) => `broke ${time}`);
  return {
    cells: [
      { text: from, ...(outside ? { small: 'from the network of the node' } : {}) },
      { text: to },
      { text: String(broken), tone: broken > 0 ? 's-failed' : 's-done' },
      { text: gapText(longestMs) },
      { bar: barOf(one, network) },
      {
        text: [
          ...when,
          ...(broken === 0 && at !== undefined ? [`longest gap until ${at}`] : []),
          ...(ended ? [`watched until then: ${ended}`] : []),
        ].join('; '),
      },
    ],
  };
}

/** Where on the axis the longest gap is. */
function barOf({ longestMs, at, broken }: ConnectionTrace, { since, until }: NetworkTrace): Bar {
  const [from, to, end] = [since, until, at ?? until].map((text) => Date.parse(text));
  const whole = Math.max(1, (to ?? 0) - (from ?? 0));
  const percent = (ms: number) => Math.round(Math.min(1, Math.max(0, ms / whole)) * 1000) / 10;
  const start = Math.min(99, percent((end ?? 0) - longestMs - (from ?? 0)));
  return { from: start, width: Math.min(Math.max(0.5, percent(longestMs)), 100 - start), tone: broken > 0 ? 'failed' : 'done' };
}

/** Which node's agent was new as which, by what was seen of the rollouts. */
function turnsOf(rollouts: readonly RolloutTrace[]): ReadonlyMap<string, number> {
  const seen = rollouts
    .filter(isPerNode)
    .flatMap(({ startedAt, rows }) =>
      rows.flatMap(({ node, marks }) => {
        const mark = marks.find(({ phase }) => phase === 'new');
        return mark === undefined ? [] : [{ node, at: Date.parse(startedAt) + mark.at * 1000 }];
      }),
    )
    .toSorted((a, b) => a.at - b.at);
  return new Map([...new Set(seen.map(({ node }) => node))].map((node, index) => [node, index + 1]));
}
